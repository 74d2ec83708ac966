package verdict

import "testing"

func TestRawPath(t *testing.T) {
	for _, raw := range []string{"", "a/b.tf", `a\b`, `\x41`, `\\x41`, "a\xffb", `end\`, "\xff\xfe", `\xff` + "\xff", "世界"} {
		if got := RawPath(Path(raw)); got != raw {
			t.Errorf("RawPath(Path(%q)) = %q", raw, got)
		}
	}
	for _, written := range []string{`\x`, `\x4`, `\xzz`, `\u{41}`, `a\`} { // Path writes none of these
		if got := RawPath(written); got != written {
			t.Errorf("RawPath(%q) = %q", written, got)
		}
	}
}

func FuzzRawPath(f *testing.F) {
	f.Add("a\\x41\xff/é")
	f.Fuzz(func(t *testing.T, raw string) {
		if got := RawPath(Path(raw)); got != raw {
			t.Errorf("RawPath(Path(%q)) = %q", raw, got)
		}
	})
}
