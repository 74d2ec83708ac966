package claudecube

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/internal/late"
)

// suspect notes likely mistakes.
func (r *reader) suspect() {
	lines := map[string]int{}
	for i := range r.read {
		rule := &r.read[i]
		if first := lines[rule.name]; first > 0 {
			r.note(rule.at, "the rule %q has the same name as the rule in line %d; "+
				"outcomes show the name, so give each its own", rule.name, first)
		} else {
			lines[rule.name] = rule.at.Line
		}
		for _, tool := range rule.tools {
			r.suspectTool(rule, tool)
		}
		if len(rule.match) > 1 {
			r.note(rule.at, "the rule %q has several fields, of which any one is enough; "+
				"write a pattern of one field if all must match", rule.name)
		}
		for k := range rule.match {
			r.suspectField(rule, &rule.match[k])
		}
	}
	r.unreached()
	slices.SortStableFunc(r.set.Notes,
		func(a, b callrules.Note) int { return cmp.Compare(a.Origin.Line, b.Origin.Line) })
}

func (r *reader) suspectTool(rule *readRule, tool string) {
	if call.Known(tool).Same != "" || strings.HasPrefix(tool, "mcp_") {
		return
	}
	if slices.Contains(otherTools(), tool) {
		return
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(inputs())), otherTools()) {
		if strings.EqualFold(name, tool) {
			r.note(rule.at, "the rule %q is about %s, and the tool's name is %s", rule.name, tool, name)
			return
		}
	}
	r.note(rule.at, "the rule %q is about %s, which is not a known tool", rule.name, tool)
}

// otherTools are the tools of Claude Code, of several versions, whose fields are not listed.
func otherTools() []string {
	return strings.Fields(`Agent Artifact AskUserQuestion BashOutput CronCreate CronDelete CronList EnterPlanMode
	EnterWorktree ExitPlanMode ExitWorktree KillBash KillShell ListMcpResourcesTool LS LSP Monitor NotebookRead
	PowerShell PushNotification ReadMcpResourceTool RemoteTrigger SendMessage Skill SlashCommand TaskCreate TaskGet
	TaskList TaskOutput TaskStop TaskUpdate TeamCreate TeamDelete TodoRead TodoWrite ToolSearch WaitForMcpServers
	Workflow`)
}

// inputs are the fields of the tools of Claude Code; of Task they are not listed.
func inputs() map[string][]string {
	return map[string][]string{
		"Bash":         {"command", "description", "timeout", "run_in_background"},
		"Read":         {"file_path", "offset", "limit", "pages"},
		"Write":        {"file_path", "content"},
		"Edit":         {"file_path", "old_string", "new_string", "replace_all"},
		"MultiEdit":    {"file_path", "edits"},
		"NotebookEdit": {"notebook_path", "new_source", "cell_id", "cell_type", "edit_mode"},
		"Glob":         {"pattern", "path"},
		"Grep": {"pattern", "path", "glob", "type", "output_mode", "multiline", "head_limit", "offset",
			"-A", "-B", "-C", "-i", "-n"},
		"WebFetch":  {"url", "prompt"},
		"WebSearch": {"query", "allowed_domains", "blocked_domains"},
		"Task":      nil,
	}
}

