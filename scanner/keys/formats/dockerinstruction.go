package formats

import (
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/policyscan/policyscan/scanner/keys"
)

// A dockerInstruction is an instruction while it is read.
type dockerInstruction struct {
	*dockerReader
	kind      string // its name in lower case
	at        keys.Span
	words     []string // its flags, "--" in front
	rest      string   // what is after them
	strings   []string // of the JSON form
	isJSON    bool
	flags     []keys.Entry
	heredocs  []string           // their contents
	inner     *dockerInstruction // of ONBUILD
	triggered bool               // it is in one
}

func (i *dockerInstruction) refuse(found string, args ...any) error {
	return i.bad(i.at.Start, "not a Dockerfile: "+found, args...)
}

// place returns the instruction's place, numbered.
func (d *dockerReader) place(at keys.Span) keys.Span {
	d.places++
	return keys.Span{Start: at.Start, End: at.End, In: d.places}
}

func (d *dockerReader) node(at keys.Span, kind keys.Kind) *keys.Node {
	d.nodes++
	return &keys.Node{Kind: kind, At: d.place(at)}
}

func (d *dockerReader) mapping(at keys.Span, entries ...keys.Entry) *keys.Node {
	n := d.node(at, keys.Mapping)
	n.Entries = entries
	return n
}

func (d *dockerReader) list(at keys.Span, items ...*keys.Node) *keys.Node {
	n := d.node(at, keys.List)
	n.Items = items
	return n
}

func (d *dockerReader) entry(name string, value *keys.Node) keys.Entry {
	return keys.Entry{Name: name, Named: true, At: d.place(value.At), Value: value}
}

// scalar is a text, which required items read as YAML does one without quotes.
func (i *dockerInstruction) scalar(text string, variable bool) *keys.Node {
	n := i.node(i.at, keys.ScalarNode)
	if n.Scalar = (keys.Scalar{Texts: []string{text}, Variable: true}); !variable {
		_, n.Scalar = yamlScalar("", text)
		n.Scalar.Certain, n.Scalar.Plain = true, true
	}
	return n
}

// texts is a list of texts in which Docker expands nothing.
func (i *dockerInstruction) texts(all []string) *keys.Node {
	list := i.list(i.at)
	for _, text := range all {
		list.Items = append(list.Items, i.scalar(text, false))
	}
	return list
}

// unquoted removes the quotes and escapes of a text in which Docker does.
func (i *dockerInstruction) unquoted(text string) (*dockerLexer, error) {
	l := &dockerLexer{text: text, escape: rune(i.escape), levels: i.bounds.Levels}
	err := l.lex()
	if err == errDockerLevels {
		err = i.tooDeep(i.at)
	} else if err != nil {
		err = i.refuse("%v, in %q", err, text)
	}
	return l, err
}

func (i *dockerInstruction) unquotedScalar(text string) (*keys.Node, error) {
	l, err := i.unquoted(text)
	return i.scalar(string(l.out), strings.Contains(text, "$")), err
}

// parse cuts an instruction into its name, its flags and the rest.
func (d *dockerReader) parse(line *dockerLine, text string) (*dockerInstruction, error) {
	parts := blanks(strings.TrimSpace(text), 2)
	i := &dockerInstruction{dockerReader: d, kind: strings.ToLower(parts[0]), at: line.at}
	if len(parts) == 2 {
		i.words, i.rest = dockerFlags(parts[1], d.escape)
		i.rest = strings.TrimSpace(i.rest)
	}
	rest := i.rest
	switch i.kind {
	case "run", "cmd", "entrypoint", "shell", "copy", "add", "volume":
	case "healthcheck":
		_, rest = healthcheckType(i.rest)
	case "from", "arg", "env", "label", "user", "workdir", "stopsignal", "maintainer", "expose":
		return i, nil
	case "onbuild":
		if i.rest == "" {
			return nil, i.refuse("ONBUILD without an instruction")
		}
		switch kind := strings.ToLower(blanks(i.rest, 2)[0]); kind {
		case "onbuild", "from", "maintainer":
			return nil, i.refuse("ONBUILD of %s", strings.ToUpper(kind))
		}
		inner, err := d.parse(line, i.rest)
		if err == nil {
			inner.triggered, i.inner = true, inner
		}
		return i, err
	default:
		return nil, i.refuse("the unknown instruction %q", parts[0])
	}
	return i, i.readJSON(rest)
}

