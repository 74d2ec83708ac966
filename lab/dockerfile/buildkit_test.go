package dockerfile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
)

// An oracle makes of BuildKit's instructions what the manual says of them.
type oracle struct {
	ast    *parser.Node
	lexer  *shell.Lex
	args   []any
	stages []*oracleStage
}

type oracleStage struct {
	name         string
	all, inForce map[string]any
}

func newOracle(text []byte) (*oracle, error) {
	result, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r := &oracle{ast: result.AST, lexer: shell.NewLex(result.EscapeToken)}
	r.lexer.SkipUnsetEnv = true
	_, _, err = instructions.Parse(result.AST, nil)
	return r, err
}

func (r *oracle) add(node *parser.Node) error {
	parsed, err := instructions.ParseInstruction(node)
	if err != nil {
		return err
	}
	if stage, ok := parsed.(*instructions.Stage); ok {
		return r.from(node, stage)
	}
	kind := strings.ToLower(node.Value)
	value, err := r.value(node, parsed, false)
	if err != nil {
		return err
	}
	if len(r.stages) == 0 {
		r.args = append(r.args, value)
		return nil
	}
	s := r.stages[len(r.stages)-1]
	list, _ := s.all[kind].([]any)
	s.all[kind] = append(list, value)
	if slices.Contains(inForce, kind) {
		s.inForce[kind] = value
	}
	if kind == "entrypoint" && s.all["cmd"] == nil {
		delete(s.inForce, "cmd")
	}
	return nil
}

func (r *oracle) from(node *parser.Node, stage *instructions.Stage) error {
	from, name, err := r.reference(stage.BaseName, -1)
	if err != nil {
		return err
	}
	s := &oracleStage{stage.Name, map[string]any{"from": from}, map[string]any{}}
	for _, earlier := range r.stages {
		if earlier.name != "" && strings.EqualFold(earlier.name, name) {
			s.inForce = maps.Clone(earlier.inForce)
		}
	}
	if err := r.flags(node, from, "platform"); err != nil {
		return err
	}
	if stage.Name != "" {
		from["as"] = node.Next.Next.Next.Value
	}
	r.stages = append(r.stages, s)
	return nil
}

// reference splits the name of an image; copying is the number of the stage that copies from it.
func (r *oracle) reference(raw string, copying int) (m map[string]any, name string, err error) {
	name, expanded, err := r.lex(raw)
	if err != nil {
		return nil, "", err
	}
	if expanded {
		for _, part := range []string{"image", "tag", "digest", "stage"} {
			if m == nil {
				m = map[string]any{}
			}
			m[part] = variable(name)
		}
		return m, "", nil
	}
	found := -1
	for n, s := range r.stages {
		if s.name != "" && strings.EqualFold(s.name, name) {
			found = n
		}
	}
	if copying >= 0 {
		if n, err := strconv.Atoi(name); err == nil {
			found = n
		}
		if found >= copying {
			found = -1
		}
	}
	if found >= 0 {
		return map[string]any{"image": name, "stage": "true"}, name, nil
	}
	m = map[string]any{}
	image, digest, _ := strings.Cut(name, "@")
	slash := strings.LastIndex(image, "/")
	if colon := strings.LastIndex(image, ":"); colon > slash {
		if tag := image[colon+1:]; tag != "" {
			m["tag"] = tag
		}
		image = image[:colon]
	}
	if m["image"] = image; digest != "" {
		m["digest"] = digest
	}
	return m, name, nil
}

// lex is BuildKit's lexer without any variable set.
func (r *oracle) lex(text string) (string, bool, error) {
	result, err := r.lexer.ProcessWordWithMatches(text, noVariables{})
	return result.Result, strings.Contains(text, "$"), err
}

type noVariables struct{}

func (noVariables) Get(string) (string, bool) { return "", false }
func (noVariables) Keys() []string            { return nil }

func (r *oracle) text(text string) (string, error) {
	plain, expanded, err := r.lex(text)
	if expanded {
		plain = variable(plain)
	}
	return plain, err
}

func (r *oracle) texts(all []string) (list []any, err error) {
	list = []any{}
	for _, text := range all {
		plain, err := r.text(text)
		if err != nil {
			return nil, err
		}
		list = append(list, plain)
	}
	return list, nil
}

// flags adds those of a node to a mapping. expanded are the names of those in which variables count.
func (r *oracle) flags(node *parser.Node, m map[string]any, expanded ...string) error {
	for _, f := range node.Flags {
		name, value, assigned := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		switch {
		case name == "from":
		case slices.Contains(expanded, name):
			text, err := r.text(value)
			if err != nil {
				return err
			}
			m[name] = text
		case slices.Contains([]string{"mount", "device", "exclude"}, name):
			if name == "mount" && strings.Contains(value, "$") {
				value = variable(value)
			}
			list, _ := m[name].([]any)
			m[name] = append(list, value)
		case slices.Contains([]string{"link", "keep-git-dir", "unpack", "parents"}, name):
			if m[name] = strings.ToLower(value); !assigned {
				m[name] = "true"
			}
		default:
			m[name] = value
		}
	}
	return nil
}

