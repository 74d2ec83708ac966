package sigmashake

import (
	"errors"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/rules/document"
)

// 0-37 "Disabled by default (Fails Closed)", 0-38 "circuit_breaker = true under the [hook] block in config.toml",
// 0-41 "tty (default)", 0-44 "Configure per-project in .sigmashake/config.toml".
func TestRow_0_38_Config(t *testing.T) {
	for text, want := range map[string]Config{
		"":                              {AskMode: ask.TTY},
		"[hook]\n":                      {AskMode: ask.TTY},
		"[hook]\nask_mode = \"tty\"":    {AskMode: ask.TTY},
		"[hook]\r\nask_mode = \"tty\"":  {AskMode: ask.TTY},
		"hook.ask_mode = 'dashboard'":   {AskMode: ask.Dashboard},
		"hook.ask_mode = 'agent'":       {AskMode: ask.Agent},
		"hook = { ask_mode = \"tty\" }": {AskMode: ask.TTY},
		"[hook]\ncircuit_breaker = true # ask_mode = 1":           {AskMode: ask.TTY, CircuitBreaker: true},
		"[hook]\ncircuit_breaker = false":                         {AskMode: ask.TTY},
		"[serve]\nport = 1\ncircuit_breaker = true\n[[x]]\n[x.y]": {AskMode: ask.TTY},
		"[Hook]\ncircuit_breaker = true":                          {AskMode: ask.TTY},
		"circuit_breaker = true":                                  {AskMode: ask.TTY},
	} {
		if got, err := ReadConfig(&document.Source{Name: "config.toml", Text: []byte(text)}); err != nil ||
			got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[hook]\nask_mode = \"web\"":                           `config.toml:2: ask_mode = "web"; write "tty" or "agent"`,
		"[hook]\nask_mode = 1":                                 `config.toml:2: ask_mode is not a string; write "tty" or "agent"`,
		"\n[hook]\n\ncircuit_breaker = \"true\"":               `config.toml:4: circuit_breaker is not true or false; write true or false, without quotes`,
		"[hook]\ncircuit_breaker = 1":                          `config.toml:2: circuit_breaker is not true or false; write true or false, without quotes`,
		"[x]\na=1\n[hook]\nx = 1\nASK_MODE = \"tty\"":          "config.toml:4: \"x\" is not a key of [hook]; the keys are ask_mode and circuit_breaker\nconfig.toml:5: \"ASK_MODE\" is not a key of [hook]; the keys are ask_mode and circuit_breaker",
		"[hook]\n[hook.sub]\nx = 1":                            `config.toml:2: "sub" is not a key of [hook]; the keys are ask_mode and circuit_breaker`,
		"\nhook = { x = 1 }":                                   `config.toml:2: "x" is not a key of [hook]; the keys are ask_mode and circuit_breaker`,
		"\nhook = 1":                                           `config.toml:2: hook is not a table; write [hook] and its keys below it`,
		"\n[[hook]]\nask_mode = \"tty\"":                       `config.toml:2: hook is not a table; write [hook] and its keys below it`,
		"[hook]\nask_mode = \"tty\"\nask_mode = \"dashboard\"": `config.toml:3:1: it is not TOML: toml: key ask_mode is already defined`,
		"[hook]\nask_mode = tty":                               `config.toml:2:12: it is not TOML: `,
		"[hook]\nx = \"\xff\"":                                 `config.toml:2:6: a byte that is not UTF-8`,
	} {
		c, err := ReadConfig(&document.Source{Name: "config.toml", Text: []byte(text)})
		var errs document.Errors
		if !errors.As(err, &errs) || !strings.HasPrefix(err.Error(), want) || c != (Config{}) {
			t.Errorf("%q: %+v\n got  %v\n want %s", text, c, err, want)
		}
	}
}

// 0-44: "Override per-invocation with the --ask_mode flag"
func TestRow_0_44_AskMode(t *testing.T) {
	for text, want := range map[string]ask.Mode{"tty": ask.TTY, "agent": ask.Agent, "dashboard": ask.Dashboard, "TTY": "",
		"": "", "web": ""} {
		if got, err := parseMode(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
