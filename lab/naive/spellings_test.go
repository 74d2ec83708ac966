package naive

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"gopkg.in/yaml.v3"
)

// parses reports whether the library of a format reads a text.
func parses(format, text string) error {
	switch format {
	case "yaml":
		// For yaml.v3 a line ends at U+2028, and there is no YAML 1.2.
		text = strings.TrimPrefix(strings.ReplaceAll(text, "\u2028", "x"), "%YAML 1.2")
		d := yaml.NewDecoder(strings.NewReader(text))
		for {
			var n yaml.Node
			if err := d.Decode(&n); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	case "json":
		text, err := hujson.Standardize([]byte(text))
		if err != nil {
			return err
		}
		var v any
		return json.NewDecoder(bytes.NewReader(text)).Decode(&v)
	case "hcl":
		_, diags := hclsyntax.ParseConfig([]byte(text), "", hcl.InitialPos)
		if diags.HasErrors() {
			return diags
		}
		return nil
	}
	var v map[string]any
	return toml.Unmarshal([]byte(text), &v)
}

// TestWritten checks the writers: the libraries of the formats read what they write, and do not read what is damaged.
func TestWritten(t *testing.T) {
	for _, format := range []string{"yaml", "json", "hcl", "toml"} {
		wrong := 0
		for n := range 1500 {
			g := &generator{Rand: rand.New(rand.NewPCG(5, uint64(n)))}
			f := g.keyFile(format)
			if f.meant.Starts != nil || f.meant.Code == "E_LIMIT" || strings.Contains(f.content, "{{ x }}") ||
				f.meant.Disputed || format == "json" && len(f.meant.Documents) > 1 {
				continue // yaml.v3 reads a template as a mapping with a mapping as its key, hujson one value
			}
			err := parses(format, f.content)
			if (err == nil) == (f.meant.Code == "") {
				continue
			}
			if wrong++; wrong < 5 {
				t.Errorf("%s %d: code %q, %v\n%s", format, n, f.meant.Code, err, f.content)
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d wrong", format, wrong)
		}
	}
}
