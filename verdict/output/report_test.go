package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// none tracks nothing.
func none(string) (bool, error) { return false, nil }

// TestReplaceable: a report replaces one of its format, and no other file.
func TestReplaceable(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report")
	for _, f := range report.Formats() {
		r := Report{Format: f, file: name}
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := r.replaceable(none); err != nil {
			t.Errorf("%s: where nothing is: %v", f.Name, err)
		}
		for text, may := range map[string]bool{"": true, "mine\n": false} {
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := r.replaceable(none); (err == nil) != may || err != nil &&
				!strings.Contains(err.Error(), f.Name+" would overwrite") {
				t.Errorf("%s in place of %q: %v", f.Name, text, err)
			}
		}
		for range 2 { // the second time over its own
			if err := r.Write(passing(t), nil); err != nil {
				t.Error(err)
			}
			if err := r.replaceable(none); err != nil {
				t.Error(err)
			}
		}
		for _, tracks := range []Tracks{
			func(string) (bool, error) { return true, nil },
			func(string) (bool, error) { return false, errors.New("torn") },
		} {
			if err := r.replaceable(tracks); err == nil {
				t.Errorf("%s: a file that git tracks, or may track, would be replaced", f.Name)
			}
		}
	}
}

// TestReplaceableUnread: a file that cannot be read is not replaced.
func TestReplaceableUnread(t *testing.T) {
	const name = "/proc/self/mem" // a regular file that opens, and whose first byte is unreadable
	if st, err := os.Lstat(name); err != nil || !st.Mode().IsRegular() {
		t.Skip("SKIPPED: there is no " + name)
	}
	for _, f := range report.Formats() {
		r := Report{Format: f, file: name}
		if err := r.replaceable(none); err == nil || !strings.Contains(err.Error(),
			"cannot be read: input/output error") {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// TestReportsThatCannotBeWritten: an error during the write is an error of the report, with its name.
func TestReportsThatCannotBeWritten(t *testing.T) {
	failing := report.Format{Name: "failing", Write: func(io.Writer,
		*verdict.Verdict) error {
		return errors.New("no words")
	}}
	err := (&Report{Format: failing}).Write(&verdict.Verdict{}, io.Discard)
	if err == nil || err.Error() != "the failing report: no words" {
		t.Error(err)
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	r := Report{Format: report.Named("markdown"), file: full}
	if err := r.Write(passing(t), nil); err == nil || !strings.Contains(err.Error(),
		"the markdown report: "+full+" cannot be written: ") {
		t.Error(err)
	}
	if _, err := Added(report.Named("markdown"), filepath.Join(full, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("added to nothing: %v", err)
	}
	if _, err := os.Stat("/dev/full"); err == nil { // its length cannot be changed
		r, err := Added(report.Named("markdown"), "/dev/full")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Write(passing(t), io.Discard); err == nil || !strings.Contains(err.Error(),
			"the markdown report: ") {
			t.Error(err)
		}
	}
}

// TestCreateSpares: a file of another program is not overwritten; an empty one is.
func TestCreateSpares(t *testing.T) {
	large := `{"a": [{"verdict": ["` + strings.Repeat("x", 1<<20) + `"]}, 1, {}], "b": null, "verdict": "PASS"}`
	for text, spared := range map[string]bool{
		"mine": true, "{}": true, strings.ToUpper(verdict.DocumentHead): true, "": false, verdict.DocumentHead: false,
		verdict.DocumentHead + "2\"": false,
		// Of another program or a user.
		`{"schema_version":"1.0","verdict":"PASS"}`: false, "\ufeff\r\n{\"verdict\": \"PASS\"}": false,
		`{"Verdict": "PASS"`: false, large: false,
		`{"a":1e999,"verdict":"PASS"}`: false, `{"a":"\\","verd\u0069ct"` + "\n" + `:"PASS"}`: false,
		`{"a":"\"","verdict":1}`: false, `{"a": [], "verdict": 1`: false, `{"a":NaN,"verdict":1}`: true,
		`{"verdicts": 1}`: true, `["verdict"]`: true, `"verdict"`: true, `{"a": {"verdict": "PASS"}}`: true,
		`{"a": "verdict"}`: true, `{"a": ]`: true, "{1": true,
		`"verdict": 1`: true, `verdict: {"verdict": 1}`: true, `{"a": "\"verdict\":"}`: true,
		`{"verdict" 1: 2}`: false, `{"verdict`: true, "\ufeff": true,
		`{"` + strings.Repeat("v", 100) + `": 1}`: true, `{"a": "` + strings.Repeat(" ", 60) +
			`", "verdict": 1}`: false,
	} {
		name := filepath.Join(t.TempDir(), "out.json")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if was := text != "" && !spared; IsVerdict(name) != was {
			t.Errorf("%.60q is a verdict? %t", text, !was)
		}
		err := create(name, "1.0", verdict.Scope{})
		now, readErr := os.ReadFile(name)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if spared != (err != nil && strings.Contains(err.Error(), "is not a verdict")) ||
			spared != (string(now) == text) {
			t.Errorf("%.60q: %v; it is now %.30q", text, err, now)
		}
	}
	if IsVerdict(filepath.Join(t.TempDir(), "nothing")) {
		t.Error("a missing file is a verdict")
	}
}

// TestBrokenOldVerdict: a file that is not readable up to the deciding byte may be a verdict.
func TestBrokenOldVerdict(t *testing.T) {
	broken := errors.New("broken")
	for _, text := range []string{"", "{", `{"a`, `{"a": 1`} {
		r := bufio.NewReaderSize(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), 16)
		if named, err := namesVerdict(r); !errors.Is(err, broken) {
			t.Errorf("%q: %v, %v", text, named, err)
		}
	}
	if there, err := lookAt("/proc/self/mem"); runtime.GOOS == "linux" &&
		(err == nil || there != otherFile) { // cannot be read at its beginning
		t.Errorf("%d, %v", there, err)
	}
}

// FuzzNamesVerdict: a document with a verdict by encoding/json has one, and a document without that word has none.
func FuzzNamesVerdict(f *testing.F) {
	for _, seed := range []string{`{"verdict": "PASS"}`,
		"\ufeff{\"a\": [{\"verdict\": 1}, \"\\\"\"], \"Verd\\u0069ct\": {}}",
		`{"a": "verdict", "verdict\\": 1}`, `{"": {"": "}"}, "verdict": []}`, `[{"verdict": 1}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := namesVerdict(bufio.NewReader(bytes.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &members) == nil {
			want := false
			for name := range members {
				want = want || strings.EqualFold(name, "verdict")
			}
			if got != want {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
	})
}
