package doctor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
)

// A plant is a new file that would violate a rule.
type plant struct{ rule, path, content string }

// maxPlants is how many are tried.
const maxPlants = 50

// plants are the examples of a bundle's rules that violate them, and files made of a rule's globs and literals.
func plants(b *rules.Bundle, root string) []plant {
	var examples, made []plant
	for i := range b.Rules {
		r := &b.Rules[i]
		for _, x := range r.Examples {
			if x.Violates {
				examples = append(examples, plant{r.ID, x.Path, x.Content})
			}
		}
		for _, name := range append(slices.Clone(r.ForbiddenFiles), r.Files...) {
			path, content := pathOf(name), "planted by policyscan hook doctor\n"
			for _, p := range r.Patterns {
				if p.Kind == rules.Text {
					content += p.Text + "\n"
				}
			}
			made = append(made, plant{r.ID, path, content})
		}
	}
	all := append(examples, made...)
	return slices.DeleteFunc(all, func(p plant) bool {
		_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(p.path)))
		return !os.IsNotExist(err)
	})
}

// pathOf returns a path that a glob mostly matches.
func pathOf(glob string) string {
	for {
		begin, rest, is := strings.Cut(glob, "{")
		choice, end, closed := strings.Cut(rest, "}")
		if !is || !closed {
			break
		}
		first, _, _ := strings.Cut(choice, ",")
		glob = begin + first + end
	}
	return strings.NewReplacer("**/", "", "**", "policyscan-doctor", "*", "policyscan-doctor", "?", "x").Replace(glob)
}

// A tool is one of an agent's, and its input.
type tool struct {
	name  string
	input map[string]any
}

// edits are calls that write a new file, one for each tool that does.
func edits(agent, path, content string) []tool {
	edit := func(name string) tool {
		return tool{name, map[string]any{"file_path": path, "old_string": "", "new_string": content}}
	}
	switch agent {
	case "codex":
		patch := "*** Begin Patch\n*** Add File: " + path + "\n"
		for line := range strings.SplitSeq(strings.TrimSuffix(content, "\n"), "\n") {
			patch += "+" + line + "\n"
		}
		return []tool{{"apply_patch", map[string]any{"command": patch + "*** End Patch\n"}}}
	case "gemini":
		return []tool{{"write_file", map[string]any{"file_path": path, "content": content}}, edit("replace")}
	case "copilot":
		return []tool{{"create", map[string]any{"path": path, "file_text": content}}}
	}
	write := tool{"Write", map[string]any{"file_path": path, "content": content}}
	if agent == "cursor" {
		return []tool{write}
	}
	return []tool{write, edit("Edit")}
}

// harmless is a command that changes nothing.
func harmless(agent string) tool {
	name := map[string]string{"gemini": "run_shell_command", "copilot": "bash", "cursor": "Shell"}[agent]
	if name == "" {
		name = "Bash"
	}
	return tool{name, map[string]any{"command": "echo policyscan hook doctor"}}
}

// payload is what an agent gives its hook before such a call.
func payload(agent, event, dir string, t tool) string {
	in := map[string]any{"hook_event_name": event, "session_id": session, "cwd": dir, "tool_name": t.name,
		"tool_input": t.input}
	switch agent {
	case "copilot":
		in = map[string]any{"sessionId": session, "cwd": dir, "toolName": t.name, "toolArgs": t.input}
	case "cursor":
		in["conversation_id"], in["workspace_roots"] = session, []string{dir}
	}
	text, err := json.Marshal(in)
	if err != nil { // strings: it cannot be
		panic(err)
	}
	return string(text)
}

const session = "policyscan-doctor"

// permission is what an answer permits, in a word, by the member of any agent.
func permission(answer string) string {
	for _, name := range []string{"permissionDecision", "decision", "permission"} {
		if _, value, is := strings.Cut(answer, `"`+name+`":"`); is {
			word, _, _ := strings.Cut(value, `"`)
			return word
		}
	}
	return "no opinion"
}
