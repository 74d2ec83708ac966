package naive

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A dockerLine is an instruction: its lines as one text, and the here-documents behind it.
type dockerLine struct {
	at   int // of its first byte
	text string
	here []string
}

// unquote takes quotes and escapes away.
func (d *dockerfile) unquote(raw string) (string, error) {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == d.escape && quote != '\'':
			if i++; i == len(raw) {
				break
			}
			if quote == '"' && raw[i] != '"' && raw[i] != '$' && raw[i] != d.escape {
				b.WriteByte(c)
			}
			b.WriteByte(raw[i])
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote && quote != 0:
			quote = 0
		default:
			b.WriteByte(c)
		}
	}
	if quote != 0 {
		return "", errors.New("an open quote")
	}
	return b.String(), nil
}

const dockerBlanks = " \t\v\f\r"

// fields cuts a text at blanks that are neither in quotes nor escaped. Each keeps its quotes.
func fields(text string, escape byte) (all []string, open bool) {
	start, quote := -1, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		if quote == 0 && strings.IndexByte(dockerBlanks+"\n", c) >= 0 {
			if start >= 0 {
				all, start = append(all, text[start:i]), -1
			}
			continue
		}
		if start < 0 {
			start = i
		}
		switch {
		case c == escape && quote != '\'':
			i++
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote && quote != 0:
			quote = 0
		}
	}
	if start >= 0 {
		all = append(all, text[start:])
	}
	return all, quote != 0
}

var directive = regexp.MustCompile(`^#[ \t]*([a-zA-Z][a-zA-Z0-9]*)[ \t]*=[ \t]*(.+?)[ \t]*$`)

// directives reads the comments at the top that say how to read the rest.
func (d *dockerfile) directives(text string) error {
	seen := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		parts := directive.FindStringSubmatch(strings.TrimRight(line, "\r"))
		if parts == nil {
			return nil
		}
		switch key := strings.ToLower(parts[1]); {
		case key != "escape" && key != "syntax" && key != "check":
			return nil
		case seen[key]:
			return errors.New("a directive twice")
		case key == "escape" && parts[2] != `\` && parts[2] != "`":
			return errors.New("another escape than a backslash or a backtick")
		case key == "escape":
			d.escape = parts[2][0]
			fallthrough
		default:
			seen[key] = true
		}
	}
	return nil
}

// lines joins the lines of a text to instructions.
func (d *dockerfile) lines(text string) (all []dockerLine, err error) {
	err = d.directives(text)
	at := 0
	next := func() (line string, start int, ok bool) {
		if at >= len(text) {
			return "", 0, false
		}
		line, start = text[at:], at
		if end := strings.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		at += len(line)
		if len(strings.TrimSuffix(line, "\n")) >= 64<<10 {
			err = errors.Join(err, errors.New("a line of 64 KiB"))
		}
		return line, start, true
	}
	escape := regexp.QuoteMeta(string(d.escape))
	continued := regexp.MustCompile(`(^|[^` + escape + `])` + escape + `[ \t]*$`)
	for {
		line, start, ok := next()
		if !ok {
			return all, err
		}
		bare := strings.TrimRight(line, "\r\n")
		one := strings.TrimLeft(bare, dockerBlanks)
		if one == "" || one[0] == '#' {
			continue
		}
		l := dockerLine{at: start + len(bare) - len(one)}
		for {
			l.text += continued.ReplaceAllString(one, "$1")
			if !continued.MatchString(one) {
				break
			}
			for ok {
				if line, _, ok = next(); !ok {
					break
				}
				one = strings.TrimRight(line, "\r\n")
				if left := strings.TrimLeft(one, dockerBlanks); left != "" && left[0] != '#' {
					break
				}
			}
			if !ok {
				break
			}
		}
		if strings.TrimSpace(l.text) == "" {
			continue
		}
		for _, h := range d.hereDocuments(l.text) {
			content, ended := "", false
			for !ended {
				line, _, ok := next()
				if !ok {
					return nil, errors.New("a here-document without end")
				}
				bare := strings.TrimRight(line, "\r\n")
				if h.dash {
					line, bare = strings.TrimLeft(line, "\t"), strings.TrimLeft(bare, "\t")
				}
				if ended = bare == h.end; !ended {
					content += line
				}
			}
			l.here = append(l.here, content)
		}
		all = append(all, l)
	}
}

// A hereDocument is the start of a here-document: the line that ends it, and whether tabs before its lines are left out.
type hereDocument struct {
	end  string
	dash bool
}

var hereStart = regexp.MustCompile(`^[0-9]*<<(-?)([^<]+)$`)

// A variable that Docker reads.
var dockerVariable = regexp.MustCompile(`\$\{[A-Za-z0-9_]+(:?[-+?#%/][^}]*)?\}`)

