package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/keyitem"
)

func keyNotes(item *keyitem.Item) []string {
	var notes []string
	paths := slices.Concat(item.Each, item.Paths)
	values := item.Values
	for _, at := range slices.Concat(item.Where, item.If) {
		paths, values = append(paths, at.Path), slices.Concat(values, at.Values)
	}
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, path := range paths {
		notes = append(notes, path.Notes()...)
		if provider().MatchString(path[0].Name) {
			add("the path begins with %s, the type of a Terraform resource, which is below resource or data; write %s",
				path[0].Name, document.Quoted("resource."+path.String()))
		}
		for _, segment := range path {
			if n := strangerIn(segment.Name); n != "" {
				name := document.Quoted(segment.Name)
				notes = append(notes, fmt.Sprintf("the segment %s of the path has %s", name, n))
			}
		}
	}
	if item.Asks == keyitem.MatchesNot && !strings.ContainsAny(item.Match.String(), "^$") {
		expr := item.Match.String()
		add("the expression %s of matches_not is met by a value that has it anywhere; to compare the start, write %s",
			document.Quoted(expr), document.Quoted("^"+expr))
	}
	for _, where := range item.Where {
		if shares(where.Path, item) {
			add("the path %s of where asks whether there is any such node in the document; for each object by itself, "+
				"write if", where.Path)
		}
	}
	if slices.ContainsFunc(item.If, func(c keyitem.At) bool { return c.Path[0].Kind == keyitem.Deep }) {
		add("** at the beginning of a path of if begins at the object itself, and finds the key of the pattern, too")
	}
	if beyond := item.Asks == keyitem.Exists && len(item.If) > 0 && len(item.Each) == 0; beyond {
		for _, path := range item.Paths {
			if path[len(path)-1].Kind != keyitem.Name {
				add("if asks the object with the key that %s ends in, not what is in that; write one of its keys at the end",
					path)
			}
		}
	}
	if item.AnyValue && len(item.Each) == 0 {
		add("any without each: one value in the whole document is enough; for each object by itself, write each")
	}
	for _, value := range values {
		if text := value.Text; value.Kind == keyitem.TextValue {
			if expressionIn(text) != "" || wildcard().MatchString(text) {
				add("the value %s looks like a regular expression or a wildcard, but is is compared as it is; "+
					"write it as matches if one is meant", document.Quoted(text))
			}
		}
		if n := strangerIn(value.Text); n != "" {
			notes = append(notes, fmt.Sprintf("the value %s has %s", document.Quoted(value.Text), n))
		}
	}
	return notes
}

// shares reports whether a path of where goes through the same "*" or "**" as one of an item's, or goes on below one of
// its each.
func shares(where keyitem.Path, item *keyitem.Item) bool {
	for _, path := range slices.Concat(item.Each, item.Paths) {
		for i := 0; i < min(len(where), len(path)) && where[i] == path[i]; i++ {
			if where[i].Kind != keyitem.Name {
				return true
			}
		}
	}
	return slices.ContainsFunc(item.Each, func(each keyitem.Path) bool {
		return len(where) > len(each) && slices.Equal(where[:len(each)], each)
	})
}

// provider matches resource types of the most common providers.
var provider = late.Regexp(`^(?:aws|azurerm|azuread|google|kubernetes|helm|oci|alicloud|digitalocean|github)_\w+$`)

// wildcard matches a string such as nginx:*, but not an ARN, in which a wildcard is part of the value.
var wildcard = late.Regexp(`^[\w./-]+:\*$|^\*\.[\w.-]+$`)

// labels is the number of labels of Terraform's blocks.
var labels = map[string]int{"resource": 2, "data": 2, "module": 1, "provider": 1, "variable": 1, "output": 1}

// eachNotes notes a required item that requires rare blocks in each file, where "each" would check the blocks.
func eachNotes(item Item) []string {
	if item.Kind != Key || len(item.Key.Each) > 0 {
		return nil
	}
	var notes []string
	for _, path := range item.Key.Paths {
		n := labels[path[0].Name]
		if n == 0 || len(path) <= n+1 ||
			slices.ContainsFunc(path[:n+1], func(s keyitem.Segment) bool { return s.Kind == keyitem.Deep }) {
			continue
		}
		notes = append(notes, fmt.Sprintf("the key is required of every file that the rule selects, even of one "+
			"without such a block; to check only the blocks, write each: %s and key: %s",
			document.Quoted(path[:n+1].String()), document.Quoted(path[n+1:].String())))
	}
	return notes
}