func (r *reader) suspectField(rule *readRule, f *field) {
	first, _, _ := strings.Cut(f.name, ".")
	there := false
	var all []string
	known := inputs()
	for _, tool := range rule.tools {
		list := known[tool]
		there = there || list == nil || slices.Contains(list, first)
		for _, name := range list {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	if !there {
		r.note(f.at, "the rule %q asks for %s, which no use of %s has; they have %s", rule.name, f.name,
			strings.Join(rule.tools, " or "), strings.Join(all, ", "))
	}
	for i := range f.patterns {
		p := &f.patterns[i]
		if found := suspectPattern(rule, f.name, p); found != "" {
			r.note(p.at, "the rule %q, the field %s, the %s %q: %s", rule.name, f.name, p.kind, p.text, found)
		}
	}
}

var longRange = late.Regexp(`\{(?:\w\w+\.\.\w+|\w+\.\.\w\w+)\}`)

func suspectPattern(rule *readRule, field string, p *pattern) string {
	paths := field == "file_path" || field == "notebook_path" || field == "path"
	allows := rule.effect == callrules.Allow
	switch {
	case strings.HasSuffix(p.text, "\n"):
		return `it ends with a line feed; write it after the colon, or with "|-"`
	case p.kind == "literal" && looksLikeExpression(p.text):
		return `the whole value must be this text; write "type: regex" or "type: glob" if it is one`
	case p.kind == "regex" && p.text == "":
		return "it matches every value"
	case p.kind == "glob" && strings.Contains(p.text, "[!"):
		return `in micromatch "[!a]" is "!" or "a"; write "[^a]" for another character than "a"`
	case p.kind == "glob" && longRange().MatchString(p.text):
		return `in micromatch "{1..12}" is one character, "1" or "2"; write the alternatives, as in "{9,10,11}"`
	case p.kind == "glob" && strings.HasPrefix(p.text, "!") && allows:
		return "it allows every value that the glob behind the ! does not match; write what is allowed"
	case p.kind == "glob" && !rule.stricter && strings.ContainsAny(p.text, "*?["):
		return "a wildcard does not begin a name with a dot, as in micromatch" + relative(paths, p.text)
	case p.kind == "glob" || p.kind == "literal":
		if found := relative(paths, p.text); found != "" {
			return found[2:]
		}
		if p.kind == "literal" && rule.effect == callrules.Deny && field == "command" {
			return "the command with one more space is not denied; write a regex"
		}
	case p.kind == "regex" && paths && len(p.text) > 1 && p.text[0] == '^' &&
		(p.text[1] == '_' || 'a' <= p.text[1]|0x20 && p.text[1]|0x20 <= 'z'):
		return "agents give absolute paths, which begin differently; write (^|/) for ^"
	case p.kind == "regex" && field == "command" && allows && !strings.HasPrefix(p.text, "^"):
		return "it is found anywhere in a command, so whatever comes before it is allowed too; begin it with ^"
	case p.kind == "regex" && field == "command" && allows && !strings.HasSuffix(p.text, "$"):
		return fmt.Sprintf("whatever follows in a command is allowed too, as in \"...; rm -rf .\"; end it with %s",
			`[^;&|<>$()\x60\n]*$`)
	}
	return ""
}

// relative is "; ..." about a path that is not absolute, or "".
func relative(paths bool, text string) string {
	text, negated := strings.CutPrefix(text, "!")
	if !paths || text == "" || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "**") {
		return ""
	}
	if negated {
		return "; agents give absolute paths, which it all matches; begin it with !/ or !**/"
	}
	return "; agents give absolute paths, which it does not match; begin it with / or **/"
}

func looksLikeExpression(text string) bool {
	parts := []string{".*", ".+", `\s`, `\.`, `\b`, `\d`, `\w`, "**", "*.", "/*", "(?:"}
	return strings.HasPrefix(text, "^") || strings.HasSuffix(text, "$") ||
		slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// unreached notes rules before which another one decides about all of their tools.
func (r *reader) unreached() {
	every := map[string]*readRule{} // the rule that decides about every use of a tool
	for _, effect := range []callrules.Effect{callrules.Deny, callrules.Allow, callrules.Ask} {
		for i := range r.read {
			rule := &r.read[i]
			if rule.effect != effect {
				continue
			}
			var before *readRule
			for _, tool := range rule.tools {
				if before = every[tool]; before == nil {
					break
				}
			}
			if before != nil {
				r.note(rule.at, "the rule %q never decides: %q, in line %d, comes first and matches every use of %s",
					rule.name, before.name, before.at.Line, rule.tools[len(rule.tools)-1])
			}
			for _, tool := range rule.tools {
				if rule.match == nil && every[tool] == nil {
					every[tool] = rule
				}
			}
		}
	}
}
