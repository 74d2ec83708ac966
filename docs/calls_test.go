package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/agent/settings"
)

// TestDialects: the manual's call rules load, in every dialect, and its table has their strategies.
func TestDialects(t *testing.T) {
	var shown []string
	for _, b := range blocks(t, "dialects.md") {
		name, ok := b.notes["dialect"]
		if !ok {
			continue
		}
		if shown = append(shown, name); name == "native" && !strings.Contains(read(t, "../cmd/policyscan/testdata/script/every_command.txtar"), b.body()) {
			t.Errorf("%s: every_command.txtar tests other rules", b.place())
		}
		file := filepath.Join(t.TempDir(), "rules")
		if err := os.WriteFile(file, []byte(b.body()), 0o666); err != nil {
			t.Fatal(err)
		}
		set, err := dialect.Load("", file, name, map[string]string{"PWD": "/work"})
		if err != nil {
			t.Errorf("%s: %v", b.place(), err)
		} else if len(set.Rules) == 0 {
			t.Errorf("%s: no rule", b.place())
		}
	}
	sameNames(t, shown, dialect.Names())
	text := read(t, "dialects.md")
	for _, d := range dialect.Dialects() {
		row := "| [" + d.Name + "](#" + d.Name + ") | `" + string(d.Strategy) + "` |"
		if !strings.Contains(text, row) {
			t.Errorf("the table has no %s", row)
		}
		if !strings.Contains(text, "\n## "+d.Name+"\n") {
			t.Errorf("there is no section %s", d.Name)
		}
	}
}

// TestAgents: each agent has a section, with the file that hook install writes to.
func TestAgents(t *testing.T) {
	all := protocol.Agents()
	if len(all) != len(settings.Targets()) || len(all) < 5 {
		t.Fatalf("%d agents, %d settings", len(all), len(settings.Targets()))
	}
	text := read(t, "agents.md")
	for _, a := range all {
		cmd := exec.Command(program, "hook", "install", a.Name, "--print")
		cmd.Dir = t.TempDir()
		cmd.Env = environment(cmd.Dir)
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
			continue
		}
		file, _, _ := strings.Cut(string(out), "\n")
		_, section, _ := strings.Cut(text, "`policyscan hook install "+a.Name+"` writes ")
		if section, _, _ = strings.Cut(section, "\n### "); !strings.Contains(section, "`"+file+"`") {
			t.Errorf("the section of %s does not name %s", a.Name, file)
		}
	}
}

// TestGuarded: the manual names the guarded files.
func TestGuarded(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "agents.md"), "\n## What is guarded\n")
	for _, target := range settings.Targets() {
		if !strings.Contains(text, "`"+target.Project+"`") && !strings.Contains(text, "`"+filepath.ToSlash(filepath.Dir(target.Project))+"`") {
			t.Errorf("%s is guarded, and the manual does not say so", target.Project)
		}
	}
}
