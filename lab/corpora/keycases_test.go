package corpora

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A keyCase is a resource that a check passes or fails.
type keyCase struct {
	check     int    // the check, among those that are said
	resource  string // TYPE.NAME
	blocks    []int  // the blocks that it is, among all
	source    string // one of keySources
	fails     bool
	variables bool // what it stands in has some
}

// keySources are where cases come from, as the page has them.
func keySources() []string {
	return []string{"files `*.tf`", "texts of Terraform in tests", "dictionaries in tests"}
}

// keyCases are the cases of those checks that are said, by their modules.
type keyCases struct {
	byModule map[string]int
	types    []string          // of each check the one whose attribute a dictionary has; "" if it could be several
	files    map[string]string // of the cases' folders

	cases  []keyCase
	blocks []string         // each resource's block, by itself
	whole  []string         // the files that blocks are of
	cut    map[int]bool     // those blocks
	read   map[string]*file // by their names
	lost   map[string]int   // resources that are named and are not judged, by why
}

func newKeyCases(files map[string]string) *keyCases {
	return &keyCases{
		byModule: map[string]int{}, files: files,
		read: map[string]*file{}, cut: map[int]bool{}, lost: map[string]int{},
	}
}

// A file is what is in a file of Terraform.
type file struct {
	resources map[string][]int // among the blocks, by TYPE.NAME
	variables bool
	unparsed  bool
}

// parse cuts a text of Terraform into the blocks of its resources.
func (k *keyCases) parse(t *testing.T, name, content string) *file {
	t.Helper()
	parsed, diagnostics := hclsyntax.ParseConfig([]byte(content), name, hcl.InitialPos)
	if diagnostics.HasErrors() {
		t.Log(diagnostics)
		return &file{unparsed: true}
	}
	f := &file{resources: map[string][]int{}}
	body := parsed.Body.(*hclsyntax.Body)
	for _, block := range body.Blocks {
		if block.Type == "resource" && len(block.Labels) == 2 {
			id := strings.Join(block.Labels, ".")
			f.resources[id] = append(f.resources[id], len(k.blocks))
			k.blocks = append(k.blocks, content[block.TypeRange.Start.Byte:block.CloseBraceRange.End.Byte]+"\n")
		}
	}
	_ = hclsyntax.VisitAll(body, func(node hclsyntax.Node) hcl.Diagnostics {
		if e, ok := node.(*hclsyntax.ScopeTraversalExpr); ok {
			switch e.Traversal.RootName() {
			case "var", "local", "each", "count":
				f.variables = true
			}
		}
		return nil
	})
	return f
}

var instance = regexp.MustCompile(`\[[^]]*\]$`)

// add adds the cases of a test.
func (k *keyCases) add(t *testing.T, c checkCase) {
	t.Helper()
	check, ok := k.byModule[c.Module]
	if !ok {
		return
	}
	expected := map[string]bool{}
	for _, id := range c.Pass {
		expected[instance.ReplaceAllString(id, "")] = false
	}
	for _, id := range c.Fail {
		expected[instance.ReplaceAllString(id, "")] = true
	}
	var files []*file
	source := 0
	switch {
	case c.Folder != "":
		for _, name := range slices.Sorted(maps.Keys(k.files)) {
			if !strings.HasPrefix(name, c.Folder) {
				continue
			}
			if k.read[name] == nil {
				k.read[name] = k.parse(t, name, k.files[name])
				if !k.read[name].unparsed {
					k.whole = append(k.whole, k.files[name])
					for _, blocks := range k.read[name].resources {
						for _, block := range blocks {
							k.cut[block] = true
						}
					}
				}
			}
			files = append(files, k.read[name])
		}
	case c.Text != "":
		source, files = 1, append(files, k.parse(t, c.Module, c.Text))
	case k.types[check] == "":
		k.lost["a dictionary of an unnamed type"]++
		return
	default:
		source = 2
		text := fmt.Sprintf("resource %q \"\" {\n%s\n}\n", k.types[check], c.Body)
		files = append(files, k.parse(t, c.Module, text))
		fails := expected[""]
		expected = map[string]bool{k.types[check] + ".": fails}
	}
	for _, id := range slices.Sorted(maps.Keys(expected)) {
		found := keyCase{check: check, resource: id, source: keySources()[source], fails: expected[id]}
		why := "none of that name in the files, but in a module of theirs"
		for _, f := range files {
			if f.unparsed {
				why = "Terraform cannot parse the file"
			}
			if blocks := f.resources[id]; len(blocks) > 0 {
				found.blocks = append(found.blocks, blocks...)
				found.variables = found.variables || f.variables
			}
		}
		same := func(other keyCase) bool {
			return other.check == check && slices.Equal(other.blocks, found.blocks)
		}
		switch {
		case len(found.blocks) == 0:
			k.lost[why]++
			t.Log(c.Module, id, why)
		case !slices.ContainsFunc(k.cases, same): // a second test of the same folder
			k.cases = append(k.cases, found)
		}
	}
}
