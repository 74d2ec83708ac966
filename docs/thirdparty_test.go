package docs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// noticesFile holds the licences of everything linked into a release's programs. Archives, packages and the image
// include it: the licences require that users of the program get them, and MPL-2.0 requires the address of the source.
const noticesFile = "../THIRD-PARTY.txt"

// licenceFile matches the names of files that must be distributed.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// kinds identify a licence by a phrase of its text. The first match counts.
var kinds = []struct{ phrase, name string }{
	{"Mozilla Public License, version 2.0", "MPL-2.0"},
	{"Apache License Version 2.0, January 2004", "Apache-2.0"},
	{"covered by two different licenses: MIT and Apache", "MIT and Apache-2.0"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Neither the name of", "BSD-3-Clause"},
	{"Redistributions in binary form must reproduce", "BSD-2-Clause"},
}

// A module that the program is linked from, or Go itself.
type module struct {
	path, version string
	texts         []notice
}

// A notice is a licence, or a file that belongs to one.
type notice struct {
	name string // of its file, from the module's directory
	text string // lines end in LF, without spaces at their ends
}

func (m *module) title() string {
	if m.version == "" {
		return m.path
	}
	return m.path + " " + m.version
}

// kind returns the name of the module's licence.
func (m *module) kind(t *testing.T) string {
	t.Helper()
	for _, k := range kinds {
		for _, n := range m.texts {
			if strings.Contains(strings.Join(strings.Fields(n.text), " "), k.phrase) {
				return k.name
			}
		}
	}
	t.Fatalf("%s has a licence that this test does not know; read it, and add it to kinds", m.path)
	return ""
}

// source returns the address of the module's source, at the version used: Go's proxy keeps it forever.
func (m *module) source() string {
	if m.version == "" {
		return "https://go.dev/dl/"
	}
	escaped := regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(m.path, func(s string) string { return "!" + strings.ToLower(s) })
	return "https://proxy.golang.org/" + escaped + "/@v/" + m.version + ".zip"
}

// read adds the licence files of a directory of the module, which is in root.
func (m *module) read(t *testing.T, root, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		if entry.IsDir() || !licenceFile.MatchString(entry.Name()) {
			continue
		}
		file := filepath.Join(dir, entry.Name())
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(read(t, file)) {
			lines = append(lines, strings.TrimRight(line, " \t\r\n\f"))
		}
		n := notice{filepath.ToSlash(name), strings.Trim(strings.Join(lines, "\n"), "\n")}
		if !slices.Contains(m.texts, n) {
			m.texts = append(m.texts, n)
		}
	}
}

// linked returns the modules linked into the programs of a release, sorted, after Go itself.
func linked(t *testing.T) []*module {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSpace(string(out))
	standard := &module{path: "Go, its standard library and runtime"}
	if standard.read(t, root, root); len(standard.texts) == 0 {
		t.Skip("SKIPPED: this Go came without its licence")
	}
	known := map[string]*module{}
	platforms := []string{"linux/amd64", "darwin/arm64", "windows/amd64"}
	if *long || *update {
		platforms = append(platforms, "linux/arm64", "darwin/amd64", "windows/arm64")
	}
	for _, platform := range platforms {
		system, arch, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/policyscan")
		cmd.Dir = ".."
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(platform, err)
		}
		for line := range strings.Lines(string(out)) {
			cells := strings.Split(strings.TrimSpace(line), "\t")
			if len(cells) != 4 {
				t.Fatalf("%q", line)
			}
			m := known[cells[0]]
			if m == nil {
				m = &module{path: cells[0], version: cells[1]}
				known[m.path] = m
			}
			// The directory of the package and its parents: a part of a module may have its own licence.
			for dir := cells[3]; len(dir) >= len(cells[2]); dir = filepath.Dir(dir) {
				m.read(t, cells[2], dir)
			}
		}
	}
	if len(known) < 15 {
		t.Fatalf("the program is linked from %d modules", len(known))
	}
	all := []*module{standard}
	for _, m := range known {
		slices.SortFunc(m.texts, func(a, b notice) int { return strings.Compare(a.name, b.name) })
		all = append(all, m)
	}
	slices.SortFunc(all[1:], func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return all
}

// notices returns the text of noticesFile.
func notices(t *testing.T, all []*module) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`The program policyscan contains code of the projects listed here, unchanged.
Its own licence is in LICENSE.
Below each name is the address of the source as it was used. The source of the modules under MPL-2.0 is at the same addresses:
it is free of charge, and under the terms of MPL-2.0.
The texts of the licences follow, each text once.

`)
	type section struct {
		titles []string
		text   string
	}
	var sections []*section
	for _, m := range all {
		fmt.Fprintf(&b, "%s: %s\n    %s\n", m.title(), m.kind(t), m.source())
		for _, n := range m.texts {
			i := slices.IndexFunc(sections, func(s *section) bool { return s.text == n.text })
			if i < 0 {
				i = len(sections)
				sections = append(sections, &section{text: n.text})
			}
			sections[i].titles = append(sections[i].titles, m.title()+", "+n.name)
		}
	}
	for _, s := range sections {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(s.titles, "\n"), strings.Repeat("-", 80), s.text)
	}
	return b.String()
}

// TestThirdParty: the file of licences names each linked module, with its version, source and licence. go test ./docs
// -run TestThirdParty -update writes it.
func TestThirdParty(t *testing.T) {
	all := linked(t)
	for _, m := range all {
		if len(m.texts) == 0 {
			t.Errorf("%s has no licence", m.path)
		}
	}
	want := notices(t, all)
	if *update {
		if err := os.WriteFile(noticesFile, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := read(t, noticesFile); got != want {
		for line := range strings.Lines(want) {
			if !strings.Contains(got, line) {
				t.Errorf("missing: %s", line)
			}
		}
		t.Errorf("%s is not what the program is linked from; write it again: go test ./docs -run TestThirdParty -update", noticesFile)
	}
}

// TestThirdPartyIsReleased: every distribution of the program includes the file of licences.
func TestThirdPartyIsReleased(t *testing.T) {
	name := filepath.Base(noticesFile)
	for file, atLeast := range map[string]int{
		"../.goreleaser.yaml": 5, // the archives, three kinds of package, the image
		"../Dockerfile":       1,
	} {
		if n := strings.Count(read(t, file), name); n < atLeast {
			t.Errorf("%s names %s %d times; there were to be %d at least", file, name, n, atLeast)
		}
	}
}
