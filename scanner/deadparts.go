package scanner

import (
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
)

// Mistake says what nothing shows of a dead part and, where that is seen, what is wrong with it. word is what it is
// called: "dead", or what is less certain.
func (d *DeadPart) Mistake(word string) *document.Error {
	return d.Rule.PartMistake(d.Part, word+": "+d.found(), d.Rule.Suspect(d.Part))
}

func (d *DeadPart) found() string {
	const of = "no example of the rule"
	example, path, content := of, of, of
	if d.Part.Kind == rules.FileExcludeGlob {
		path = "no example of the file's rules"
	}
	if d.triedFiles {
		example, path, content = example+" and no file", path+" and no file", content+" and no file that it selects"
	}
	glob := document.Quoted(d.Rule.Glob(d.Part))
	switch d.Part.Kind {
	case rules.WholeRule:
		return example + " violates it"
	case rules.FilesGlob:
		return path + " has a path that the glob " + glob + " selects"
	case rules.ForbiddenFilesGlob:
		return path + " has a path that the glob " + glob + " forbids"
	case rules.RequiredFilesGlob:
		return path + " has a path that answers the glob " + glob
	case rules.ExcludeGlob, rules.FileExcludeGlob:
		from := "the rule"
		if d.Part.Kind == rules.FileExcludeGlob {
			from = "a rule of the file"
		}
		if d.Redundant {
			return "another exclude removes each path, too, that the exclude " + glob + " removes from " + from
		}
		return path + " has a path that the exclude " + glob + " removes from " + from
	case rules.EachPath:
		each := d.Rule.Required[d.Part.Index].Key.Each[d.Part.Path].String()
		return content + ` has a node at the path ` + document.Quoted(each) + ` of "each"`
	case rules.RequiredItem:
		return content + " has " + rules.Shown(d.Rule.Required[d.Part.Index]) + ", which is required"
	}
	return content + " has " + rules.Shown(d.Rule.Patterns[d.Part.Index])
}
