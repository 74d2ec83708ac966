package hook

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// TestTurnFails: whatever goes wrong at the end of a turn, the answer lets it end with the reason: a check that
// takes too long, no input, and a directory that is missing.
func TestTurnFails(t *testing.T) {
	h, dir := hookIn(t)
	h.Policy, h.Root = nil, ""
	late, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("it took over 1s"))
	const stop = `{"hook_event_name":"Stop","session_id":"s","cwd":"`
	for _, c := range []struct {
		ctx         context.Context
		input, want string
	}{
		{late, stop + dir + `"}`, "it took over 1s"},
		{t.Context(), "", "it is empty"},
		{t.Context(), stop + dir + `/nowhere"}`, "cannot be found"},
		{t.Context(), strings.Replace(stop, "Stop", "SessionStart", 1) + dir + `/nowhere"}`, "cannot be found"},
	} {
		var out bytes.Buffer
		untold, err := h.Turn(c.ctx, strings.NewReader(c.input), &out)
		const begins = `{"systemMessage":"policyscan could not check what this session changed: `
		if answer := out.String(); err != nil || untold != "" || !strings.HasPrefix(answer, begins) || !strings.Contains(answer, c.want) {
			t.Errorf("%s: %s, %q, %v", c.input, answer, untold, err)
		}
	}
}
