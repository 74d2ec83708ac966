package formats

import (
	"cmp"
	"encoding/csv"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/policyscan/policyscan/scanner/keys"
)

// dockerFlags cuts the flags from the text of an instruction. It reads bytes, as BuildKit's parser does.
func dockerFlags(text string, escape byte) (flags []string, rest string) {
	var word []byte
	quote, inWord := byte(0), false
	for at := 0; at < len(text) && len(flags) < tooMany; at++ {
		c := text[at]
		switch {
		case !inWord && unicode.IsSpace(rune(c)):
			continue
		case !inWord && !strings.HasPrefix(text[at:], "--"):
			return flags, text[at:]
		case !inWord:
			inWord = true
		case quote == 0 && unicode.IsSpace(rune(c)):
			if string(word) == "--" {
				return flags, text[at:]
			}
			flags, word, inWord = append(flags, string(word)), word[:0], false
			continue
		}
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote != 0 && c == quote:
			quote = 0
		case c == escape && at+1 == len(text):
			quote = 0
		case c == escape:
			at++
			word = utf8.AppendRune(word, rune(text[at]))
		default:
			word = utf8.AppendRune(word, rune(c))
		}
	}
	if inWord && string(word) != "--" {
		flags = append(flags, string(word))
	}
	return flags, ""
}

// A dockerFlag is what a flag of an instruction can have.
type dockerFlag uint8

const (
	noFlag dockerFlag = iota
	flagText
	flagExpanded // a text in which variables and quotes count
	flagBool
	flagList // texts, of a flag that can be repeated
)

func dockerFlagOf(kind, flag string) dockerFlag {
	switch kind + " " + flag {
	case "add link", "add keep-git-dir", "add unpack", "copy link", "copy parents":
		return flagBool
	case "add exclude", "copy exclude", "run mount", "run device":
		return flagList
	case "add chown", "add chmod", "add checksum", "copy chown", "copy chmod", "copy from", "from platform":
		return flagExpanded
	case "run network", "run security", "healthcheck interval", "healthcheck timeout", "healthcheck start-period",
		"healthcheck start-interval", "healthcheck retries":
		return flagText
	}
	return noFlag
}

// readFlags makes entries of the flags.
func (i *dockerInstruction) readFlags() error {
	at := map[string]int{} // in i.flags
	for _, word := range i.words {
		name, value, assigned := strings.Cut(word[2:], "=")
		kind := dockerFlagOf(i.kind, name)
		_, again := at[name]
		switch {
		case kind == noFlag:
			return i.refuse("the unknown flag %q", "--"+name)
		case again && kind != flagList:
			return i.refuse("the flag %q twice", "--"+name)
		case assigned == (kind == flagBool) && (!assigned || value == ""):
			return i.refuse("the flag %q without a value", "--"+name)
		case kind == flagBool && !slices.Contains([]string{"", "true", "false"}, strings.ToLower(value)):
			return i.refuse("the flag %q with a value that is neither true nor false", "--"+name)
		}
		if err := i.checkFlag(name, value); err != nil {
			return i.refuse("the flag %q with the value %q: %v", "--"+name, value, err)
		}
		node, err := i.flagValue(kind, name, value)
		switch {
		case err != nil:
			return err
		case node == nil:
			at[name] = -1
		case again:
			list := i.flags[at[name]].Value
			list.Items = append(list.Items, node)
		default:
			at[name] = len(i.flags)
			if kind == flagList {
				node = i.list(i.at, node)
			}
			i.flags = append(i.flags, i.entry(name, node))
		}
	}
	return nil
}

func (i *dockerInstruction) flagValue(kind dockerFlag, name, value string) (*keys.Node, error) {
	switch {
	case name == "from" && value == "":
		return nil, nil // as without it
	case name == "from":
		node, _, err := i.reference(value)
		return node, err
	case kind == flagExpanded:
		return i.unquotedScalar(value)
	case kind == flagBool:
		return i.scalar(cmp.Or(strings.ToLower(value), "true"), false), nil
	}
	return i.scalar(value, name == "mount" && strings.Contains(value, "$")), nil
}

// checkFlag says why BuildKit refuses the value of a flag.
func (i *dockerInstruction) checkFlag(name, value string) error {
	switch name {
	case "network":
		if !slices.Contains([]string{"default", "none", "host"}, value) {
			return errors.New("neither default, none nor host")
		}
	case "security":
		if value != "insecure" && value != "sandbox" {
			return errors.New("neither insecure nor sandbox")
		}
	case "mount", "device":
		return checkFields(name, value)
	case "retries":
		if n, err := strconv.ParseInt(value, 10, 32); value != "" && (err != nil || n < 0) {
			return errors.New("not a number of times")
		}
	case "interval", "timeout", "start-period", "start-interval":
		if value == "" {
			return nil
		}
		if t, err := time.ParseDuration(value); err != nil || t != 0 && t < time.Millisecond {
			return errors.New("not a time of at least a millisecond")
		}
	}
	return nil
}

// checkFields checks the comma-separated fields of a mount or a device.
func checkFields(flag, value string) error {
	fields, err := csv.NewReader(strings.NewReader(value)).Read()
	if err != nil {
		return err
	}
	named := false
	for _, field := range fields {
		key, of, assigned := strings.Cut(field, "=")
		key = strings.ToLower(key)
		at := strings.IndexByte(of, '$')
		switch {
		case flag == "mount":
			if key == "from" && at >= 0 && at < len(of)-1 {
				return errors.New("from cannot have variables")
			}
		case key == "required" && !assigned:
		case key == "required":
			if _, err := strconv.ParseBool(of); err != nil {
				return errors.New("required is neither true nor false")
			}
		case named:
			return errors.New("more than one device")
		default:
			named = field != "" && (key != "name" || !assigned || of != "")
		}
	}
	return nil
}