func (r *oracle) pairs(m map[string]any, name string, value *string) error {
	plain, err := r.text(name)
	if err != nil {
		return err
	}
	if _, again := m[plain]; again {
		plain = fmt.Sprint(plain, "#", len(m))
	}
	if m[plain] = any(nil); value != nil {
		m[plain], err = r.text(*value)
	}
	return err
}

func command(c instructions.ShellDependantCmdLine) any {
	if !c.PrependShell {
		list := []any{}
		for _, word := range c.CmdLine {
			list = append(list, word)
		}
		return list
	}
	text := strings.Join(c.CmdLine, " ")
	for n, f := range c.Files {
		data := f.Data
		if f.Chomp {
			data = parser.ChompHeredocContent(data)
		}
		if n == 0 {
			text += "\n"
		}
		text += data
	}
	return text
}

func (r *oracle) copying(node *parser.Node, c instructions.SourcesAndDest, heredocs []parser.Heredoc) (
	m map[string]any, err error,
) {
	m = map[string]any{}
	if len(c.SourcePaths) > 0 {
		if m["sources"], err = r.texts(c.SourcePaths); err != nil {
			return nil, err
		}
	}
	if m["to"], err = r.text(c.DestPath); err != nil {
		return nil, err
	}
	var contents []any
	for _, h := range heredocs {
		if h.Chomp {
			h.Content = parser.ChompHeredocContent(h.Content)
		}
		contents = append(contents, h.Content)
	}
	if contents != nil {
		m["content"] = contents
	}
	return m, r.flags(node, m, "chown", "chmod", "checksum")
}

// value is what an instruction says. triggered is set in ONBUILD.
func (r *oracle) value(node *parser.Node, parsed any, triggered bool) (any, error) {
	m := map[string]any{}
	switch c := parsed.(type) {
	case *instructions.RunCommand:
		m["command"] = command(c.ShellDependantCmdLine)
		return m, r.flags(node, m)
	case *instructions.CmdCommand:
		m["command"] = command(c.ShellDependantCmdLine)
	case *instructions.EntrypointCommand:
		m["command"] = command(c.ShellDependantCmdLine)
	case *instructions.ShellCommand:
		list := []any{}
		for _, word := range c.Shell {
			list = append(list, word)
		}
		m["command"] = list
	case *instructions.HealthCheckCommand:
		switch test := c.Health.Test; test[0] {
		case "NONE":
			m["none"] = "true"
		case "CMD-SHELL":
			m["command"] = test[1]
			return m, r.flags(node, m)
		default:
			list := []any{}
			for _, word := range test[1:] {
				list = append(list, word)
			}
			m["command"] = list
			return m, r.flags(node, m)
		}
	case *instructions.AddCommand:
		return r.copying(node, c.SourcesAndDest, node.Heredocs)
	case *instructions.CopyCommand:
		m, err := r.copying(node, c.SourcesAndDest, node.Heredocs)
		if err == nil && c.From != "" {
			stage := len(r.stages) - 1
			if triggered {
				stage = 0
			}
			m["from"], _, err = r.reference(c.From, stage)
		}
		return m, err
	case *instructions.EnvCommand:
		for _, p := range c.Env {
			if err := r.pairs(m, p.Key, &p.Value); err != nil {
				return nil, err
			}
		}
	case *instructions.LabelCommand:
		for _, p := range c.Labels {
			if err := r.pairs(m, p.Key, &p.Value); err != nil {
				return nil, err
			}
		}
	case *instructions.ArgCommand:
		for _, p := range c.Args {
			if err := r.pairs(m, p.Key, p.Value); err != nil {
				return nil, err
			}
		}
	case *instructions.UserCommand:
		return r.text(c.User)
	case *instructions.WorkdirCommand:
		return r.text(c.Path)
	case *instructions.StopSignalCommand:
		return r.text(c.Signal)
	case *instructions.MaintainerCommand:
		return c.Maintainer, nil
	case *instructions.VolumeCommand:
		return r.texts(nodeTexts(node))
	case *instructions.ExposeCommand:
		list := []any{}
		for _, port := range nodeTexts(node) {
			result, err := r.lexer.ProcessWordWithMatches(port, noVariables{})
			if err != nil {
				return nil, err
			}
			for _, word := range result.Words {
				if strings.Contains(port, "$") {
					word = variable(word)
				}
				list = append(list, word)
			}
		}
		return list, nil
	case *instructions.OnbuildCommand:
		inner := node.Next.Children[0]
		inner.Heredocs = node.Heredocs
		command, err := instructions.ParseInstruction(inner)
		if err != nil {
			return nil, err
		}
		value, err := r.value(inner, command, true)
		m[strings.ToLower(inner.Value)] = value
		return m, err
	}
	return m, nil
}

// nodeTexts are the arguments in the order of the file.
func nodeTexts(node *parser.Node) (all []string) {
	for n := node.Next; n != nil; n = n.Next {
		all = append(all, n.Value)
	}
	return all
}
