package corpora

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A ban is a rule of the list, as PRESUBMIT.py has it.
type ban struct {
	List     string   `json:"list"`
	Pattern  string   `json:"pattern"`  // behind a slash an expression, else a text
	Excluded []string `json:"excluded"` // expressions over paths, from their beginning
}

// files are the globs for the files that CheckNoBannedFunctions asks of each list, and an expression for the ends of
// their names.
func (b ban) files() (globs []string, ends string) {
	const cpp = ".{cc,mm,h}"
	switch b.List {
	case "_BANNED_JAVA_IMPORTS", "_BANNED_JAVA_FUNCTIONS", "_DEPRECATED_SYNC_CONSENT_JAVA_FUNCTIONS":
		return []string{"**/*.java"}, `\.java$`
	case "_BANNED_JAVASCRIPT_FUNCTIONS":
		return []string{"**/*.{js,ts}"}, `\.(js|ts)$`
	case "_BANNED_OBJC_FUNCTIONS":
		return []string{"**/*.{mm,m,h}"}, `\.(mm|m|h)$`
	case "_BANNED_IOS_OBJC_FUNCTIONS":
		return []string{"**/ios/**/*.{mm,m,h}", "**/{ios_*,*_ios_*}.{mm,m,h}"}, `\.(mm|m|h)$`
	case "_BANNED_IOS_EGTEST_FUNCTIONS":
		return []string{"**/*_egtest.mm"}, `_egtest\.mm$`
	case "_BANNED_CPP_FUNCTIONS":
		return []string{"**/*" + cpp}, `\.(cc|mm|h)$`
	case "_DEPRECATED_SYNC_CONSENT_CPP_FUNCTIONS":
		return []string{
			"**/*android*/**/*" + cpp, "**/*android*" + cpp,
			"**/{ios,*[^0-9A-Za-z]ios}{,[^0-9A-Za-z]*}/**/*" + cpp, "**/{ios,*[^0-9A-Za-z]ios}{,[^0-9A-Za-z]*}" + cpp,
		}, `\.(cc|mm|h)$`
	case "_BANNED_MOJOM_PATTERNS":
		return []string{"**/*.mojom"}, `\.mojom$`
	}
	return nil, ""
}

// banScript is what only Python can say: extract reads the list without running PRESUBMIT.py, judge says by re which
// lines each rule matches, and which paths it asks.
const banScript = `
import ast, json, re, sys
given = json.load(sys.stdin)

def extract(source):
    known, bans = {}, []
    class Rule:
        def __init__(self, pattern, explanation, treat_as_error=None, excluded_paths=None,
                     surface_as_gerrit_lint=None):
            self.pattern, self.excluded = pattern, list(excluded_paths or [])
            if isinstance(excluded_paths, str):
                self.excluded = list(excluded_paths)  # as Python iterates over it
    def value(e):
        if isinstance(e, ast.Constant): return e.value
        if isinstance(e, ast.Name): return known[e.id]
        if isinstance(e, (ast.Tuple, ast.List)): return [value(x) for x in e.elts]
        if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add): return value(e.left) + value(e.right)
        if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mod): return value(e.left) % value(e.right)
        if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and e.func.attr == 'join':
            return value(e.func.value).join(value(e.args[0]))
        if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == 'BanRule':
            return Rule(*map(value, e.args), **{k.arg: value(k.value) for k in e.keywords})
        raise ValueError(ast.dump(e))
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign): target = node.targets[0]
        elif isinstance(node, ast.AnnAssign): target = node.target
        else: continue
        if not isinstance(target, ast.Name): continue
        try: known[target.id] = value(node.value)
        except (ValueError, KeyError):
            if 'BanRule' in ast.dump(node.value): raise
            continue
        for rule in known[target.id] if isinstance(known[target.id], list) else []:
            if isinstance(rule, Rule):
                bans.append({'list': target.id, 'pattern': rule.pattern, 'excluded': rule.excluded})
    return bans

def selects(name, path):
    base = path.split('/')[-1]
    cpp = path.endswith(('.cc', '.mm', '.h'))
    if 'MOJOM' in name: return path.endswith('.mojom')
    if 'JAVASCRIPT' in name: return path.endswith(('.js', '.ts'))
    if 'JAVA' in name: return path.endswith('.java')
    if 'EGTEST' in name: return path.endswith('_egtest.mm')
    if 'IOS' in name:
        return path.endswith(('.mm', '.m', '.h')) and ('ios' in base.split('_') or 'ios' in path.split('/'))
    if 'OBJC' in name: return path.endswith(('.mm', '.m', '.h'))
    if 'SYNC' in name: return cpp and ('android' in path or bool(re.search(r'(^|[\W_])ios[\W_]', path)))
    return cpp

def judge(bans, lines, paths):
    result = []
    for ban in bans:
        p = ban['pattern']
        find = re.compile(p[1:]).search if p[:1] == '/' else (lambda line, p=p: p in line)
        excluded = [re.compile(e).match for e in ban['excluded']]
        result.append({
            'lines': [i for i, line in enumerate(lines) if find(line)],
            'paths': [i for i, path in enumerate(paths or [])
                      if selects(ban['list'], path) and not any(e(path) for e in excluded)],
        })
    return result

print(json.dumps(extract(given) if sys.argv[1] == 'extract' else judge(**given)))
`

