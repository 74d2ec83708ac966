package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// A reach is what the tests of a room run of a file.
//
// gremlins takes the cases of a switch for statements that no test runs, as Go counts what is behind a case and
// not the case. They are run if their switch is.
type reach struct {
	blocks   []block
	switches []span // the outer ones before the inner ones
}

type place struct{ line, column int }

func (p place) before(q place) bool {
	return p.line < q.line || p.line == q.line && p.column < q.column
}

type span struct{ from, to place }

func (s span) holds(p place) bool { return !p.before(s.from) && p.before(s.to) }

type block struct {
	span
	runs int
}

// reachOf runs the tests of a room and returns what they reach, by the file's name in the room.
func reachOf(room string) (map[string]*reach, error) {
	dir, err := os.MkdirTemp("", "mutated")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	profile := filepath.Join(dir, "profile")
	if out, err := exec.Command("go", append([]string{"test", "-coverpkg", "./" + room, "-coverprofile", profile}, testsOf(room)...)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("its tests fail: %w\n%s", err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	all := map[string]*reach{}
	for line := range strings.Lines(string(text)) {
		name, counted, _ := strings.Cut(line, ":")
		b, statements := block{}, 0
		if _, err := fmt.Sscanf(counted, "%d.%d,%d.%d %d %d", &b.from.line, &b.from.column, &b.to.line, &b.to.column, &statements, &b.runs); err != nil {
			continue // the first line
		}
		name = path.Base(name)
		if all[name] == nil {
			if all[name], err = readSwitches(filepath.Join(room, name)); err != nil {
				return nil, err
			}
		}
		all[name].blocks = append(all[name].blocks, b)
	}
	return all, nil
}

func readSwitches(name string) (*reach, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) place {
		position := fset.Position(p)
		return place{position.Line, position.Column}
	}
	r := &reach{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			r.switches = append(r.switches, span{at(n.Pos()), at(n.End())})
		}
		return true
	})
	return r, nil
}

// has reports whether what is at a place is run.
func (r *reach) has(p place) bool {
	inBlock := false
	for _, b := range r.blocks { // each once for each package of tests
		if b.holds(p) {
			inBlock = true
			if b.runs > 0 {
				return true
			}
		}
	}
	if inBlock {
		return false
	}
	for i := len(r.switches) - 1; i >= 0; i-- {
		if s := r.switches[i]; s.holds(p) && s.from != p {
			return r.has(s.from)
		}
	}
	return true // of the package, and not of a function
}
