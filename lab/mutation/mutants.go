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

// operators are what is put in place of each.
var operators = map[token.Token][]string{
	token.GTR: {">=", "<="}, token.GEQ: {">", "<"}, token.LSS: {"<=", ">="}, token.LEQ: {"<", ">"},
	token.EQL: {"!="}, token.NEQ: {"=="}, token.INC: {"--"}, token.DEC: {"++"},
	token.ADD: {"-"}, token.SUB: {"+"}, token.MUL: {"/"}, token.QUO: {"*"}, token.REM: {"*"},
}

// A mutant is the code with another operator at one place.
type mutant struct {
	file, key string // from the root; what lived.txt says of it
	line      int
	text      string // of the line, mutated
	reached   bool   // the room's tests run it
}

// A block is a part of a file that runs as a whole, as coverage counts it.
type block struct {
	from, to place
	runs     int
}

type place struct{ line, column int }

func (p place) before(q place) bool {
	return p.line < q.line || p.line == q.line && p.column < q.column
}

// mutantsOf returns the mutants of a room, by their places.
func mutantsOf(room string) ([]mutant, error) {
	blocks, err := blocksOf(room)
	if err != nil {
		return nil, err
	}
	out, err := exec.Command("go", "list", "-f", `{{join .GoFiles "\n"}}`, "./"+room).Output()
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, name := range strings.Fields(string(out)) {
		mutants, err := mutantsIn(path.Join(room, name), blocks[name])
		if err != nil {
			return nil, err
		}
		all = append(all, mutants...)
	}
	return all, nil
}

func mutantsIn(file string, blocks []block) ([]mutant, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	alike := map[string]int{}
	var all []mutant
	var around []ast.Node
	add := func(op token.Token, pos token.Pos) {
		at := files.Position(pos)
		reached := isReached(files, blocks, pos, around)
		line := lines[at.Line-1]
		for _, other := range operators[op] {
			m := mutant{file: file, line: at.Line, reached: reached}
			m.text = line[:at.Column-1] + other + line[at.Column-1+len(op.String()):]
			m.key = file + ": " + strings.TrimSpace(m.text)
			if alike[m.key]++; alike[m.key] > 1 {
				m.key += fmt.Sprintf(" [%d]", alike[m.key])
			}
			all = append(all, m)
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil:
			around = around[:len(around)-1]
			return true
		case *ast.BinaryExpr:
			add(n.Op, n.OpPos)
		case *ast.IncDecStmt:
			add(n.Tok, n.TokPos)
		}
		around = append(around, n)
		return true
	})
	return all, nil
}

// isReached reports whether the tests run a place. Coverage has no block for the cases of a switch: they run if their
// switch does; and none for what is outside of functions.
func isReached(files *token.FileSet, blocks []block, pos token.Pos, around []ast.Node) bool {
	position := files.Position(pos)
	at, counted, runs := place{position.Line, position.Column}, false, 0
	for _, b := range blocks {
		if !at.before(b.from) && at.before(b.to) {
			counted, runs = true, runs+b.runs
		}
	}
	if counted {
		return runs > 0
	}
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt:
			return isReached(files, blocks, n.Pos(), around[:i])
		case *ast.FuncDecl:
			return false
		}
	}
	return true
}

// blocksOf runs the tests of a room and returns what they reach, by the file's name in the room.
func blocksOf(room string) (map[string][]block, error) {
	dir, err := os.MkdirTemp("", "mutated")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	profile := filepath.Join(dir, "profile")
	args := []string{"test", "-coverpkg", "./" + room, "-coverprofile", profile}
	if out, err := exec.Command("go", append(args, testsOf(room)...)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("its tests fail: %w\n%s", err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	all := map[string][]block{}
	for line := range strings.Lines(string(text)) {
		name, counted, _ := strings.Cut(line, ":")
		b, statements := block{}, 0
		n, _ := fmt.Sscanf(counted, "%d.%d,%d.%d %d %d",
			&b.from.line, &b.from.column, &b.to.line, &b.to.column, &statements, &b.runs)
		if n == 6 { // not the first line
			all[path.Base(name)] = append(all[path.Base(name)], b)
		}
	}
	return all, nil
}
