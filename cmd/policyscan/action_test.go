package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const zeros = "0000000000000000000000000000000000000000"

// TestFault_135_ActionScopes: the scope for each event of a workflow.
func TestFault_135_ActionScopes(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	base, head := g.change()
	g.git("checkout", "-q", "--detach", "main")
	g.git("merge", "-q", "--no-ff", "--no-edit", "work")
	merged := g.git("rev-parse", "HEAD")
	g.git("checkout", "-q", "--detach", head)
	g.put("bad.tf", "")
	fixed := g.commit("fixed")
	pull := fmt.Sprintf(`{"pull_request": {"base": {"sha": %q}, "head": {"sha": %q}}}`, base, head)
	for _, c := range []struct {
		name, event, payload, at string
		inputs                   string
		status                   int
		saying, scope, base      string
	}{
		{"a pull request", "pull_request", pull, merged, "", 1, "FAIL NET-1@bad.tf", "diff", base},
		{"a merge queue", "merge_group", fmt.Sprintf(`{"merge_group": {"base_sha": %q, "head_sha": %q}}`, base,
			merged), merged, "", 1, "FAIL NET-1@bad.tf", "diff", base},
		{"a push", "push", fmt.Sprintf(`{"before": %q, "after": %q}`, base, head), head, "", 1, "FAIL NET-1@bad.tf",
			"diff", base},
		{"a new branch", "push", fmt.Sprintf(`{"before": %q, "after": %q}`, zeros, base), base, "", 0, "PASS", "full",
			""},
		{"a schedule", "schedule", `{}`, merged, "", 2, "UNDECIDED E_USAGE", "diff", ""},
		{"a schedule, a commit", "schedule", `{}`, base, "scope=full rev=" + merged, 1, "FAIL NET-1@bad.tf", "full",
			""},
		{"by hand, since a branch", "workflow_dispatch", `{}`, merged, "scope=diff diff-base=main", 1,
			"FAIL NET-1@bad.tf", "diff", base},
		{"what is tracked", "workflow_dispatch", `{}`, base, "scope=full args=--tracked", 0, "PASS", "tracked", ""},
		{"behind", "workflow_dispatch", `{}`, base, "scope=diff diff-base=work require-merged=true args=--allow=empty",
			2, "UNDECIDED E_BEHIND", "diff", head},
		{"a new branch, merged", "push", fmt.Sprintf(`{"before": %q, "after": %q}`, zeros, base), base,
			"require-merged=true", 2, "UNDECIDED E_BEHIND", "full", ""},
		{"each commit", "push", fmt.Sprintf(`{"before": %q, "after": %q}`, base, fixed), fixed, "each-commit=true", 1,
			"FAIL NET-1@bad.tf", "diff", base},
		{"another bundle", "pull_request", pull, merged, "policy-sha256=" + zeros + zeros[:24], 2,
			"UNDECIDED E_POLICY_PIN", "diff", ""},
		{"the base is checked out", "pull_request_target", pull, base, "", 2, "UNDECIDED E_BASE_MISSING", "diff", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStep(g.sub(t), c.event, c.payload, c.at)
			s.git("checkout", "-q", "--detach", c.at)
			r := s.act(strings.Fields(c.inputs)...)
			s.want(r, c.status, c.saying)
			if r.outputs["scope"] != c.scope || r.outputs["base-sha"] != c.base {
				t.Errorf("scope %q, base %q", r.outputs["scope"], r.outputs["base-sha"])
			}
			if !strings.Contains(r.err, "\nFAIL: ") && !strings.Contains(r.err, "\nPASS: ") {
				t.Errorf("the text report is not in the log:\n%s", r.err)
			}
		})
	}
}

