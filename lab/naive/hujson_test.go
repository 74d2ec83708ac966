package naive

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/scanner/keys"
	parser "github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/tailscale/hujson"
)

// TestCommentsAreHujsons: comments and trailing commas are where hujson finds them.
func TestCommentsAreHujsons(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	tokens := []string{
		"{", "}", "[", "]", ",", ":", `"a"`, `"b\""`, "1", "true", " ", "\n", "// c\n", "/* ] */", "//", "/*",
		"*/", "/", `"a": 1`, `{"a": [1, 2,],}`, `["//", "/*"]`,
	}
	read := 0
	for range 20_000 {
		var b strings.Builder
		for range 1 + random.IntN(10) {
			b.WriteString(tokens[random.IntN(len(tokens))])
		}
		text := b.String()
		documents, err := parser.Parse(parser.JSON, []byte(text), parser.Limits())
		plain, err2 := hujson.Standardize([]byte(text + "\n"))
		if err2 != nil {
			if err == nil && len(documents) == 1 && !strings.Contains(text, "null") {
				t.Errorf("%q is read, and not by hujson: %v", text, err2)
			}
			continue
		}
		read++
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		again, err := parser.Parse(parser.JSON, plain, parser.Limits())
		if err != nil || outline(again) != outline(documents) {
			t.Errorf("%q: %v, of %q %v, %v", text, outline(documents), plain, outline(again), err)
		}
	}
	if read < 300 {
		t.Errorf("only %d", read)
	}
}

// outline returns documents in words.
func outline(documents []keys.Document) string {
	var b strings.Builder
	var show func(n *keys.Node)
	show = func(n *keys.Node) {
		fmt.Fprintf(&b, "%d%v%v(", n.Kind, n.At, n.Scalar.Texts)
		for _, e := range n.Entries {
			fmt.Fprintf(&b, "%q:", e.Name)
			show(e.Value)
		}
		for _, item := range n.Items {
			show(item)
		}
		b.WriteByte(')')
	}
	for _, d := range documents {
		show(d.Root)
	}
	return b.String()
}
