package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/internal/late"
)

// A manPage is a manual page as it is written, in mdoc.
type manPage struct{ b strings.Builder }

func (p *manPage) line(s string) { p.b.WriteString(s + "\n") }

// synopsis writes how a command is called, after its .Nm. The default command's name is
// optional.
func (p *manPage) synopsis(cmd *kong.Node, byDefault bool) {
	head := ".Cm "
	if byDefault {
		head = ".Op Cm "
	}
	p.line(head + roff(cmd.Name))
	if len(cmd.Flags) > 0 {
		p.line(".Op Ar flags")
	}
	for _, arg := range cmd.Positional {
		p.line("." + operand(arg))
	}
}

// item writes a command and its arguments as the head of an item.
func (p *manPage) item(cmd *kong.Node) {
	head := ".It Cm " + roff(cmd.Name)
	for _, arg := range cmd.Positional {
		head += " " + operand(arg)
	}
	p.line(head)
}

func operand(arg *kong.Positional) string {
	name := "Ar " + roff(strings.ToUpper(arg.Name))
	if values := arg.EnumSlice(); arg.Enum != "" {
		name = "Cm " + roff(strings.Join(values, "|"))
	}
	if arg.IsCumulative() {
		name += " ..."
	}
	if !arg.Required {
		name = "Op " + name
	}
	return name
}

// about writes what the help of a command says below its flags, except its examples.
func (p *manPage) about(cmd *kong.Node) {
	for _, arg := range cmd.Positional {
		if arg.Help != "" {
			p.line(".Pp")
			p.text(strings.ToUpper(arg.Name) + ": " + arg.Help)
		}
	}
	for block := range strings.SplitSeq(strings.TrimSpace(cmd.Detail), "\n\n") {
		head, rest, _ := strings.Cut(block, "\n")
		switch {
		case block == "" || head == "Examples:":
		case strings.HasPrefix(rest, "  "):
			p.line(".Pp")
			p.text(head)
			p.literal(strings.Split(rest, "\n"))
		default:
			p.line(".Pp")
			p.text(block)
		}
	}
}

// columnGap separates an example from its description.
var columnGap = late.Regexp(`   +`)

// examples writes the lines below "Examples:" in the help of a command: a command and what
// it does, or a line to be shown as it is.
func (p *manPage) examples(help string) {
	for block := range strings.SplitSeq(help, "\n\n") {
		head, rest, _ := strings.Cut(block, "\n")
		if head != "Examples:" {
			continue
		}
		p.line(".Bl -tag -width Ds")
		for line := range strings.SplitSeq(rest, "\n") {
			example := columnGap().Split(strings.TrimSpace(line), 2)
			p.line(`.It Ic "` + roff(example[0]) + `"`)
			if len(example) == 2 {
				p.text(strings.ToUpper(example[1][:1]) + example[1][1:] + ".")
			}
		}
		p.line(".El")
	}
}

// flags writes a list of flags, with their help.
func (p *manPage) flags(flags []*kong.Flag) {
	p.line(".Bl -tag -width Ds")
	for _, f := range flags {
		head := ".It "
		if f.Short != 0 {
			head += "Fl " + roff(string(f.Short)) + " , "
		}
		head += `Fl \-` + roff(f.Name)
		if !f.IsBool() {
			head += " Ns = Ns Ar " + roff(f.PlaceHolder)
			if f.PlaceHolder == "" {
				head += roff(strings.ToUpper(f.Name))
			}
		}
		p.line(head)
		p.text(f.Help)
	}
	p.line(".El")
}

// list writes a list of words with their descriptions. macro marks up the kind of word; .It
// stands for none.
func (p *manPage) list(macro string, items [][2]string) {
	p.line(".Bl -tag -width Ds")
	for _, item := range items {
		head := ".It"
		if macro != ".It" {
			head += " " + macro[1:]
		}
		p.line(head + " " + roff(item[0]))
		p.text(item[1])
	}
	p.line(".El")
}

// literal writes a block of lines that are shown as they are, without the spaces at the
// beginning of each example in the help.
func (p *manPage) literal(lines []string) {
	p.line(".Bd -literal -offset indent")
	for _, s := range lines {
		p.line(harmless(roff(strings.TrimPrefix(s, "  "))))
	}
	p.line(".Ed")
}

var (
	// flagInText matches a flag within a sentence.
	flagInText = late.Regexp(`^(["(]?)(--[a-z][a-z-]*)(.*)$`)

	// name matches a word that must not be broken at the end of a line, such as a path.
	name = late.Regexp(`[A-Za-z][./_=-][A-Za-z]`)
)

// text writes prose. Each sentence begins on a new line, so that formatters know where one
// ends, and lines are shorter than 80 bytes, as tools for manual pages require.
func (p *manPage) text(s string) {
	line := ""
	end := func() {
		if line != "" {
			p.line(harmless(line))
		}
		line = ""
	}
	for word := range strings.FieldsSeq(s) {
		shown := roff(word)
		if m := flagInText().FindStringSubmatch(word); m != nil {
			shown = roff(m[1]) + `\fB` + roff(m[2]) + `\fR` + roff(m[3])
		} else if name().MatchString(word) {
			shown = `\%` + shown
		}
		if line != "" && len(line)+1+len(shown) >= 80 {
			end()
		}
		if line != "" {
			line += " "
		}
		line += shown
		if strings.HasSuffix(word, ".") {
			end()
		}
	}
	end()
}

// roff escapes text for a formatter, which may show a plain - ' ` ^ or ~ as another
// character than the one that a reader has to type.
func roff(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '"':
			b.WriteString(`\(dq`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// harmless escapes a line that a formatter would read as a request.
func harmless(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
