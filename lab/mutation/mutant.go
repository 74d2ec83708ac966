package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is the code with another operator at one place.
type mutant struct {
	status string
	at     string // FILE:LINE:COLUMN, from the root
	file   string
	line   string // without spaces around it
	whole  string // the line of the mutant
	nth    int    // among those of the file that are alike, from 1
	of     *change
}

// invalid is the status of a mutant that is no Go.
const invalid = "NO GO"

// key is what lived.txt says of it: the second that is alike has a 2 at its end, and so on.
func (m mutant) key() string {
	key := m.file + ": " + strings.TrimSpace(m.whole)
	if m.nth > 1 {
		key += fmt.Sprintf(" [%d]", m.nth)
	}
	return key
}

// operators are what gremlins makes of each, by the name of the change.
var operators = map[string]map[string]string{
	"ARITHMETIC_BASE":       {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"},
	"CONDITIONALS_BOUNDARY": {">": ">=", ">=": ">", "<": "<=", "<=": "<"},
	"CONDITIONALS_NEGATION": {"==": "!=", "!=": "==", ">": "<=", ">=": "<", "<": ">=", "<=": ">"},
	"INCREMENT_DECREMENT":   {"++": "--", "--": "++"},
}

// mutantsOf returns the mutants of a room that a result holds, without what it has twice.
func mutantsOf(room string, r *result) ([]mutant, error) {
	joined, err := concatenations(room)
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, f := range r.Files {
		file := path.Join(room, f.Name)
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		lines := strings.Split(string(text), "\n")
		// By their places, whatever order the result has them in.
		slices.SortFunc(f.Mutations, func(a, b change) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Type, b.Type))
		})
		alike := map[string]int{}
		for i := range f.Mutations {
			c := &f.Mutations[i]
			if c.Type == "INVERT_NEGATIVES" {
				continue
			}
			m := mutant{status: c.Status, at: fmt.Sprintf("%s:%d:%d", file, c.Line, c.Column), file: file, of: c}
			if c.Line > len(lines) || c.Column > len(lines[c.Line-1]) {
				return nil, fmt.Errorf("%s does not exist; the result is of other code", m.at)
			}
			line := lines[c.Line-1]
			m.line = strings.TrimSpace(line)
			head, tail := line[:c.Column-1], line[c.Column-1:]
			// The longer operator first: <= is not < and =.
			from, to := "", ""
			for k, v := range operators[c.Type] {
				if strings.HasPrefix(tail, k) && len(k) > len(from) {
					from, to = k, v
				}
			}
			if from == "" {
				return nil, fmt.Errorf("%s: %.10q is nothing for %s; the result is of other code", m.at, tail, c.Type)
			}
			m.whole = head + to + tail[len(from):]
			if joined[m.at] {
				m.status = invalid
			}
			alike[m.key()]++
			m.nth = alike[m.key()]
			all = append(all, m)
		}
	}
	return all, nil
}

// concatenations returns the places, FILE:LINE:COLUMN, of each plus between texts in the files of a room: a minus
// there is no Go.
func concatenations(room string) (map[string]bool, error) {
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(room, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	// Files of all systems at once declare some names twice; the types are found nevertheless.
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil), Error: func(error) {}}
	_, _ = config.Check(room, fset, files, info)
	places := map[string]bool{}
	for expr, is := range info.Types {
		e, ok := expr.(*ast.BinaryExpr)
		if !ok || e.Op != token.ADD {
			continue
		}
		if basic, ok := is.Type.Underlying().(*types.Basic); ok && basic.Info()&types.IsString != 0 {
			places[fset.Position(e.OpPos).String()] = true
		}
	}
	return places, nil
}

const lived = "lab/mutation/lived.txt"

// explained returns the keys of the mutants of which a reason is known why they live; false, as none was met yet.
func explained() (map[string]bool, error) {
	text, err := os.ReadFile(lived)
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	reason := false
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "":
			reason = false
		case strings.HasPrefix(line, "# "):
			reason = true
		case !reason:
			return nil, fmt.Errorf("%s:%d: %q has no reason above it", lived, i+1, line)
		default:
			keys[line] = false
		}
	}
	return keys, nil
}