// TestActionReports: reports go where the input says, and SARIF is offered only for a whole scope.
func TestActionReports(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("main.tf", "cidr = \"0.0.0.0/0\"\n")
	head := g.commit("all")
	for _, c := range []struct {
		name, inputs string
		status       int
		offered      bool
	}{
		{"a violation", "", 1, true},
		{"clean", "path=clean", 0, true},
		{"incomplete", "args=--max-file-bytes=1", 2, false},
		{"a violation, and incomplete", "path=both args=--max-file-bytes=30", 1, false},
		{"partial", "args=--exclude=x/**", 1, false},
		{"partial and allowed", "path=clean args=--exclude=x/**,--allow=partial", 0, false},
		{"a bundle that does not load", "policy=nowhere", 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStep(g.sub(t), "push", `{}`, head)
			s.put("clean/a.tf", "10.0.0.0/8\n")
			s.put("both/a.tf", "0.0.0.0/0\n")
			s.put("both/b.tf", strings.Repeat("10.0.0.0/8\n", 9))
			inputs := []string{"scope=full", "reports=\n  json=r.json  \n\n sarif=r.sarif\nsarif=second.sarif\n"}
			for _, in := range strings.Fields(c.inputs) {
				inputs = append(inputs, strings.ReplaceAll(in, ",", " "))
			}
			r := s.act(inputs...)
			r.ending.want(t, c.status)
			for _, name := range []string{"r.json", "r.sarif", "second.sarif"} {
				if !exists(s.path(name)) {
					t.Errorf("%s was not written\n%s", name, r.err)
				}
			}
			if got := s.read("repo/r.json"); got != readFile(t, r.outputs["verdict-file"]) {
				t.Error("the json report is not the verdict")
			}
			want := ""
			if c.offered {
				want = "r.sarif"
			}
			if got := r.outputs["sarif-file"]; got != want {
				t.Errorf("sarif-file is %q, want %q", got, want)
			}
			for _, name := range []string{"r.json", "r.sarif", "second.sarif"} {
				if err := os.Remove(s.path(name)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFault_135_ActionRefuses: inputs that cannot be followed end undecided, and the runner is told.
func TestFault_135_ActionRefuses(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("main.tf", "cidr = \"10.0.0.0/8\"\n")
	head := g.commit("all")
	g.git("init", "-q", "../tracked")
	for _, c := range []struct {
		name, says string
		inputs     []string
		env        string
	}{
		{"no scope", `the input scope is ""; choose one of auto, full, diff, staged`, []string{"scope="}, ""},
		{"no base", "the input scope is diff, which needs the input diff-base", []string{"scope=diff"}, ""},
		{"a commit in args", "--rev is not for args", []string{"scope=full", "args=--rev=main"}, ""},
		{"merged, with all files", `the input require-merged needs scope: auto or diff, but scope is "full"`,
			[]string{"require-merged=true"}, ""},
		{"each commit, with all files", `the input each-commit needs scope: auto or diff, but scope is "full"`,
			[]string{"each-commit=true"}, ""},
		{"a hash by the variable", "POLICYSCAN_POLICY_SHA256 is set; use the input of the action", nil,
			"POLICYSCAN_POLICY_SHA256=" + zeros},
		{"a report without a file", `the input reports has the line "json"; write each as FORMAT=FILE`,
			[]string{"reports=json"}, ""},
		{"the verdict on standard output", `the input verdict-file is "-"; name a file`, []string{"verdict-file=-"},
			""},
		{"a quote that is not closed", "the input args: a quote ' is not closed", []string{"args=--rule 'NET-1"}, ""},
		{"pre-commit's choice", "PRE_COMMIT_FROM_REF is set, and would override the event", nil,
			"PRE_COMMIT_FROM_REF=HEAD"},
		{"a path in args", "the input args: it may contain only flags", []string{"args=sub"}, ""},
		{"-- alone", "-- is not for args", []string{"args=-q --"}, ""},
		{"help", "the input args: --help is not for args", []string{"args=--help"}, ""},
		{"version", "--version is not for args", []string{"args=--version"}, ""},
		{"what an input has, by a variable", "POLICYSCAN_DIFF_BASE is set; use the input of the action", nil,
			"POLICYSCAN_DIFF_BASE=main"},
		{"an unknown variable", "unknown environment variable POLICYSCAN_POLCY", nil, "POLICYSCAN_POLCY=x"},
		{"no summary", "GITHUB_STEP_SUMMARY is not set", nil, "GITHUB_STEP_SUMMARY="},
		{"two mistakes", `the input scope is "x"`, []string{"scope=x", "reports=y"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStep(g.sub(t), "push", `{}`, head)
			s.env = append(s.env, c.env)
			r := s.act(append([]string{"scope=full"}, c.inputs...)...)
			r.ending.want(t, exitUndecided)
			if !strings.Contains(r.err, c.says) || r.claimsPass() {
				t.Errorf("%q is not in\n%s\nprinted:\n%s\nsummary:\n%s", c.says, r.err, r.out, r.summary)
			}
			if r.outputs["verdict"] != "FAIL" || r.outputs["complete"] != "false" || r.outputs["exit-code"] != "2" {
				t.Errorf("the outputs are %q", r.outputs)
			}
			if c.env != "GITHUB_STEP_SUMMARY=" && !strings.Contains(r.summary, "could not decide") {
				t.Errorf("the summary is\n%s", r.summary)
			}
			if !strings.Contains(r.out, "::error") || exists(s.path("verdict.json")) {
				t.Errorf("no annotation, or a verdict in the checkout:\n%s", r.out)
			}
			if r.outputs["verdict-file"] != "" || r.outputs["sarif-file"] != "" {
				t.Errorf("files are named that do not exist: %q", r.outputs)
			}
		})
	}
}

// TestFault_179_FlagsInArgs: each flag of a scan is refused in args with its reason, or works there; none ends
// without a verdict that the runner is told of.
func TestFault_179_FlagsInArgs(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("main.tf", "cidr = \"10.0.0.0/8\"\n")
	head := g.commit("all")
	for args, want := range map[string]struct {
		status int
		says   string
	}{
		"--shard 0/2":                     {exitUndecided, "the input args: --shard is not for args"},
		"--defer":                         {exitUndecided, "the input args: --defer is not for args"},
		"--report json=x":                 {exitUndecided, "the input args: --report is not for args"},
		"--reuse kept":                    {exitUndecided, "--reuse"},
		"--stdin --stdin-path x":          {exitPass, ""},
		"--quiet":                         {exitPass, ""},
		"--max-file-bytes 9":              {exitUndecided, "E_LIMIT"},
		"--as-of 2999-01-01":              {exitPass, ""},
		"--rule NET-1 --allow=partial -q": {exitPass, ""},
	} {
		t.Run(args, func(t *testing.T) {
			s := newStep(g.sub(t), "push", `{}`, head)
			r := s.act("scope=full", "args="+args)
			r.ending.want(t, want.status)
			if all := r.out + r.err; !strings.Contains(all, want.says) || strings.Contains(all, "<nil>") ||
				strings.Contains(all, "goroutine ") {
				t.Errorf("%q is not in\n%s\n%s", want.says, r.out, r.err)
			}
			if pass := want.status == exitPass; (r.outputs["verdict"] == "PASS") != pass || r.claimsPass() != pass {
				t.Errorf("%q\n%s", r.outputs, r.summary)
			}
		})
	}
}

// TestActionOutputFails: there is no PASS that the runner was not told of, in any place.
func TestActionOutputFails(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("main.tf", "cidr = \"10.0.0.0/8\"\n")
	head := g.commit("all")
	s := newStep(g, "push", `{}`, head)
	for _, variable := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		s.env = []string{variable + "=" + s.dir} // a directory
		file := filepath.Join(s.dir, "temp/v.json")
		r := s.act("scope=full", "verdict-file="+file)
		r.ending.want(t, exitUndecided)
		if !strings.Contains(r.err, "an output could not be written") || r.claimsPass() {
			t.Errorf("%s: %s%s%s", variable, r.out, r.err, r.summary)
		}
		v, err := readVerdict([]byte(readFile(t, file)))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(summaryOf(v), " "); got != "UNDECIDED E_OUTPUT" {
			t.Errorf("%s: the verdict is %s", variable, got)
		}
		if variable != "GITHUB_OUTPUT" && r.outputs["verdict"] != "FAIL" {
			t.Errorf("%s: %q", variable, r.outputs)
		}
	}
}

// TestActionSilent: no annotation and no summary where none is wanted.
func TestActionSilent(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("main.tf", "cidr = \"0.0.0.0/0\"\n")
	s := newStep(g, "push", `{}`, g.commit("all"))
	s.env = append(s.env, "GITHUB_STEP_SUMMARY=") // not needed then
	r := s.act("scope=full", "annotations=false", "summary=false")
	r.ending.want(t, exitViolation)
	if r.summary != summaryBefore || strings.Contains(r.out, "::error") || !strings.Contains(r.out, "main.tf:1:9: ") ||
		r.err != "" {
		t.Errorf("%q %q %q", r.out, r.err, r.summary)
	}
}

// TestActionPolicyRepository: the bundle that action.yml has checked out comes first, and policy-ref is not the scan's.
func TestActionPolicyRepository(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	g.put("main.tf", "cidr = \"0.0.0.0/0\"\nsecret\n")
	s := newStep(g, "push", `{}`, g.commit("all"))
	const central = "temp/policyscan.x/rules/rules/boundaries.yml"
	s.write(central, `bundle: "0.2"
rules:
  - {id: CENTRAL-1, title: None, match: {files: ["**"], forbidden_patterns: ["secret"]}}
`)
	s.env = append(s.env, "RULES=policyscan.x")
	inputs := []string{"scope=full", "policy-repository=o/policy", "policy-ref=" + zeros}
	s.want(s.act(append(inputs, "policy=")...), 1, "FAIL CENTRAL-1@main.tf")
	s.want(s.act(inputs...), 1, "FAIL CENTRAL-1@main.tf NET-1@main.tf")
	hash := strings.TrimSpace(s.run("pin", "temp/policyscan.x/rules", "--print", "sha256").out)
	s.want(s.act(append(inputs, "policy-sha256="+hash+"\nany")...), 1, "FAIL CENTRAL-1@main.tf NET-1@main.tf")
	s.want(s.act(append(inputs, "policy-sha256=any\n"+hash)...), 2, "UNDECIDED E_POLICY_PIN")
	if err := os.Remove(s.path("../" + central)); err != nil {
		t.Fatal(err)
	}
	s.want(s.act(inputs...), 2, "UNDECIDED E_POLICY_MISSING E_POLICY_MISSING")
}

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

// claimsPass reports whether anything shown to the user says PASS.
func (r result) claimsPass() bool {
	return strings.Contains(strings.ReplaceAll(r.out+r.err+r.summary, "not a PASS", ""), "PASS")
}

// summaryBefore is what the step finds in its files.
const summaryBefore = "# of another step\n"

// act runs the step with the defaults and these inputs, each NAME=VALUE.
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
		"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=" + s.event,
		"GITHUB_EVENT_PATH=" + filepath.Join(temp, "event.json"),
		"GITHUB_OUTPUT=" + filepath.Join(temp, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"),
		"RUNNER_TEMP=" + temp,
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

// want fails unless the step ended so, its outputs are those of verdict.json, and its
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
		"before": "1", "verdict": string(v.Verdict.Verdict), "complete": fmt.Sprint(v.Complete),
		"exit-code":  fmt.Sprint(status),
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
	if want := summaryBefore + s.run("report", file, "--report", "markdown").want(s.t,
		exitPass).out; r.summary != want {
		s.t.Errorf("the summary is\n%s\nwant\n%s", r.summary, want)
	}
	if want := s.run("report", file, "--report", "github").want(s.t, exitPass).out; r.out != want {
		s.t.Errorf("printed is\n%s\nwant\n%s", r.out, want)
	}
}
