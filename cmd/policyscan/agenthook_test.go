package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/rules/call/agent"
)

// TestReadInTime: to read a call counts, too: most agents make a call whose hook takes too long.
func TestReadInTime(t *testing.T) {
	var many strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&many, `,"%d":[{}]`, i)
	}
	text := `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"` + many.String() + `}}`
	began := time.Now()
	if _, err := agent.Named("claude-code").Read([]byte(text)); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	var out, said strings.Builder
	began = time.Now()
	status := run([]string{"hook", "claude-code", "--timeout", "50ms"}, streams{strings.NewReader(text), &out, &said})
	if took := time.Since(began); took > whole/2 {
		t.Errorf("it took %s, and to read it whole takes %s", took, whole)
	}
	if status != exitPass || !strings.Contains(out.String(), `"permissionDecision":"deny"`) || !strings.Contains(out.String(), `the run did not end within --timeout 50ms`) {
		t.Errorf("status %d: %.200s", status, out.String())
	}
}
