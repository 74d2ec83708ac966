package naive

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
