// Package shell reads a command line and lists every command that its text shows.
//
// [Read] sees through what combines commands: && || ; | & and newlines, ( ) and { }, if, for, while, case and
// functions, $( ), backquotes, <( ) and here-documents. It also sees through programs that run another command: sh -c
// and its kind, eval, env, sudo, xargs, find -exec and the others of [wrappers]; both commands are listed. Quotes are
// removed, and braces that list words ({push,--force}) are expanded. Any other program is [Program] if one of its
// words is the name of a known program.
//
// # Limits
//
// Nothing is run, looked up or remembered: a variable has no value, and a glob matches no file. [Command.Unseen]
// reports a command that the text does not show in full. Commands that a program runs by itself (a script file, make,
// npm, a git alias) are not reported.
//
// The work is linear in the length of the line. The parser of mvdan.cc/sh has no limit, so it gets the line piece by
// piece, and no more once its stack is deep.
package shell

import (
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Why something of a command is not seen: the values of [Command.Unseen], from the worst to the least.
const (
	Syntax   = "syntax"   // the line is not shell, and its commands were read by words alone
	Length   = "length"   // so is a line that is too long
	Depth    = "depth"    // or that has too many commands within commands
	Variable = "variable" // the program, or a script that a shell is given, is a variable, a substitution or a glob
	Eval     = "eval"     // eval runs a text that is made at run time
	Program  = "program"  // a word of an unknown program names a known one, which it may run
	Input    = "stdin"    // a shell reads its commands from standard input
	Script   = "script"   // a shell reads its commands from a file
	Code     = "code"     // an interpreter is given code of another language
	Argument = "argument" // an argument is a variable, a substitution or a glob, or comes from elsewhere (xargs)

	// A variable is set for the program, or a git setting: either can make it run another one.
	Environment = "environment"
)

// Reasons are all values of [Command.Unseen] but "".
func Reasons() []string {
	return []string{Variable, Argument, Eval, Program, Code, Script, Input, Environment, Syntax, Depth, Length}
}

// What a line may have at most. Linux gives a program no argument that is longer, so "sh -c" cannot run such a line.
const (
	maxLength   = 128 << 10 // bytes that are parsed, those of scripts in scripts counted again
	maxDepth    = 8         // sh -c in sh -c
	maxWrappers = 32        // env nice env nice
	maxWords    = 1024      // after the expansion of braces in a line
	maxBraces   = 64        // of one word
	maxFrames   = 8000      // of the parser's stack, about 1000 nested subshells and 4 MB
	MaxRough    = 1 << 20   // bytes that are read by words alone
)

// A Command is one that a command line runs.
type Command struct {
	// Word is the program as it is written: without quotes, with its directory, and variables by their names. Of a
	// line that runs nothing it is "".
	Word   string
	Args   []string
	Unseen string // one of the constants above, or "" if all is seen

	// Through is of a program that does nothing but run the next command of the list, as the same person: env, nice.
	Through bool

	// Set is of a program for which a variable is set, as in A=1 git and env A=1 git, and of git with a setting. If all
	// else is seen, Unseen is Environment.
	Set bool
}

// Names are what a program can be called: the word, the word without its directory, and that in lower case, as
// systems have it that ignore case, without ".exe".
func (c *Command) Names() []string {
	names := []string{c.Word}
	if i := strings.LastIndexAny(c.Word, `/\`); i >= 0 && i+1 < len(c.Word) {
		names = append(names, c.Word[i+1:])
	}
	if n := name(c.Word); n != "" && !slices.Contains(names, n) {
		names = append(names, n)
	}
	return names
}

// name is what the tables here have for a program. Zsh runs git for =git.
func name(word string) string {
	base := strings.ReplaceAll(word, `\`, "/")
	if word == "" {
		return ""
	}
	base = strings.ToLower(path.Base(strings.TrimSuffix(strings.TrimPrefix(base, "="), "/")))
	return strings.TrimSuffix(base, ".exe")
}

// Read lists the commands of a command line. A line that runs nothing has none.
func Read(line string) []Command {
	r := &reader{budget: 2 * maxLength, words: maxWords}
	why := Length
	if len(line) <= maxLength {
		why = r.script(line)
	}
	if why != "" {
		r.rough(line, why)
	}
	if r.sets {
		r.set(0)
	}
	if strings.Contains(line, "\r") {
		for i := range r.out {
			c := &r.out[i]
			c.Word = strings.ReplaceAll(c.Word, carriage, "\r")
			for k, a := range c.Args {
				c.Args[k] = strings.ReplaceAll(a, carriage, "\r")
			}
		}
	}
	return r.out
}

// ReadList is Read of a program and its arguments, which no shell reads first.
func ReadList(list []string) []Command {
	r := &reader{budget: 2 * maxLength, words: maxWords}
	words := make([]word, len(list))
	for i, text := range list {
		words[i] = word{text: text, whole: true}
	}
	r.run(words, nil)
	return r.out
}

type reader struct {
	out    []Command
	depth  int // of scripts
	nested int // wrappers around what is being read
	budget int // bytes that may still be parsed
	words  int // that braces may still make
	inputs map[*syntax.Stmt]*input
	sets   bool // the line sets a variable that programs may read
}

// An input is a program's input that the line contains: a here-document, or the output of echo.
type input struct {
	text  string
	whole bool
}

// script reads a script. What it returns says why it was not read at all, "" if it was.
func (r *reader) script(src string) string {
	switch {
	case r.depth >= maxDepth:
		return Depth
	case len(src) > r.budget:
		return Length
	}
	r.budget -= len(src)
	r.depth++
	defer func() { r.depth-- }()
	if strings.Contains(src, "\r") {
		r.statements(strings.ReplaceAll(src, "\r", carriage))
	}
	r.statements(src)
	return ""
}

// carriage represents a carriage return, which is a letter like any other to a shell, while the parser drops it at the
// end of a line: "echo \\\r\ngit push" are two commands. A line that has one is read in both ways.
const carriage = "\x1e"

func (r *reader) statements(src string) {
	stmts, err := parse(src, syntax.LangBash)
	if err != nil && !errors.Is(err, errDeep) {
		if again, failed := parse(src, syntax.LangZsh); failed == nil {
			stmts, err = again, nil
		}
	}
	for _, s := range stmts { // also those before an error: a shell runs a line before it reads the next
		r.walk(src, s)
	}
	if errors.Is(err, errDeep) {
		r.rough(src, Depth)
	} else if err != nil {
		r.rough(src, Syntax)
	}
}

var errDeep = errors.New("too deep")

// A gauge gives the parser the text in small pieces, and no more once its stack is deep.
type gauge struct{ src string }

func (g *gauge) Read(p []byte) (int, error) {
	if g.src == "" {
		return 0, io.EOF
	}
	var deep [1]uintptr
	if runtime.Callers(maxFrames, deep[:]) > 0 {
		return 0, errDeep
	}
	n := copy(p, g.src[:min(len(g.src), 512)])
	g.src = g.src[n:]
	return n, nil
}

// parse returns the statements of a script, up to the first error. A panic of the parser is an error: the agent
// chooses the line, which must not end the program.
func parse(src string, lang syntax.LangVariant) (stmts []*syntax.Stmt, err error) {
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("the parser failed: %v", failed)
		}
	}()
	for s, failed := range syntax.NewParser(syntax.Variant(lang)).StmtsSeq(&gauge{src}) {
		switch {
		case err != nil: // v3.14.1 goes on after some errors, and panics if the loop does not
		case failed != nil:
			err = failed
		default:
			stmts = append(stmts, s)
		}
	}
	return stmts, err
}

func (r *reader) walk(src string, s *syntax.Stmt) {
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				r.pipe(src, n)
			}
		case *syntax.CmdSubst:
			return !r.backquotes(src, n)
		case *syntax.Stmt:
			r.stmt(src, n)
		case *syntax.DeclClause, *syntax.LetClause, *syntax.TestClause, *syntax.ArithmCmd,
			*syntax.ArithmExp, *syntax.ParamExp,
			*syntax.Assign, *syntax.WordIter:
			r.shells(src, n)
		case *syntax.TimeClause:
			words := r.innerWords(src, n.Stmt)
			// dash has no such keyword, and runs the program time
			if len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
				r.run(append([]word{{text: "time", whole: true}}, words...), nil)
				break
			}
			c := Command{Word: "time", Through: n.Stmt != nil}
			if n.PosixFormat {
				c.Args = append(c.Args, "-p")
			}
			c.Args = append(c.Args, texts(words)...)
			r.out = append(r.out, c)
		case *syntax.CoprocClause:
			r.out = append(r.out, Command{Word: "coproc", Args: texts(r.innerWords(src, n.Stmt)), Through: true})
		}
		return true
	})
}

// innerWords are the words of the command that time or coproc runs, if that is a simple one.
func (r *reader) innerWords(src string, s *syntax.Stmt) []word {
	if s == nil {
		return nil
	}
	if c, ok := s.Cmd.(*syntax.CallExpr); ok {
		var words []word
		for _, a := range c.Assigns {
			words = append(words, word{text: text(src, a)})
		}
		return append(words, r.expand(src, c.Args)...)
	}
	return nil
}

func (r *reader) stmt(src string, s *syntax.Stmt) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			r.sets = r.sets || a.Name != nil && reaches(a.Name.Value)
		}
		return
	}
	in := r.inputs[s]
	for _, redirect := range s.Redirs {
		if i := r.document(src, redirect); i != nil {
			in = i
		}
	}
	at := len(r.out)
	r.run(r.expand(src, c.Args), in)
	if len(c.Assigns) > 0 {
		r.set(at)
	}
}

// document is the text of a here-document or a here-string; nil, of any other redirection.
func (r *reader) document(src string, d *syntax.Redirect) *input {
	switch {
	case d.N != nil && d.N.Value != "0": // not what it reads
		return nil
	case d.Op == syntax.WordHdoc:
		one := r.expand(src, []*syntax.Word{d.Word})
		if len(one) != 1 {
			return nil
		}
		return &input{one[0].text, one[0].whole}
	case d.Hdoc == nil:
		return nil
	}
	p := &piece{whole: true}
	quoted := slices.ContainsFunc(d.Word.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return !ok || strings.Contains(lit.Value, `\`)
	})
	for _, part := range d.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok && quoted {
			p.text = append(p.text, lit.Value...)
		} else {
			p.quoted(src, part)
		}
	}
	return &input{string(p.text), p.whole}
}

// pipe records the input of the second program of a pipe, if the line contains it.
func (r *reader) pipe(src string, b *syntax.BinaryCmd) {
	c, ok := b.X.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return
	}
	words := r.expand(src, c.Args)
	var in *input
	switch {
	case len(words) == 0:
	case name(words[0].text) == "cat" && len(words) == 1:
		for _, redirect := range b.X.Redirs {
			in = r.document(src, redirect)
		}
	case name(words[0].text) == "echo" || name(words[0].text) == "printf":
		in = &input{whole: true}
		var texts []string
		for _, w := range words[1:] {
			in.whole = in.whole && w.whole
			if !strings.HasPrefix(w.text, "-") || len(texts) > 0 {
				texts = append(texts, strings.ReplaceAll(w.text, `\n`, "\n"))
			}
		}
		in.text = strings.Join(texts, " ")
		in.whole = in.whole && !strings.ContainsAny(in.text, `\%`) // their escapes are not interpreted
	}
	if in != nil {
		if r.inputs == nil {
			r.inputs = map[*syntax.Stmt]*input{}
		}
		r.inputs[b.Y] = in
	}
}

func text(src string, n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(src) {
		return ""
	}
	return src[from:to]
}

// rough lists the commands of an unparsable text by its words: each run of words between operators, once with quotes
// that go over lines and once line by line. The list has too many commands rather than too few.
func (r *reader) rough(src, why string) {
	from := len(r.out)
	each := func(line string) {
		var words []word
		aside := false // the next word is where something is redirected to
		end := func() {
			for len(words) > 0 && (slices.Contains(reserved, words[0].text) || Assigns(words[0].text)) {
				words = words[1:]
			}
			r.run(words, nil)
			words, aside = nil, false
		}
		for _, t := range Tokens(line) {
			switch {
			case t.Operator && strings.ContainsAny(t.Text, "<>") && !strings.ContainsAny(t.Text, ";|()"):
				aside = true
			case t.Operator:
				end()
			case aside:
				aside = false
			default:
				words = append(words, word{text: t.Text, whole: !strings.ContainsAny(t.Text, "$`*?")})
			}
		}
		end()
	}
	src = src[:min(len(src), MaxRough)]
	each(src)
	if strings.Contains(src, "\n") {
		for line := range strings.Lines(src) {
			each(line)
		}
	}
	if strings.Contains(src, "$(") || strings.Contains(src, "`") {
		each(strings.NewReplacer("$(", ";", "`", ";", "\"", "").Replace(src))
	}
	for i := from; i < len(r.out); i++ {
		r.out[i].Unseen = why
	}
	if from == len(r.out) {
		r.out = append(r.out, Command{Unseen: why})
	}
}

// reserved are the words that a command may begin with in a text that is not parsed.
var reserved = []string{"!", "{", "}", "if", "then", "else", "elif", "do", "while", "until", "fi", "done", "time", "in"}
