package sigmashake

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
)

const (
	Dialect    = "sigmashake"              // its name
	ConfigFile = ".sigmashake/config.toml" // where the settings are, from the root of the project
)

// A Config is the table [hook] of .sigmashake/config.toml.
type Config struct {
	AskMode        ask.Mode // ask.TTY by default
	CircuitBreaker bool     // whether the call after five denied ones in a row is allowed; by default it is not
}

// LoadConfig reads the settings of the project in root. Messages call the file shown. Without the file, the settings
// are the defaults, and there is false.
func LoadConfig(root, shown string) (c Config, there bool, err error) {
	name := filepath.Join(root, filepath.FromSlash(ConfigFile))
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return Config{AskMode: ask.TTY}, false, nil
	}
	src, err := rules.ReadSource(name, shown)
	if err != nil {
		return Config{}, true, err
	}
	c, err = ReadConfig(src)
	return c, true, err
}

// ReadConfig reads .sigmashake/config.toml. An unknown key in the table [hook] is an error; the other tables belong
// to other parts of SigmaShake, and are ignored. An empty file has the defaults. It fails with [document.Errors].
func ReadConfig(src *document.Source) (Config, error) {
	c := Config{AskMode: ask.TTY}
	if err := src.Check(); err != nil {
		return Config{}, document.Errors{err}
	}
	var file map[string]any
	if err := toml.Unmarshal(src.Text, &file); err != nil {
		row, column := 0, 0
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, column = at.Position()
			err = at
		}
		return Config{}, document.Errors{src.ErrorAt(document.CodeSyntax, row, column,
			"it is not TOML: "+err.Error(), "write it as TOML")}
	}
	value, there := file["hook"]
	if !there {
		return c, nil
	}
	hook, ok := value.(map[string]any)
	lines := keyLines(src.Text)
	if !ok {
		return Config{}, document.Errors{src.ErrorAt(document.CodeType, lines[""], 0, "hook is not a table",
			"write [hook] and its keys below it")}
	}
	var errs document.Errors
	for _, key := range slices.Sorted(maps.Keys(hook)) {
		fail := func(code, found, fix string) {
			errs = append(errs, src.ErrorAt(code, cmp.Or(lines[key], lines[""]), 0, found, fix))
		}
		switch value := hook[key]; key {
		case "ask_mode":
			const fix = `write "tty", "dashboard" or "agent"`
			text, ok := value.(string)
			c.AskMode = ask.Mode(text)
			if !ok {
				fail(document.CodeType, "ask_mode is not a string", fix)
			} else if !slices.Contains([]ask.Mode{ask.TTY, ask.Agent, ask.Dashboard}, c.AskMode) {
				fail(document.CodeValue, fmt.Sprintf("ask_mode = %q", text), fix)
			}
		case "circuit_breaker":
			if c.CircuitBreaker, ok = value.(bool); !ok {
				fail(document.CodeType, "circuit_breaker is not true or false", "write true or false, without quotes")
			}
		default:
			fail(document.CodeKey, fmt.Sprintf("%q is not a key of [hook]", key),
				"the keys are ask_mode and circuit_breaker")
		}
	}
	if errs != nil {
		slices.SortStableFunc(errs, func(a, b *document.Error) int { return cmp.Compare(a.Line, b.Line) })
		return Config{}, errs
	}
	return c, nil
}

// keyLines are the lines of [hook]'s keys in valid TOML, and at "" its own: the decoder reports positions only of
// keys that are unknown, and not of keys in braces.
func keyLines(text []byte) map[string]int {
	lines := map[string]int{}
	for _, to := range []any{&struct{}{}, &struct {
		Hook struct{} `toml:"hook"`
	}{}} {
		var unknown *toml.StrictMissingError
		err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(to)
		if !errors.As(err, &unknown) {
			continue
		}
		for _, e := range unknown.Errors {
			key := e.Key()
			if len(key) == 0 || key[0] != "hook" {
				continue
			}
			key = append(key, "")
			if lines[key[1]] == 0 {
				lines[key[1]], _ = e.Position()
			}
		}
	}
	return lines
}