// A said ban is a ban and the rule that says it.
type said struct {
	ban
	form     string
	items    []string
	files    []string
	exclude  []string
	inexact  []string // excluded paths that globs do not say exactly
	examples []string // lines that it matches
	near     []string // lines that are nearly such
	paths    []string // paths that are excluded, or nearly
}

func say(b ban) said {
	s := said{ban: b}
	s.form, s.items = items(b.Pattern)
	var ends string
	s.files, ends = b.files()
	for _, excluded := range b.Excluded {
		if only, ok := onlyFor(excluded); ok {
			if !strings.HasSuffix(only, "$") {
				only += ".*" + ends
			}
			list, exact := globs(only)
			if s.files = list; !exact {
				s.inexact = append(s.inexact, excluded)
			}
			continue
		}
		list, exact := globs(excluded)
		if s.exclude = append(s.exclude, list...); !exact {
			s.inexact = append(s.inexact, excluded)
		}
	}
	slices.Sort(s.exclude)
	s.exclude = slices.Compact(s.exclude)
	return s
}

// bundle is the bundle of all that can be said. everywhere leaves the paths out.
func bundle(all []said, everywhere bool) string {
	var b strings.Builder
	b.WriteString("bundle: \"0.2\"\nrules:\n")
	for i, s := range all {
		if s.form == formNone {
			continue
		}
		fmt.Fprintf(&b, "  - id: BAN-%03d\n    title: %s\n", i, quote(s.List))
		b.WriteString("    enforcement: {mode: fail}\n    match:\n")
		files, exclude := s.files, s.exclude
		if everywhere {
			files, exclude = []string{"**"}, nil
		}
		list := func(key string, yaml []string) {
			if len(yaml) > 0 {
				fmt.Fprintf(&b, "      %s:\n        - %s\n", key, strings.Join(yaml, "\n        - "))
			}
		}
		quoted := func(texts []string) (yaml []string) {
			for _, text := range texts {
				yaml = append(yaml, quote(text))
			}
			return yaml
		}
		list("files", quoted(files))
		list("exclude", quoted(exclude))
		list("forbidden_patterns", s.items)
	}
	return b.String()
}

