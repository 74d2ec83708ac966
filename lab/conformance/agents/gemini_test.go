package agents

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/protocol"
)

// geminiSays runs a hook with Gemini's own runner and asks its own scheduler what becomes of the call; no
// model is needed for that. It prints what the scheduler says and what the hook was given.
const geminiSays = `
import { pathToFileURL } from 'node:url';
import { readFileSync } from 'node:fs';
const [core, command, cwd, input] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(core + '/dist/src/' + file).href);
const { HookRunner } = await load('hooks/hookRunner.js');
const { HookAggregator } = await load('hooks/hookAggregator.js');
const { evaluateBeforeToolHook } = await load('scheduler/hook-utils.js');
console.debug = console.warn = () => {};
const runner = new HookRunner({ isTrustedFolder: () => true, sanitizationConfig: {}, storage: { getPlansDir: () => cwd } });
const fireBeforeToolEvent = async (tool_name, tool_input) => {
  const event = { session_id: 's-1', transcript_path: cwd + '/t', cwd, hook_event_name: 'BeforeTool', timestamp: new Date().toISOString(), tool_name, tool_input };
  const result = await runner.executeHook({ type: 'command', command, timeout: 2000 }, 'BeforeTool', event);
  return new HookAggregator().aggregateResults([result], 'BeforeTool').finalOutput;
};
const config = { getHookSystem: () => ({ fireBeforeToolEvent }) };
const params = { command: 'touch made' };
const said = await evaluateBeforeToolHook(config, {}, { name: 'run_shell_command' }, { params });
console.log(JSON.stringify({ status: said.status, asks: said.hookDecision === 'ask', error: said.error?.message ?? '', input: readFileSync(input, 'utf8') }));
process.exit(0);
`

func TestGemini(t *testing.T) {
	asked(t)
	core := install(t, "@google/gemini-cli-core", geminiVersion)
	a := protocol.Named("gemini")
	e := &protocol.Event{}
	for _, x := range []exchange{
		none, noted, allow, deny, ask, unread, two, half,
		{"status 2 and nothing on standard error", fails(hook{status: 2}), true, ""},
		{"status 1", fails(hook{stderr: why, status: 1}), true, ""},
		{"no program", fails(hook{stderr: "not found", status: 127}), false, ""},
		{"too late", fails(hook{answer: a.Answer(nil, protocol.Decision{}), sleep: 4}), true, ""},
		{"no opinion, and more on standard error", func(a *protocol.Agent, e *protocol.Event) hook {
			return hook{answer: a.Answer(e, protocol.Decision{}), stderr: `{"decision":"deny","reason":"taken for the answer"}`}
		}, true, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := start(t, x.hook(a, e))
			script := filepath.Join(filepath.Dir(s.dir), "says.mjs")
			write(t, script, geminiSays)
			out, err := exec.Command("node", script, core, s.hook, s.dir, filepath.Join(filepath.Dir(s.dir), "input")).Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var said struct {
				Status, Error, Input string
				Asks                 bool
			}
			if err := json.Unmarshal(lastLine(out), &said); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if runs := said.Status == "continue"; runs != x.runs || said.Asks {
				t.Errorf("the call goes on: %v, asks: %v, want %v: %s", runs, said.Asks, x.runs, out)
			}
			if !x.runs && (!strings.HasPrefix(said.Error, "Tool execution blocked: ") || !strings.HasSuffix(said.Error, x.reason)) {
				t.Errorf("the model is told %q, not %q", said.Error, x.reason)
			}
			got, err := a.Read([]byte(said.Input))
			if err != nil || got.Call.Tool != "run_shell_command" || got.Call.Input.Member("command").Str() != "touch made" || got.Call.Dir != s.dir {
				t.Errorf("%v: %s", err, said.Input)
			}
		})
	}
}
