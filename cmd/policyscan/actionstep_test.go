package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A step is one of a workflow that runs policyscan action, with the repository of a gitRepo
// checked out and the files that GitHub's runner hands to a step.
type step struct {
	*gitRepo
	event string // GITHUB_EVENT_NAME
	env   []string
}

// newStep returns a step for an event: its payload, and the commit that GITHUB_SHA names.
func newStep(g *gitRepo, event, payload, sha string) *step {
	g.t.Helper()
	g.write("temp/event.json", payload)
	return &step{gitRepo: g, event: event, env: []string{"GITHUB_SHA=" + sha}}
}

// defaults are the inputs of action.yml that the step has when a workflow gives none.
func defaults(t testing.TB) map[string]string {
	t.Helper()
	inputs := map[string]string{}
	for _, p := range actionFile(t).Inputs {
		inputs[p.name] = p.Default
	}
	return inputs
}

// A result is what the runner has after a step.
type result struct {
	ending
	outputs map[string]string
	summary string
}

// claimsPass reports whether anything that a person reads says PASS.
func (r result) claimsPass() bool {
	return strings.Contains(strings.ReplaceAll(r.out+r.err+r.summary, "not a PASS", ""), "PASS")
}

// summaryBefore is what the step finds in its files.
const summaryBefore = "# of another step\n"

// act runs the step with inputs besides the defaults. Each is a name, "=" and a value.
func (s *step) act(inputs ...string) result {
	s.t.Helper()
	s.write("temp/summary", summaryBefore)
	s.write("temp/output", "before=1\n")
	values := defaults(s.t)
	values["policy"] = "../policy"
	for _, in := range inputs {
		name, value, _ := strings.Cut(in, "=")
		values[name] = value
	}
	p := s.program
	p.dir = s.path("")
	temp := filepath.Join(s.dir, "temp")
	p.env = []string{
		"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=" + s.event, "GITHUB_EVENT_PATH=" + filepath.Join(temp, "event.json"),
		"GITHUB_OUTPUT=" + filepath.Join(temp, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "RUNNER_TEMP=" + temp,
	}
	for name, value := range values {
		p.env = append(p.env, "INPUT_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"="+value)
	}
	p.env = append(p.env, s.env...)
	r := result{ending: p.run("action"), summary: s.read("temp/summary")}
	r.outputs = stepOutputs(s.t, s.read("temp/output"))
	return r
}

func (p program) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// stepOutputs reads a GITHUB_OUTPUT file as the runner does (actions/runner,
// FileCommandManager): NAME=VALUE, or NAME<<DELIMITER and lines up to one that is it.
func stepOutputs(t testing.TB, text string) map[string]string {
	t.Helper()
	outputs := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		equals, heredoc := strings.Index(lines[i], "="), strings.Index(lines[i], "<<")
		if equals >= 0 && (heredoc < 0 || equals < heredoc) {
			outputs[lines[i][:equals]] = lines[i][equals+1:]
			continue
		}
		if heredoc < 0 {
			t.Fatalf("no output: %q", lines[i])
		}
		name, delimiter := lines[i][:heredoc], lines[i][heredoc+2:]
		var value []string
		for i++; i < len(lines) && lines[i] != delimiter; i++ {
			value = append(value, lines[i])
		}
		if i == len(lines) {
			t.Fatalf("the output %s is not ended", name)
		}
		outputs[name] = strings.Join(value, "\n")
	}
	return outputs
}

// want fails unless the step ended so, its outputs are as verdict.json has them, and its
// summary and annotations are those of that verdict. saying is in the words of the scripts'
// verdict command.
func (s *step) want(r result, status int, saying string) {
	s.t.Helper()
	r.ending.want(s.t, status)
	file := r.outputs["verdict-file"]
	if file == "" {
		s.t.Fatalf("there is no verdict: %q\n%s%s", r.outputs, r.out, r.err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	v, err := readVerdict(text)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := strings.Join(summaryOf(v), " "); got != saying {
		s.t.Errorf("the verdict is %s, want %s\n%s%s", got, saying, r.out, r.err)
	}
	for name, want := range map[string]string{
		"before": "1", "verdict": string(v.Verdict.Verdict), "complete": fmt.Sprint(v.Complete), "exit-code": fmt.Sprint(status),
		"violations": fmt.Sprint(len(v.Violations)), "files-scanned": fmt.Sprint(v.Coverage.Scanned),
		"base-sha": v.Scope.BaseCommit, "head-sha": v.Scope.HeadCommit, "scope": v.Scope.Mode,
	} {
		if got, ok := r.outputs[name]; got != want || !ok {
			s.t.Errorf("the output %s is %q, want %q", name, got, want)
		}
	}
	s.wantTold(r, file)
}

// wantTold fails unless the summary and what is printed are the reports of a verdict.
func (s *step) wantTold(r result, file string) {
	s.t.Helper()
	if want := summaryBefore + s.run("report", file, "--report", "markdown").want(s.t, exitPass).out; r.summary != want {
		s.t.Errorf("the summary is\n%s\nwant\n%s", r.summary, want)
	}
	if want := s.run("report", file, "--report", "github").want(s.t, exitPass).out; r.out != want {
		s.t.Errorf("printed is\n%s\nwant\n%s", r.out, want)
	}
}
