package call

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call/shell"
	"github.com/policyscan/policyscan/internal/cputime"
)

// An input is an agent's to choose, and a hook that is late is one that did not speak: what is under 100 KB takes no
// second, whatever it is. These took 2 s and 0.9 s.
func TestInputsAreFast(t *testing.T) {
	var members []Member
	for i := 12_000; i > 0; i-- { // JavaScript has such names in numerical order
		members = append(members, Member{fmt.Sprint(i), Text("x")})
	}
	names := NewObject(Member{"a", NewObject(members...)})
	for name, work := range map[string]func(){
		"operators":        func() { shell.Tokens(strings.Repeat(";", 100_000)) },
		"parentheses":      func() { shell.Tokens(strings.Repeat("(", 100_000)) },
		"names of indexes": func() { names.JSON() },
	} {
		if took := cputime.Of(work); took > 800*time.Millisecond {
			t.Errorf("%s: %s", name, took)
		}
	}
}
