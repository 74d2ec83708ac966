package naive

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A dockerfile is read from its text, as Docker's documentation describes it.
type dockerfile struct {
	escape byte
	subs   int
	args   []*Node
	stages []*dockerStage
	// triggered says that an instruction of ONBUILD is read: its stages are those of the build that runs it.
	triggered bool
	ats       []int // of the instructions before the first stage
}

// A dockerStage is what is between two FROM.
type dockerStage struct {
	name string // in lower case
	base *dockerStage
	node *Node
	last map[string]*Node // of the instructions of which the last one is in force
}

// inForce are the instructions of which the last one is in force; of kept all are.
func inForce() []string {
	return []string{"user", "workdir", "cmd", "entrypoint", "healthcheck", "shell"}
}
func kept() []string { return []string{"env", "label", "expose", "volume", "stopsignal"} }

// parseDockerfile returns what a text without a byte order mark means.
func parseDockerfile(text string) *Parsed {
	d := &dockerfile{escape: '\\'}
	lines, err := d.lines(text)
	for _, line := range lines {
		if err == nil {
			err = d.instruction(line)
		}
	}
	if err == nil && len(d.stages) == 0 {
		err = errors.New("no FROM")
	}
	if err != nil {
		return &Parsed{Code: "E_PARSE", Template: hasTemplate(text)}
	}
	root := &Node{Kind: MappingNode, At: lines[0].at}
	if len(d.args) > 0 {
		at := d.ats[0]
		root.Entries = append(root.Entries, Entry{Key: "args", At: at, Also: d.ats[1:], Value: d.list(at, d.args)})
	}
	first, last := d.stages[0], d.stages[len(d.stages)-1]
	var stages []*Node
	for _, s := range d.stages {
		stages = append(stages, s.node)
	}
	at := first.node.At
	root.Entries = append(root.Entries,
		Entry{Key: "stages", At: at, Sub: d.sub(), Value: d.list(at, stages)},
		Entry{Key: "final", At: last.node.At, Sub: d.sub(), Value: d.final(last)})
	return &Parsed{Documents: []Document{{Root: root, Head: root.At}}}
}

// final is the last stage, where some instructions are the last one alone, and what the stage that it begins from
// leaves. What that one's other instructions say is hidden: a later one may set it again.
func (d *dockerfile) final(s *dockerStage) *Node {
	n := &Node{Kind: MappingNode, At: s.node.At, Sub: d.sub()}
	for _, e := range s.node.Entries {
		if slices.Contains(inForce(), e.Key) {
			last := s.last[e.Key]
			e.At, e.Also, e.Value = last.At, nil, d.list(last.At, []*Node{last})
		}
		n.Entries = append(n.Entries, e)
	}
	has := func(key string) bool {
		return slices.ContainsFunc(s.node.Entries, func(e Entry) bool { return e.Key == key })
	}
	if s.base == nil {
		return n
	}
	for _, e := range d.final(s.base).Entries {
		switch {
		case slices.Contains(kept(), e.Key):
			e.Hidden = true // Docker adds what is set here
		case !slices.Contains(inForce(), e.Key) || has(e.Key):
			continue
		case e.Key == "cmd":
			e.Hidden = e.Hidden || has("entrypoint") // which takes it back
		}
		n.Entries = append(n.Entries, e)
	}
	return n
}

func (d *dockerfile) sub() string {
	d.subs++
	return strconv.Itoa(d.subs)
}

func (d *dockerfile) list(at int, items []*Node) *Node {
	return &Node{Kind: ListNode, At: at, Sub: d.sub(), Items: items}
}

// command is a text in which nothing is expanded. YAML reads it without quotes.
func (d *dockerfile) command(at int, text string) *Node {
	return &Node{Kind: ScalarNode, At: at, Sub: d.sub(),
		Scalar: Scalar{Texts: []string{text}, Exact: coreSchema(text), Asked: text, Plain: true}}
}

// open is a text that is uncertain.
func (d *dockerfile) open(at int, text string) *Node {
	return &Node{Kind: ScalarNode, At: at, Sub: d.sub(), Tagged: true, Scalar: Scalar{Texts: []string{text}, Open: true}}
}

// word is a text as Docker's lexer reads it, uncertain if there is a $ in it.
func (d *dockerfile) word(at int, raw string) (*Node, error) {
	text, err := d.unquote(raw)
	if strings.Contains(raw, "$") {
		return d.open(at, text), err
	}
	return d.command(at, text), err
}

func (d *dockerfile) words(at int, raw []string) (all []*Node, err error) {
	for _, r := range raw {
		n, wrong := d.word(at, r)
		all, err = append(all, n), errors.Join(err, wrong)
	}
	return all, err
}

