package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/protocol"
)

// TestReadInTime: to read a call counts, too: most agents make a call whose hook takes too long.
func TestReadInTime(t *testing.T) {
	var many strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&many, `,"%d":[{}]`, i)
	}
	text := `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"` + many.String() + `}}`
	var out, said strings.Builder
	var status int
	for try := 1; ; try++ { // the two are measured one after the other, and the machine may be busy with one of them
		began := time.Now()
		if _, err := protocol.Named("claude-code").Read([]byte(text)); err != nil {
			t.Fatal(err)
		}
		whole := time.Since(began)
		out.Reset()
		began = time.Now()
		status = run([]string{"hook", "claude-code", "--timeout", "50ms"}, streams{strings.NewReader(text), &out, &said})
		took := time.Since(began)
		if took < whole {
			break
		}
		if try == 10 {
			t.Fatalf("ten times it took longer, %s the last time, than to read it whole takes, %s", took, whole)
		}
	}
	if status != exitPass || !strings.Contains(out.String(), `"permissionDecision":"deny"`) || !strings.Contains(out.String(), `it took over 50ms`) {
		t.Errorf("status %d: %.200s", status, out.String())
	}
}

// TestAnswerToNobody: "exit 2 if even that is impossible". Go opens the null device where standard output is closed.
func TestAnswerToNobody(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var said strings.Builder
	if status := run([]string{"hook", "codex"}, streams{strings.NewReader("{}"), null, &said}); status != exitUndecided || !strings.Contains(said.String(), "standard output is closed") {
		t.Errorf("status %d: %s", status, said.String())
	}
}
