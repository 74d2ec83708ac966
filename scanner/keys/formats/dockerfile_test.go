package formats

import (
	"testing"

	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/keys"
)

// TestDockerfilePlaces: the values of an instruction share its place and count each by itself; a command in JSON counts
// once, if its strings are what is forbidden or only all of them together; what is in stages and in final, once.
func TestDockerfilePlaces(t *testing.T) {
	const text = "FROM a\nEXPOSE 1 1 2\nENV a=1 a=1\nCMD [\"b\", \"c\"]\nLABEL a='{\"k\": [1, 1]}' b='[1]'\nUSER d\nUSER d\nVOLUME x\nVOLUME x\n"
	documents, err := Parse(Dockerfile, []byte(text), Limits())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, matches string
		want          int
	}{
		{"stages.expose", "", 1}, {"stages.expose", "1", 2}, {"**.expose", "1|2", 3}, {"**.env.a", "", 2}, {"**.env.a", "1", 2},
		{"**.command", "b", 1}, {"**.command", "b|c", 2}, {"**.command", "b c", 1}, {"**.command", "^b c$", 1}, {"**.command", "c$", 1},
		{"**.command", "bc", 0}, {"**.label.a", "1", 1}, {"**.label.a.k", "1", 2}, {"**.user", "", 2}, {"**.user", "d", 2},
		{"final.user", "", 1}, {"final.user", "d", 1}, {"**.volume", "x", 2}, {"**", "^x$", 2}, {"final.from.image", "a", 1},
	} {
		path, err := keyitem.ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		item := &keyitem.Item{Paths: []keyitem.Path{path}}
		if c.matches != "" {
			expr, err := regex.Compile(c.matches)
			if err != nil {
				t.Fatal(err)
			}
			item.Condition = keyitem.Condition{Asks: keyitem.Matches, Match: expr}
		}
		if hits := keys.Forbidden(item, documents); len(hits) != c.want {
			t.Errorf("%s %s: %d places, want %d: %v", c.path, c.matches, len(hits), c.want, hits)
		}
	}
}