// TestChromium says each rule of the list as a rule of ours, and compares what it finds with what Python finds.
func TestChromium(t *testing.T) {
	if *presubmit == "" {
		t.Skip("it needs Chromium's PRESUBMIT.py: see make chromium")
	}
	source, err := os.ReadFile(*presubmit)
	if err != nil {
		t.Fatal(err)
	}
	var bans []ban
	python(t, banScript, "extract", string(source), &bans)
	random := rand.New(rand.NewPCG(30, 2))
	var all []said
	for _, b := range bans {
		s := say(b)
		s.tryOn(random)
		all = append(all, s)
	}
	if *keep != "" {
		writeFiles(t, *keep, map[string]string{
			"rules/boundaries.yml": bundle(all, false), "rules/invariants.yml": "rules: []\n",
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Chromium %s, %d rules:\n\n| form | rules | |\n|---|---|---|\n", *commit, len(all))
	counts := map[string]int{}
	for _, s := range all {
		counts[s.form]++
		if s.form == formNone {
			t.Logf("cannot be said: %s", s.Pattern)
		}
	}
	for _, form := range forms() {
		fmt.Fprintf(&b, "| %s | %d | %.1f %% |\n", form, counts[form], 100*float64(counts[form])/float64(len(all)))
	}
	lines := compareLines(t, all, random)
	fmt.Fprintf(&b, "\n- %d lines: %d pairs of a rule and a line that it matches, "+
		"%d of a rule and a line like its own that it does not; differences from Python's `re`: %d\n",
		lines.count, lines.matched, lines.missed, lines.differ)
	paths := comparePaths(t, all)
	fmt.Fprintf(&b, "- %d excluded paths, which are expressions: globs say %d of them exactly, "+
		"and the others, of %d rules, exclude more\n",
		paths.expressions, paths.exact, paths.rules)
	fmt.Fprintf(&b, "- %d paths: %d pairs of a rule and a path that it excludes; "+
		"differences from `re`: %d, all in those %d rules\n",
		paths.count, paths.missed, paths.differ, paths.rules)
	writePart(t, "chromium", b.String())
}

type judged struct{ Lines, Paths []int }

func judge(t *testing.T, all []said, lines, paths []string) (result []judged) {
	var bans []ban
	for _, s := range all {
		bans = append(bans, s.ban)
	}
	python(t, banScript, "judge", map[string]any{"bans": bans, "lines": lines, "paths": paths}, &result)
	return result
}

// found is what the program finds: the number of a rule, and a file.
func found(t *testing.T, dir, boundaries string) map[string]bool {
	pairs := map[string]bool{}
	for _, v := range scan(t, dir, boundaries).Violations {
		pairs[v.RuleID+" "+v.File] = true
	}
	return pairs
}

// A result counts pairs of a rule and a line or path.
type result struct {
	count           int // lines or paths
	matched, missed int // pairs that are one, or nearly
	differ          int // pairs that Python and policyscan judge differently

	expressions, exact, rules int // excluded paths; those that globs say; the rules that have others
}

// compareLines compares what is found in lines, whatever their file is called.
func compareLines(t *testing.T, all []said, random *rand.Rand) (r result) {
	var lines []string
	for _, s := range all {
		lines = append(lines, s.examples...)
		lines = append(lines, s.near...)
	}
	for range 5000 { // lines of two
		a, b := lines[random.IntN(len(lines))], lines[random.IntN(len(lines))]
		lines = append(lines, a+[]string{"", " ", "x", "::", "("}[random.IntN(5)]+b)
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	dir, files := t.TempDir(), map[string]string{}
	for i, line := range lines {
		files[fmt.Sprintf("%d/%d", i/1000, i)] = line + "\n"
	}
	writeFiles(t, dir, files)
	pairs := found(t, dir, bundle(all, true))
	for i, j := range judge(t, all, lines, nil) {
		s := all[i]
		if s.form == formNone {
			continue
		}
		own := 0
		for n, line := range lines {
			_, want := slices.BinarySearch(j.Lines, n)
			got := pairs[fmt.Sprintf("BAN-%03d %d/%d", i, n/1000, n)]
			if want {
				r.matched++
			}
			if slices.Contains(s.examples, line) && want {
				own++
			}
			if slices.Contains(s.near, line) && !want {
				r.missed++
			}
			if got != want {
				r.differ++
				t.Errorf("%s: %q: Python %v, policyscan %v", s.Pattern, line, want, got)
			}
		}
		if own == 0 {
			t.Errorf("%s: no line is an example of it", s.Pattern)
		}
	}
	r.count = len(lines)
	return r
}

// comparePaths compares which files are asked, by an example of a rule in each.
func comparePaths(t *testing.T, all []said) (r result) {
	dir, content := t.TempDir(), map[string]string{}
	for _, s := range all {
		r.expressions += len(s.Excluded)
		r.exact += len(s.Excluded) - len(s.inexact)
		if len(s.inexact) > 0 {
			r.rules++
		}
		for _, e := range s.inexact {
			t.Logf("%s: not exact: %s", s.Pattern, e)
		}
		if s.form == formNone {
			continue
		}
		for _, path := range s.paths {
			if content[path] == "" {
				content[path] = s.examples[0] + "\n"
			}
		}
	}
	folders := map[string]bool{}
	for path := range content {
		for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	var paths, lines []string
	for path, line := range content {
		if folders[path] {
			delete(content, path)
			continue
		}
		paths, lines = append(paths, path), append(lines, strings.TrimSuffix(line, "\n"))
	}
	writeFiles(t, dir, content)
	pairs := found(t, dir, bundle(all, false))
	for i, j := range judge(t, all, lines, paths) {
		s := all[i]
		if s.form == formNone {
			continue
		}
		for _, n := range j.Lines {
			want, got := slices.Contains(j.Paths, n), pairs[fmt.Sprintf("BAN-%03d %s", i, paths[n])]
			if !want {
				r.missed++
			}
			if got != want {
				if r.differ++; len(s.inexact) == 0 || got {
					t.Errorf("%s: %s: Python %v, policyscan %v", s.Pattern, paths[n], want, got)
				}
			}
		}
	}
	r.count = len(paths)
	return r
}

// TestExtract reads a list as Chromium's is written, and judges by it.
func TestExtract(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	const source = `
from dataclasses import dataclass
_ENDS = r'\.(cc|h)$'
_TESTS = (r'.*/test_.+%s' % _ENDS, r'a/.*')
_WARNING = ('one\n' 'two')
_ROBOTS = set() | set('%s@x' % s for s in ('a', ))

@dataclass
class BanRule:
    pattern: str

_BANNED_CPP_FUNCTIONS: Sequence[BanRule] = (
    BanRule('x(', (_WARNING, 'not ' + 'this'), True, [r'^b/'  # no comma
            r'c']),
    BanRule(pattern=r'/std::(?!' + '|'.join(('a', 'b')) + r')', explanation=('d', ),
            excluded_paths=_TESTS + ('^d', )),
    BanRule('\bw', 'e', surface_as_gerrit_lint=True, excluded_paths=('ef')),
)

def f():
    return BanRule
`
	var bans []ban
	python(t, banScript, "extract", source, &bans)
	want := []ban{
		{"_BANNED_CPP_FUNCTIONS", "x(", []string{"^b/c"}},
		{"_BANNED_CPP_FUNCTIONS", "/std::(?!a|b)", []string{`.*/test_.+\.(cc|h)$`, "a/.*", "^d"}},
		{"_BANNED_CPP_FUNCTIONS", "\bw", []string{"e", "f"}},
	}
	if fmt.Sprintf("%q", bans) != fmt.Sprintf("%q", want) {
		t.Fatalf("%q, want %q", bans, want)
	}
	var all []said
	for _, b := range bans {
		all = append(all, say(b))
	}
	lines := []string{"x(", "std::c std::a", "std::a", "w"}
	got := judge(t, all, lines, []string{"b/c.cc", "b/x.cc", "b/x.py", "x/test_y.h", "e.mm"})
	if wanted := "[{[0] [1 3 4]} {[1] [0 1 4]} {[] [0 1 3]}]"; fmt.Sprint(got) != wanted {
		t.Errorf("%v, want %s", got, wanted)
	}
}
