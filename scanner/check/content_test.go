package check

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict/code"
)

// TestManySpaces: more spaces than a text can have in a content of several windows are no pass.
func TestManySpaces(t *testing.T) {
	item := rules.Item{Kind: rules.Text, Text: "a = b", Name: "a = b", Spaces: true}
	b := rules.New([]rules.Rule{{ID: "A-1", Files: []string{"**"}, Patterns: []rules.Item{item}}}, nil)
	for _, c := range []struct {
		spaces    int
		undecided bool
	}{{20_000, false}, {30_000, true}} {
		content := "a" + strings.Repeat(" ", c.spaces) + "= b\n" + strings.Repeat("x\n", 200_000)
		found, err := File(context.Background(), b, "f", []byte(content))
		var undecided *UndecidedError
		if errors.As(err, &undecided); undecided.Has(code.Limit) != c.undecided || len(found) == 0 != c.undecided {
			t.Errorf("%d spaces: %v, %v", c.spaces, found, err)
		}
	}
}
