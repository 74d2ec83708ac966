package formats

import (
	"slices"
	"strconv"
	"strings"

	"github.com/policyscan/policyscan/scanner/keys"
)

// dockerValues bounds the instructions of a Dockerfile and the values in them. What has too many parts is not cut into
// more.
const (
	dockerValues = 200_000
	tooMany      = dockerValues + 2
)

// dockerLevels is how deep a value can be: in a list in COPY in ONBUILD in a stage.
const dockerLevels = 9

// readDockerfile reads what BuildKit's parser and its instructions.Parse accept, and removes quotes and escapes as its
// builder does. The places of all values of an instruction are the instruction's.
func readDockerfile(m *meter) ([]keys.Document, error) {
	if err := m.deeper(dockerLevels, 0); err != nil {
		return nil, err
	}
	d := &dockerReader{
		dockerLines: dockerLines{meter: m, escape: '\\', seen: map[string]bool{}}, names: map[string]*dockerStage{},
	}
	for {
		line, err := d.instruction()
		if line == nil && err == nil {
			break
		}
		if err == nil {
			err = d.read(line)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(d.stages) == 0 {
		return nil, d.bad(0, "not a Dockerfile: there is no FROM")
	}
	return m.settled([]keys.Document{d.document()})
}

type dockerReader struct {
	dockerLines
	head   keys.Span // the first instruction
	args   []keys.Entry
	stages []*dockerStage
	names  map[string]*dockerStage // in lower case, of several stages the last
}

// A dockerStage is a FROM and the instructions after it, each an entry.
type dockerStage struct {
	node *keys.Node
	base *dockerStage // the earlier stage that FROM names, or nil
}

func (d *dockerReader) document() keys.Document {
	stages := d.list(d.stages[0].node.At)
	for _, s := range d.stages {
		stages.Items = append(stages.Items, s.node)
	}
	final := d.final(d.stages[len(d.stages)-1])
	entries := append(d.args, d.entry("stages", stages), d.entry("final", final))
	root := d.mapping(keys.Span{Start: d.head.Start, End: len(d.text)}, entries...)
	root.Body = true
	return keys.Document{Root: root, Head: d.meter.head(d.head.Start)}
}

// final is the last stage, with what its bases leave in force. Of some instructions only the last one is. What a base
// adds to the image, and a CMD that an ENTRYPOINT of a later stage ends, is hidden.
func (d *dockerReader) final(stage *dockerStage) *keys.Node {
	final := d.mapping(stage.node.At)
	final.Body = true
	set, ended := map[string]bool{}, false
	for of := stage; of != nil; of = of.base {
		for _, e := range slices.Backward(of.node.Entries) {
			switch e.Name {
			case "user", "workdir", "cmd", "entrypoint", "healthcheck", "shell":
				if set[e.Name] {
					continue
				}
				set[e.Name] = true
				e.Hidden = e.Name == "cmd" && ended
			case "env", "label", "expose", "volume", "stopsignal":
				e.Hidden = of != stage
			default:
				if of != stage {
					continue
				}
			}
			e.Value.Shared = true
			final.Entries = append(final.Entries, e)
		}
		ended = set["entrypoint"]
	}
	slices.Reverse(final.Entries)
	return final
}

// read adds an instruction to its stage.
func (d *dockerReader) read(line *dockerLine) error {
	if d.head.End == 0 {
		d.head = line.at
	}
	i, err := d.parse(line, line.text)
	if err != nil {
		return err
	}
	inner := i
	if i.inner != nil {
		inner = i.inner
	}
	if (inner.copies() || inner.kind == "run") && !inner.isJSON && strings.Contains(line.text, "<<") {
		if inner.heredocs, err = d.readHeredocs(line); err != nil {
			return err
		}
	}
	if i.kind == "from" {
		err = d.from(i)
	} else if len(d.stages) == 0 && i.kind != "arg" {
		err = i.refuse("an instruction before the first FROM, other than ARG")
	} else {
		err = d.add(i)
	}
	if err == nil {
		err = d.counted(line, d.nodes)
	}
	return err
}

// counted checks a number of values at an instruction.
func (d *dockerLines) counted(line *dockerLine, n int) error {
	if most := min(dockerValues, d.bounds.Nodes); n > most {
		return d.limit(line.at.Start, "the file has more than %d instructions and values", most)
	}
	return nil
}

func (d *dockerReader) add(i *dockerInstruction) error {
	value, err := i.value()
	if err != nil {
		return err
	}
	if len(d.stages) == 0 {
		d.args = append(d.args, occurrence("args", value))
		return nil
	}
	stage := d.stages[len(d.stages)-1].node
	stage.Entries = append(stage.Entries, occurrence(i.kind, value))
	return nil
}

// occurrence is one of the list of an instruction's occurrences: key and value are one place.
func occurrence(name string, value *keys.Node) keys.Entry {
	return keys.Entry{Name: name, Named: true, At: value.At, Value: value}
}

// from begins a stage.
func (d *dockerReader) from(i *dockerInstruction) error {
	if err := i.readFlags(); err != nil {
		return err
	}
	words := blanks(i.rest, 4)
	as := ""
	switch {
	case len(words) == 3 && strings.EqualFold(words[1], "as"):
		as = words[2]
		if name := strings.ToLower(as); !isStageName(name) {
			return i.refuse("the name of a stage %q", as)
		}
	case i.rest == "" || len(words) != 1:
		return i.refuse("FROM with something other than an image and AS")
	}
	image, base, err := i.reference(words[0])
	if err != nil {
		return err
	}
	stage := &dockerStage{base: base}
	image.Entries = append(image.Entries, i.flags...)
	if as != "" {
		image.Entries = append(image.Entries, i.entry("as", i.scalar(as, false)))
		d.names[strings.ToLower(as)] = stage
	}
	stage.node = i.mapping(i.at, i.entry("from", image))
	stage.node.Body = true
	d.stages = append(d.stages, stage)
	return nil
}

func isStageName(name string) bool {
	return name != "" && 'a' <= name[0] && name[0] <= 'z' &&
		only(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.")
}

// reference returns the parts of the name of an image or an earlier stage. With variables each part is the whole of it.
func (i *dockerInstruction) reference(raw string) (node *keys.Node, earlier *dockerStage, err error) {
	l, err := i.unquoted(raw)
	if err != nil {
		return nil, nil, err
	}
	ref, variable := string(l.out), strings.Contains(raw, "$")
	node = i.mapping(i.at)
	add := func(name, text string) {
		if text != "" || name == "image" {
			node.Entries = append(node.Entries, i.entry(name, i.scalar(text, variable)))
		}
	}
	if variable {
		for _, name := range []string{"image", "tag", "digest", "stage"} {
			add(name, ref)
		}
		return node, nil, nil
	}
	earlier = i.names[strings.ToLower(ref)]
	if i.kind == "copy" {
		if n, err := strconv.Atoi(ref); err == nil && n >= 0 && n < len(i.stages) {
			earlier = i.stages[n]
		}
		if i.triggered || earlier == i.stages[len(i.stages)-1] {
			earlier = nil
		}
	}
	if earlier != nil {
		add("image", ref)
		add("stage", "true")
		return node, earlier, nil
	}
	image, digest, _ := strings.Cut(ref, "@")
	tag := ""
	if colon := strings.LastIndexByte(image, ':'); colon > strings.LastIndexByte(image, '/') {
		image, tag = image[:colon], image[colon+1:]
	}
	add("image", image)
	add("tag", tag)
	add("digest", digest)
	return node, nil, nil
}
