package edit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/internal/cputime"
)

// patch is a patch of some lines.
func patch(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

// update is the input of apply_patch that updates the file a.
func update(lines ...string) object {
	return object{"command": patch(append([]string{"*** Update File: a"}, lines...)...)}
}

// TestPatchTime: looking for lines takes time by the size of the file and the patch,
// not by their product, which would be minutes here.
func TestPatchTime(t *testing.T) {
	lines := slices.Repeat([]string{"-a"}, 200_000)
	input := update(slices.Concat([]string{"@@"}, lines, []string{"-b"})...)
	_, err := after(t, "apply_patch", input, strings.Repeat("a\n", 1_000_000))
	if err == nil || !strings.Contains(err.Error(), "are not in the file") {
		t.Error(err)
	}
}

// TestPatchParts: a patch with many parts for a large file is an error, before it takes minutes.
func TestPatchParts(t *testing.T) {
	lines := slices.Repeat([]string{"@@", "-a"}, 1000)
	_, err := after(t, "apply_patch", update(lines...), strings.Repeat("a\n", 1_000_000))
	if err == nil || !strings.Contains(err.Error(), "too many parts") {
		t.Error(err)
	}
}

// TestLongPatch: the time to read a file that is added grows with its length, not with its square.
func TestLongPatch(t *testing.T) {
	text := "*** Begin Patch\n*** Add File: a\n" + strings.Repeat("+a\n", 200_000) + "*** End Patch"
	took := cputime.Of(func() {
		made, err := after(t, "apply_patch", object{"command": text}, "")
		if err != nil || len(made) != 1 || len(made[0]) != 400_000 {
			t.Error(len(made), err)
		}
	})
	if took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestTwoCommands: of two fields that may be the command, neither hides a patch.
func TestTwoCommands(t *testing.T) {
	hidden := "apply_patch <<'EOF'\n" + patch("*** Add File: a", "+x") + "EOF\n"
	for _, fields := range [][2]string{{"ls", hidden}, {hidden, "ls"}} {
		edits, err := of(t, "exec_command", object{"command": fields[0], "cmd": fields[1]})
		if err == nil && len(edits) == 0 {
			t.Errorf("%q: no edit is seen", fields)
		}
	}
}