// instruction adds one instruction.
func (d *dockerfile) instruction(line dockerLine) error {
	name, rest := instructionName(line.text)
	if name == "from" {
		return d.from(line.at, rest)
	}
	values, err := d.read(line, name, rest)
	switch {
	case err != nil:
		return err
	case len(d.stages) > 0:
		d.stages[len(d.stages)-1].add(d, line.at, name, values)
	case name == "arg":
		d.args, d.ats = append(d.args, values...), append(d.ats, line.at)
	default:
		return errors.New("an instruction before FROM")
	}
	return nil
}

// add adds the values of an instruction.
func (s *dockerStage) add(d *dockerfile, at int, name string, values []*Node) {
	if s.last != nil {
		s.last[name] = values[len(values)-1]
	}
	i := slices.IndexFunc(s.node.Entries, func(e Entry) bool { return e.Key == name })
	if i < 0 {
		s.node.Entries = append(s.node.Entries, Entry{Key: name, At: at, Sub: d.sub(), Value: d.list(at, values)})
		return
	}
	e := &s.node.Entries[i]
	e.Also, e.Value.Items = append(e.Also, at), append(e.Value.Items, values...)
}

// read reads an instruction, and returns its values in the list of its name.
func (d *dockerfile) read(line dockerLine, name, rest string) ([]*Node, error) {
	flags, rest := d.flags(rest)
	entries, err := d.flagEntries(line.at, name, flags)
	switch {
	case err != nil:
		return nil, err
	case rest == "" && !slices.Contains([]string{"run", "cmd", "entrypoint"}, name): // which BuildKit reads
		return nil, errors.New("a missing argument")
	}
	n := &Node{Kind: MappingNode, At: line.at, Sub: d.sub(), Entries: entries}
	key := func(key string, value *Node) {
		n.Entries = append(n.Entries, Entry{Key: key, At: line.at, Sub: d.sub(), Value: value})
	}
	items, isList, err := jsonForm(rest)
	if err != nil && slices.Contains([]string{"run", "cmd", "entrypoint", "shell", "copy", "add", "volume"}, name) {
		return nil, err
	}
	switch name {
	case "run", "cmd", "entrypoint", "shell":
		if name == "shell" && len(items) == 0 {
			return nil, errors.New("SHELL without a list")
		}
		key("command", d.commands(line, rest))
	case "healthcheck":
		word, rest := instructionName(rest)
		_, _, err := jsonForm(rest)
		switch {
		case err != nil:
			return nil, err
		case word == "none" && rest == "":
			key("none", d.command(line.at, "true"))
		case word == "cmd" && rest != "":
			key("command", d.commands(line, rest))
		default:
			return nil, errors.New("a healthcheck that is neither NONE nor CMD")
		}
	case "copy", "add":
		if !isList {
			items = strings.Fields(rest)
		}
		if len(items) < 2 {
			return nil, errors.New("a missing argument")
		}
		return []*Node{n}, d.copied(line, n, items, key)
	case "env", "label", "arg":
		return []*Node{n}, d.pairs(line.at, n, name, rest)
	case "user", "workdir", "stopsignal":
		text, err := d.word(line.at, rest)
		return []*Node{text}, err
	case "maintainer":
		return []*Node{d.command(line.at, rest)}, nil
	case "expose", "volume":
		if !isList || name == "expose" {
			items = strings.Fields(rest)
		}
		if len(items) == 0 {
			return nil, errors.New("a missing argument")
		}
		return d.words(line.at, items)
	case "onbuild":
		name, rest := instructionName(rest)
		if slices.Contains([]string{"onbuild", "from", "maintainer"}, name) {
			return nil, errors.New("an instruction that ONBUILD cannot have")
		}
		d.triggered = true
		values, err := d.read(line, name, rest)
		if d.triggered = false; err != nil {
			return nil, err
		}
		(&dockerStage{node: n}).add(d, line.at, name, values)
	default:
		return nil, fmt.Errorf("an unknown instruction: %s", name)
	}
	return []*Node{n}, nil
}

// commands is a command: a text with the here-documents in it, or a list.
func (d *dockerfile) commands(line dockerLine, text string) *Node {
	items, isList, _ := jsonForm(text)
	if !isList {
		if len(line.here) > 0 {
			text += "\n" + strings.Join(line.here, "")
		}
		return d.command(line.at, text)
	}
	var all []*Node
	for _, item := range items {
		all = append(all, d.command(line.at, item))
	}
	n := d.list(line.at, all)
	n.Joined = d.command(line.at, strings.Join(items, " "))
	return n
}