// blanks cuts a text at runs of blanks, into at most n parts.
func blanks(text string, n int) (parts []string) {
	const blank = "\t\v\f\r "
	for len(parts) < n-1 {
		end := strings.IndexAny(text, blank)
		if end < 0 {
			break
		}
		parts = append(parts, text[:end])
		text = strings.TrimLeft(text[end:], blank)
	}
	return append(parts, text)
}

// healthcheckType cuts the type, CMD or NONE, from the command.
func healthcheckType(rest string) (kind, command string) {
	i := 0
	for i < len(rest) && !unicode.IsSpace(rune(rest[i])) {
		i++
	}
	kind = rest[:i]
	for i < len(rest) && unicode.IsSpace(rune(rest[i])) {
		i++
	}
	return kind, rest[i:]
}

// readJSON reads a list of strings. What is no JSON is a text.
func (i *dockerInstruction) readJSON(text string) error {
	if !strings.HasPrefix(text, "[") {
		return nil
	}
	decoder := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	var all []string
	other, closed := false, false
	for len(all) < tooMany {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || closed {
			return nil
		}
		switch depth := decoder.StackDepth(); {
		case depth == 0:
			closed = true
		case depth == 1 && token.Kind() == '"':
			all = append(all, token.String())
		case depth > 1 || token.Kind() != '[':
			other = true
		}
	}
	if other {
		return i.refuse("a list in JSON with something other than strings")
	}
	i.strings, i.isJSON = all, true
	return nil
}

// arguments are the strings of the JSON form, or what blanks separate.
func (i *dockerInstruction) arguments() []string {
	if i.isJSON {
		return i.strings
	}
	return blanks(i.rest, tooMany)
}

// copies reports whether an instruction is COPY or ADD.
func (i *dockerInstruction) copies() bool { return i.kind == "copy" || i.kind == "add" }

// value is what the instruction says.
func (i *dockerInstruction) value() (*keys.Node, error) {
	switch i.kind {
	case "onbuild":
		if len(i.words) > 0 {
			return nil, i.refuse("the unknown flag %q", i.words[0])
		}
		value, err := i.inner.value()
		if err != nil {
			return nil, err
		}
		return i.mapping(i.at, occurrence(i.inner.kind, value)), nil
	case "healthcheck":
		return i.healthcheck()
	case "arg", "stopsignal":
	default:
		if err := i.readFlags(); err != nil {
			return nil, err
		}
	}
	if i.rest == "" && i.kind != "run" && i.kind != "cmd" && i.kind != "entrypoint" {
		return nil, i.refuse("%s without an argument", strings.ToUpper(i.kind))
	}
	switch i.kind {
	case "copy", "add":
		return i.copying()
	case "arg", "env", "label":
		return i.assignments()
	case "expose", "volume":
		return i.items()
	case "maintainer":
		return i.scalar(i.rest, false), nil
	case "user", "workdir", "stopsignal":
		return i.unquotedScalar(i.rest)
	case "shell":
		if len(i.strings) == 0 {
			return nil, i.refuse("SHELL without a list in JSON")
		}
	}
	return i.command(i.rest), nil
}

// command is a mapping with the command and the flags.
func (i *dockerInstruction) command(text string) *keys.Node {
	if len(i.heredocs) > 0 {
		text += "\n" + strings.Join(i.heredocs, "")
	}
	command := i.scalar(text, false)
	if i.isJSON {
		command = i.texts(i.strings)
	}
	if len(i.strings) > 0 {
		command.Joined = i.scalar(strings.Join(i.strings, " "), false)
	}
	return i.mapping(i.at, append([]keys.Entry{i.entry("command", command)}, i.flags...)...)
}

func (i *dockerInstruction) healthcheck() (*keys.Node, error) {
	kind, command := healthcheckType(i.rest)
	switch strings.ToUpper(kind) {
	case "NONE":
		if command != "" && (!i.isJSON || len(i.strings) > 0) {
			return nil, i.refuse("HEALTHCHECK NONE with an argument")
		}
		return i.mapping(i.at, i.entry("none", i.scalar("true", false))), nil
	case "CMD":
		if err := i.readFlags(); err != nil {
			return nil, err
		}
		if command == "" || i.isJSON && len(i.strings) == 0 {
			return nil, i.refuse("HEALTHCHECK CMD without a command")
		}
		return i.command(command), nil
	}
	return nil, i.refuse("HEALTHCHECK with %q, which is neither CMD nor NONE", kind)
}

