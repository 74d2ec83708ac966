// Command sbom writes the bill of materials of a Go program, as recorded in the binary:
//
//	go run ./.ci/sbom PROGRAM FILE
//
// The form is CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). The modules are those
// that the linker recorded, the Go toolchain's standard library among them. There is no
// clock and no serial number in it: the same program gives the same bytes, and the time
// is that of the commit.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

type bom struct {
	Schema       string       `json:"$schema"`
	BomFormat    string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp,omitempty"` // RFC 3339
	Component component `json:"component"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Purl       string     `json:"purl"` // https://github.com/package-url/purl-spec
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"` // hexadecimal
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("call it as sbom PROGRAM FILE"))
	}
	info, err := buildinfo.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	program, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	text, err := json.MarshalIndent(list(info, program), "", "  ")
	if err != nil {
		fail(err)
	}
	if err := os.WriteFile(os.Args[2], append(text, '\n'), 0o644); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "sbom:", err)
	os.Exit(1)
}

// list is the bill of a program.
func list(info *debug.BuildInfo, program []byte) bom {
	sum := sha256.Sum256(program)
	main := module(&info.Main)
	main.Type = "application"
	main.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum[:])}}
	main.Licenses = make([]license, 1)
	main.Licenses[0].License.ID = "Apache-2.0"

	b := bom{
		Schema:      "http://cyclonedx.org/schema/bom-1.6.schema.json",
		BomFormat:   "CycloneDX",
		SpecVersion: "1.6",
		Version:     1,
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.time":
			b.Metadata.Timestamp = s.Value
		case "GOOS", "GOARCH", "CGO_ENABLED", "-trimpath", "vcs.revision", "vcs.modified":
			main.Properties = append(main.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	b.Metadata.Component = main

	version := strings.TrimPrefix(info.GoVersion, "go")
	b.Components = []component{{Type: "library", Name: "std", Version: version, Purl: "pkg:golang/std@" + version}}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		b.Components = append(b.Components, module(dep))
	}
	for i := range b.Components {
		b.Components[i].Ref = b.Components[i].Purl
	}
	slices.SortFunc(b.Components, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })

	// The program's record does not say which module needs which: all are the program's.
	all := dependency{Ref: main.Ref}
	for _, c := range b.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	b.Dependencies = []dependency{all}
	return b
}

// module is a module. Its sum is Go's own (a hash over the hashes of its files, as in
// go.sum), which is none of the hashes that CycloneDX knows.
func module(m *debug.Module) component {
	purl := "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	c := component{Ref: purl, Type: "library", Name: m.Path, Version: m.Version, Purl: purl}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