// copied adds what COPY and ADD copy.
func (d *dockerfile) copied(line dockerLine, n *Node, items []string, key func(string, *Node)) error {
	var content []*Node
	for _, text := range line.here {
		content = append(content, d.command(line.at, text))
	}
	last := len(items) - 1
	isHere := func(item string) bool { return len(content) > 0 && hereStart.MatchString(item) }
	if isHere(items[last]) {
		return errors.New("a here-document where a path has to be")
	}
	sources, err := d.words(line.at, slices.DeleteFunc(slices.Clone(items[:last]), isHere))
	to, wrong := d.word(line.at, items[last])
	if len(sources) > 0 {
		key("sources", d.list(line.at, sources))
	}
	if len(content) > 0 {
		key("content", d.list(line.at, content))
	}
	key("to", to)
	for i := range n.Entries {
		if e := &n.Entries[i]; e.Key == "from" {
			text, own := e.Value.Scalar.Texts[0], len(d.stages)-1
			e.Value = d.reference(line.at, text, e.Value.Tagged)
			number, err := strconv.Atoi(text)
			named := stage(d.stages, text)
			if !d.triggered && (named != nil && named != d.stages[own] || err == nil && 0 <= number && number < own) {
				isStage := Entry{Key: "stage", At: line.at, Sub: d.sub(), Value: d.command(line.at, "true")}
				e.Value.Entries = append(e.Value.Entries, isStage)
			}
		}
	}
	return errors.Join(err, wrong)
}

// pairs adds names and values.
func (d *dockerfile) pairs(at int, n *Node, name, rest string) error {
	words, _ := fields(rest, d.escape)
	if name != "arg" && !strings.Contains(words[0], "=") {
		if len(words) < 2 { // NAME and the rest
			return errors.New("a name without a value")
		}
		words = []string{words[0] + "=" + strings.TrimLeft(strings.TrimPrefix(rest, words[0]), dockerBlanks)}
	}
	for _, word := range words {
		key, value, valued := strings.Cut(word, "=")
		if key == "" || !valued && name != "arg" {
			return errors.New("no name and value")
		}
		text, err := d.unquote(key)
		e := Entry{Key: text, At: at, Sub: d.sub(), Value: &Node{Kind: NullNode, At: at, Sub: d.sub()}}
		e.Any = strings.Contains(key, "$")
		e.Unsure = e.Any
		if valued {
			var wrong error
			e.Value, wrong = d.word(at, value)
			err = errors.Join(err, wrong)
		}
		if err != nil {
			return err
		}
		n.Entries = append(n.Entries, e)
	}
	return nil
}

var stageName = regexp.MustCompile(`^[a-z][a-z0-9_.-]*$`)

// from begins a stage.
func (d *dockerfile) from(at int, rest string) error {
	flags, rest := d.flags(rest)
	entries, err := d.flagEntries(at, "from", flags)
	words := strings.Fields(rest)
	switch {
	case err != nil:
		return err
	case len(words) != 1 && (len(words) != 3 || !strings.EqualFold(words[1], "as")):
		return errors.New("FROM with other words")
	}
	text, err := d.unquote(words[0])
	if text == "" || err != nil {
		return errors.New("FROM without an image")
	}
	open := strings.Contains(words[0], "$")
	from := d.reference(at, text, open)
	s := &dockerStage{base: stage(d.stages, text), last: map[string]*Node{}}
	if open {
		s.base = nil
	}
	if s.base != nil {
		from.Entries = append(from.Entries, Entry{Key: "stage", At: at, Sub: d.sub(), Value: d.command(at, "true")})
	}
	from.Entries = append(from.Entries, entries...)
	if len(words) == 3 {
		if s.name = strings.ToLower(words[2]); !stageName.MatchString(s.name) {
			return errors.New("no name of a stage")
		}
		from.Entries = append(from.Entries, Entry{Key: "as", At: at, Sub: d.sub(), Value: d.command(at, words[2])})
	}
	s.node = &Node{Kind: MappingNode, At: at, Sub: d.sub()}
	s.node.Entries = []Entry{{Key: "from", At: at, Sub: d.sub(), Value: from}}
	d.stages = append(d.stages, s)
	return nil
}

// stage is the last of these stages that has a name, or nil.
func stage(earlier []*dockerStage, name string) *dockerStage {
	for _, s := range slices.Backward(earlier) {
		if s.name != "" && s.name == strings.ToLower(name) {
			return s
		}
	}
	return nil
}

// reference is an image. If it is open, all of it may be anything.
func (d *dockerfile) reference(at int, text string, open bool) *Node {
	n := &Node{Kind: MappingNode, At: at, Sub: d.sub()}
	key := func(key string, value *Node) {
		n.Entries = append(n.Entries, Entry{Key: key, At: at, Sub: d.sub(), Value: value})
	}
	if open {
		for _, name := range []string{"image", "tag", "digest", "stage"} {
			key(name, d.open(at, text))
		}
		return n
	}
	image, digest, hasDigest := strings.Cut(text, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		key("tag", d.command(at, image[colon+1:]))
		image = image[:colon]
	}
	key("image", d.command(at, image))
	if hasDigest {
		key("digest", d.command(at, digest))
	}
	return n
}