// copying is a mapping with the sources, the target, the contents of here-documents and the flags.
func (i *dockerInstruction) copying() (*keys.Node, error) {
	all := i.arguments()
	if len(all) < 2 {
		return nil, i.refuse("%s without a source or a target", strings.ToUpper(i.kind))
	}
	node, sources := i.mapping(i.at), i.list(i.at)
	for n, word := range all {
		_, _, isHeredoc, err := i.heredoc(i.at, word)
		switch {
		case isHeredoc && n == len(all)-1:
			return nil, i.refuse("%s to a here-document", strings.ToUpper(i.kind))
		case isHeredoc && err == nil:
			continue
		}
		value, err := i.unquotedScalar(word)
		if err != nil {
			return nil, err
		}
		if n < len(all)-1 {
			sources.Items = append(sources.Items, value)
			continue
		}
		if len(sources.Items) > 0 {
			node.Entries = append(node.Entries, i.entry("sources", sources))
		}
		node.Entries = append(node.Entries, i.entry("to", value))
	}
	if len(i.heredocs) > 0 {
		node.Entries = append(node.Entries, i.entry("content", i.texts(i.heredocs)))
	}
	node.Entries = append(node.Entries, i.flags...)
	return node, nil
}

// items is a list of ports or volumes.
func (i *dockerInstruction) items() (*keys.Node, error) {
	all := i.arguments()
	list := i.list(i.at)
	for _, item := range all {
		l, err := i.unquoted(item)
		if err != nil {
			return nil, err
		}
		words, variable := l.words, strings.Contains(item, "$")
		if i.kind == "volume" {
			if words = []string{string(l.out)}; strings.TrimSpace(item) == "" {
				return nil, i.refuse("VOLUME with an empty name")
			}
		}
		for _, word := range words {
			list.Items = append(list.Items, i.scalar(word, variable))
		}
	}
	if i.isJSON && len(all) == 0 {
		return nil, i.refuse("%s without an argument", strings.ToUpper(i.kind))
	}
	return list, nil
}

// assignments is a mapping of the names and values of ARG, ENV or LABEL. A name with variables is unknown.
func (i *dockerInstruction) assignments() (*keys.Node, error) {
	words := dockerWords(i.rest, rune(i.escape))
	if len(words) == 0 {
		return nil, i.refuse("%s without an argument", strings.ToUpper(i.kind))
	}
	old := i.kind != "arg" && !strings.Contains(words[0], "=") // "ENV NAME VALUE"
	if old {
		words = words[:1]
	}
	node := i.mapping(i.at)
	for _, word := range words {
		name, value, assigned := strings.Cut(word, "=")
		if parts := blanks(i.rest, 2); old && len(parts) == 2 {
			name, value, assigned = parts[0], parts[1], true
		}
		if name == "" || !assigned && i.kind != "arg" {
			return nil, i.refuse("%s of %q, which is not NAME=VALUE", strings.ToUpper(i.kind), word)
		}
		l, err := i.unquoted(name)
		if err != nil {
			return nil, err
		}
		of := i.node(i.at, keys.Null)
		if assigned {
			if of, err = i.unquotedScalar(value); err != nil {
				return nil, err
			}
		}
		e := i.entry(string(l.out), of)
		e.Unsure = strings.Contains(name, "$")
		e.Named = !e.Unsure
		node.Entries = append(node.Entries, e)
	}
	return node, nil
}

// dockerWords cuts a text at spaces that are neither quoted nor escaped. Quotes and escapes stay in the words.
func dockerWords(text string, escape rune) (words []string) {
	var word []byte
	var quote rune
	for at, width := 0, 0; at < len(text) && len(words) < tooMany; at += width {
		var r rune
		r, width = utf8.DecodeRuneInString(text[at:])
		switch {
		case quote == 0 && unicode.IsSpace(r):
			if len(word) > 0 {
				words, word = append(words, string(word)), word[:0]
			}
			continue
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote != 0 && r == quote:
			quote = 0
		case r == escape && quote != '\'':
			if at+width == len(text) {
				quote = 0
				continue
			}
			word = utf8.AppendRune(word, r)
			at += width
			r, width = utf8.DecodeRuneInString(text[at:])
		}
		word = utf8.AppendRune(word, r)
	}
	if len(word) > 0 {
		words = append(words, string(word))
	}
	return words
}