// hereDocuments are the here-documents of an instruction; none next to a variable that Docker does not read.
func (d *dockerfile) hereDocuments(text string) (all []hereDocument) {
	name, rest := instructionName(text)
	if name == "onbuild" {
		name, rest = instructionName(rest)
	}
	_, rest = d.flags(rest)
	words, open := fields(rest, '\\')
	if _, isList, _ := jsonForm(rest); open || isList || !slices.Contains([]string{"run", "copy", "add"}, name) {
		return nil
	}
	for _, word := range words {
		if parts := hereStart.FindStringSubmatch(word); parts != nil {
			end, _ := (&dockerfile{escape: '\\'}).unquote(parts[2])
			all = append(all, hereDocument{end, parts[1] != ""})
		}
	}
	if len(all) > 0 && strings.Contains(dockerVariable.ReplaceAllString(text, ""), "${") {
		return nil // so does BuildKit, which then reads no words
	}
	return all
}

// instructionName is the first word of a line, in lower case, and the rest.
func instructionName(text string) (name, rest string) {
	text = strings.TrimSpace(text)
	if end := strings.IndexAny(text, dockerBlanks); end >= 0 {
		text, rest = text[:end], text[end:]
	}
	return strings.ToLower(text), strings.TrimSpace(rest)
}

// jsonForm reads a list of texts. A list with something else is an error.
func jsonForm(text string) (items []string, ok bool, err error) {
	var all []any
	if !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &all) != nil {
		return nil, false, nil
	}
	for _, item := range all {
		s, isText := item.(string)
		if !isText {
			return nil, false, errors.New("a list of something else than texts")
		}
		items = append(items, s)
	}
	return items, true, nil
}

// hasTemplate reports whether a text has the mark of a template.
func hasTemplate(text string) bool {
	return strings.Contains(strings.ReplaceAll(text, "${{", ""), "{{") || strings.Contains(text, "{%") ||
		strings.Contains(text, "<%")
}

// A dockerFlag is --name=value.
type dockerFlag struct {
	name, value string
	valued      bool
}

// flags are those before the rest of an instruction.
func (d *dockerfile) flags(text string) (all []dockerFlag, rest string) {
	for strings.HasPrefix(text, "--") {
		words, _ := fields(text, '\\')
		text = strings.TrimSpace(strings.TrimPrefix(text, words[0]))
		if words[0] == "--" {
			break
		}
		var f dockerFlag
		f.name, f.value, f.valued = strings.Cut(words[0][2:], "=")
		all = append(all, f)
	}
	return all, text
}

// knownFlags are the flags of an instruction: one, of which there may be several (list), or true and false.
func knownFlags(instruction string) map[string]string {
	switch instruction {
	case "from":
		return map[string]string{"platform": "one"}
	case "run":
		return map[string]string{"mount": "list", "device": "list", "network": "one", "security": "one"}
	case "copy":
		return map[string]string{"from": "one", "chown": "one", "chmod": "one", "exclude": "list", "link": "boolean",
			"parents": "boolean"}
	case "add":
		return map[string]string{"checksum": "one", "chown": "one", "chmod": "one", "exclude": "list", "link": "boolean",
			"keep-git-dir": "boolean", "unpack": "boolean"}
	case "healthcheck":
		return map[string]string{"interval": "duration", "timeout": "duration", "start-period": "duration",
			"start-interval": "duration", "retries": "number"}
	}
	return nil
}

// flagEntries are the flags as keys.
func (d *dockerfile) flagEntries(at int, instruction string, flags []dockerFlag) (all []Entry, err error) {
	seen := map[string]*Node{}
	for _, f := range flags {
		kind := knownFlags(instruction)[f.name]
		value, wrong := d.word(at, f.value)
		text, _ := d.unquote(f.value)
		switch {
		case kind == "boolean" && !f.valued:
			value = d.command(at, "true")
		case !f.valued:
			wrong = errors.New("a flag without a value")
		case kind == "boolean" && text != "true" && text != "false":
			wrong = errors.New("neither true nor false")
		case kind == "duration":
			if t, notOne := time.ParseDuration(text); notOne != nil || t != 0 && t < time.Millisecond {
				wrong = errors.New("no time")
			}
		case kind == "number":
			if n, notOne := strconv.Atoi(text); notOne != nil || n < 0 {
				wrong = errors.New("no number")
			}
		}
		list := seen[f.name]
		switch {
		case kind == "":
			return nil, fmt.Errorf("an unknown flag: %s", f.name)
		case wrong != nil:
			return nil, wrong
		case list != nil && kind != "list":
			return nil, fmt.Errorf("%s twice", f.name)
		case list != nil:
			list.Items = append(list.Items, value)
			continue
		case kind == "list":
			value = d.list(at, []*Node{value})
		}
		seen[f.name] = value
		all = append(all, Entry{Key: f.name, At: at, Sub: d.sub(), Value: value})
	}
	return all, nil
}
