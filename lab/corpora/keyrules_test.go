package corpora

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A keyRule is a check as a rule: its items, as JSON, which is YAML.
type keyRule struct {
	id, title        string
	required, absent []string
}

// saidByKeys is the rule that a check is, or why none is.
func saidByKeys(c check) (r keyRule, why string) {
	r.id, r.title = c.ID, c.Name
	if c.Unread != "" {
		return r, "more code"
	}
	byKey := map[string][]string{} // the types whose attribute it is
	var order []string
	for _, ask := range c.Asks {
		if strings.Contains(ask.Type, "*") {
			return r, "a resource with a star"
		}
		values, err := itemValues(ask.Values, c.Negative)
		if err != nil {
			return r, err.Error()
		}
		key := values + " " + keyPath(ask.Key)
		if byKey[key] == nil {
			order = append(order, key)
		}
		byKey[key] = append(byKey[key], ask.Type)
	}
	for _, key := range order {
		values, path, _ := cutLast(key, " ")
		var each, whole []string
		for _, kind := range byKey[key] {
			each = append(each, "resource."+kind+".*")
			whole = append(whole, "resource."+kind+".*."+path)
		}
		required := func(condition string) {
			r.required = append(r.required, fmt.Sprintf(`{"each": %s, "key": %q%s}`, list(each), path, condition))
		}
		absent := func(condition string) {
			r.absent = append(r.absent, fmt.Sprintf(`{"key": %s%s}`, list(whole), condition))
		}
		switch {
		case c.Negative && values == anyValue:
			absent("")
		case c.Negative:
			absent(`, "is": ` + values)
		case values == anyValue:
			absent(`, "is": ""`) // which is no value for Checkov
		case c.Missing == "FAILED":
			required(`, "is": ` + values)
		default:
			absent(`, "is_not": ` + values)
		}
		if c.Missing == "FAILED" && (c.Negative || values == anyValue) {
			required("")
		}
	}
	return r, ""
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// oneType is the type that a resource without a name of its own has in the check's tests, or "" if it could be several.
func (c check) oneType() string {
	for _, ask := range c.Asks {
		if ask.Key != c.Asks[0].Key {
			return ""
		}
	}
	return c.Asks[0].Type
}

// list is a list as JSON, or its one element.
func list(all []string) string {
	text, _ := json.Marshal(all)
	if len(all) == 1 {
		text, _ = json.Marshal(all[0])
	}
	return string(text)
}

const anyValue = "any"

// itemValues are the values of an item, as JSON, or anyValue. A forbidden one is found with quotes and without them; a
// required one is what is written.
func itemValues(values []json.RawMessage, negative bool) (string, error) {
	var said []string
	add := func(s string) {
		if !slices.Contains(said, s) {
			said = append(said, s)
		}
	}
	for _, raw := range values {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return "", err
		}
		switch v := v.(type) {
		case map[string]any:
			return anyValue, nil
		case bool:
			add(string(raw))
			if !negative {
				add(`"` + string(raw) + `"`) // which Checkov reads as a boolean, too
			}
		case float64:
			add(string(raw))
		case string:
			inner := strings.TrimSuffix(strings.TrimPrefix(v, "${"), "}")
			if v == "${"+inner+"}" && number.MatchString(inner) {
				add(inner) // so Checkov's parser writes -1
				continue
			}
			add(string(raw))
			if !negative && number.MatchString(v) {
				add(v) // Checkov compares the text of a number, too
			}
		default:
			return "", errors.New("a value is a list")
		}
	}
	return "[" + strings.Join(said, ", ") + "]", nil
}

var number = regexp.MustCompile(`^-?\d+(\.\d+)?$`)

var listIndex = regexp.MustCompile(`^\[?\d+\]?$`)

// keyPath is Checkov's path without its indices.
func keyPath(key string) string {
	var segments []string
	for segment := range strings.SplitSeq(key, "/") {
		if !listIndex.MatchString(segment) {
			segments = append(segments, segment)
		}
	}
	return strings.Join(segments, ".")
}

// keyBundle is the bundle that holds the rules.
func keyBundle(rules []keyRule) map[string]string {
	const head = "bundle: \"0.2\"\nrules:"
	var b strings.Builder
	b.WriteString(head + "\n")
	for _, r := range rules {
		b.WriteString(r.String())
	}
	return map[string]string{"rules/boundaries.yml": head + " []\n", "rules/invariants.yml": b.String()}
}

// String is the rule as YAML.
func (r keyRule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - id: %s\n    title: %s\n    enforcement: {mode: fail}\n", r.id, r.title)
	b.WriteString("    match:\n      files: [\"**/*.tf\"]\n")
	for _, part := range []struct {
		name  string
		items []string
	}{{"required_absent", r.absent}, {"required_patterns", r.required}} {
		if len(part.items) > 0 {
			fmt.Fprintf(&b, "      %s:\n        - %s\n", part.name, strings.Join(part.items, "\n        - "))
		}
	}
	return b.String()
}

// TestSaidByKeys reads checks and tests as Checkov's are written, and says the checks as rules.
func TestSaidByKeys(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	const head = "checkov/terraform/checks/resource/"
	sources := map[string]string{
		head + "a.py": `
class A(BaseResourceValueCheck):
    def __init__(self):
        name = "n"
        guideline = x()
        id = "A_1"
        name += "m"
        types = ("t", "u", "v")
        super().__init__(name=name, id=id, categories=[C.X], supported_resources=types)
    def get_inspected_key(self) -> str:
        """text"""
        if self.entity_type == "v":
            return "b/[0]/d"
        return "b/[0]/c/0"
check = A()
`,
		head + "b.py": `
KINDS = ["${-1}", 2, "1.2"]
class B(BaseResourceNegativeValueCheck):
    def __init__(self):
        super().__init__(name="n", id="B_1", supported_resources=["t"], missing_attribute_result=CheckResult.FAILED)
    def get_inspected_key(self): return "k"
    def get_forbidden_values(self): return KINDS
class C(BaseResourceValueCheck):
    def __init__(self):
        super().__init__(name="n", id="C_1", supported_resources=["t"], missing_block_result=CheckResult.PASSED)
    def get_inspected_key(self): return "k"
    def get_expected_values(self): return [self.get_expected_value(), "1.2"]
    def get_expected_value(self): return "on"
class D(BaseResourceValueCheck):
    def __init__(self): super().__init__(name="n", id="D_1", supported_resources=["t"])
    def get_inspected_key(self): return "k"
    def get_expected_value(self): return ANY_VALUE
class E(D):
    pass
class F(BaseResourceValueCheck):
    def __init__(self): super().__init__(name="n", id="F_1", supported_resources=["t"])
    def scan_resource_conf(self, conf): return CheckResult.PASSED
class G(BaseResourceNegativeValueCheck):
    def __init__(self): super().__init__(name="n", id="G_1", supported_resources=["t"])
    def get_inspected_key(self): return "k"
    def get_forbidden_values(self): return [["*"]]
class H(BaseResourceValueCheck):
    def __init__(self): super().__init__(name="n", id="H_1", supported_resources=["t"])
    def get_inspected_key(self): return self.key or "k"
`,
		"tests/terraform/checks/resource/x/test_a.py": `
from checkov.terraform.checks.resource.a import check
text = 'resource "t" "x" {}'
class TestA(unittest.TestCase):
    def test(self):
        test_files_dir = os.path.join(here, "example_A")
        passing_resources = {"t.x[0]", "t.w"}
        failing_resources = {"t.y"}
    def test_text(self):
        conf = hcl2.loads(text)['resource'][0]['t']['x']
        self.assertEqual(CheckResult.FAILED, check.scan_resource_conf(conf=conf))
    def test_dictionary(self):
        conf = {"b": [{"c": [True], "d": ["x", "y"]}], "e": ["${var.x}"], "f": [[{"g": 1}, {"g": 2}]]}
        self.assertEqual(CheckResult.PASSED, check.scan_resource_conf(conf))
    def test_both(self):
        conf = hcl2.loads(text)['resource'][0]['t']['x']
        self.assertEqual(CheckResult.FAILED, check.scan_resource_conf(conf=conf))
        self.assertEqual(CheckResult.PASSED, check.scan_resource_conf(conf=conf))
`,
	}
	var read checkovRead
	python(t, checkScript, "", sources, &read)
	var b strings.Builder
	for _, c := range read.Checks {
		r, why := saidByKeys(c)
		fmt.Fprintf(&b, "%s %s\n", c.ID, why)
		for _, item := range r.absent {
			b.WriteString("absent " + item + "\n")
		}
		for _, item := range r.required {
			b.WriteString("required " + item + "\n")
		}
	}
	for _, c := range read.Cases {
		fmt.Fprintf(&b, "%+v\n", c)
	}
	const module = "Module:checkov.terraform.checks.resource.a "
	const want = `A_1 
required {"each": ["resource.t.*","resource.u.*"], "key": "b.c", "is": [true, "true"]}
required {"each": "resource.v.*", "key": "b.d", "is": [true, "true"]}
B_1 
absent {"key": "resource.t.*.k", "is": [-1, 2, "1.2"]}
required {"each": "resource.t.*", "key": "k"}
C_1 
absent {"key": "resource.t.*.k", "is_not": ["on", "1.2", 1.2]}
D_1 
absent {"key": "resource.t.*.k", "is": ""}
required {"each": "resource.t.*", "key": "k"}
F_1 more code
G_1 a value is a list
H_1 more code
{` + module + `Folder:tests/terraform/checks/resource/x/example_A/ Text: Body: Pass:[t.w t.x[0]] Fail:[t.y]}
{` + module + `Folder: Text:resource "t" "x" {} Body: Pass:[] Fail:[t.x]}
{` + module + `Folder: Text: Body:b {
c = true
d = ["x", "y"]
}
e = "${var.x}"
f {
g = 1
}
f {
g = 2
} Pass:[] Fail:[]}
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

// A keyCase is a resource that a check passes or fails.
type keyCase struct {
	check     int    // the check, among those that are said
	resource  string // TYPE.NAME
	blocks    []int  // the blocks that it is, among all
	source    string // one of keySources
	fails     bool
	variables bool // what it stands in has some
}

// keySources are where cases come from, as the page has them.
func keySources() []string {
	return []string{"files `*.tf`", "texts of Terraform in tests", "dictionaries in tests"}
}

// keyCases are the cases of those checks that are said, by their modules.
type keyCases struct {
	byModule map[string]int
	types    []string          // of each check the one whose attribute a dictionary has; "" if it could be several
	files    map[string]string // of the cases' folders

	cases  []keyCase
	blocks []string         // each resource's block, by itself
	whole  []string         // the files that blocks are of
	cut    map[int]bool     // those blocks
	read   map[string]*file // by their names
	lost   map[string]int   // resources that are named and are not judged, by why
}

func newKeyCases(files map[string]string) *keyCases {
	return &keyCases{
		byModule: map[string]int{}, files: files,
		read: map[string]*file{}, cut: map[int]bool{}, lost: map[string]int{},
	}
}

// A file is what is in a file of Terraform.
type file struct {
	resources map[string][]int // among the blocks, by TYPE.NAME
	variables bool
	unparsed  bool
}

// parse cuts a text of Terraform into the blocks of its resources.
func (k *keyCases) parse(t *testing.T, name, content string) *file {
	t.Helper()
	parsed, diagnostics := hclsyntax.ParseConfig([]byte(content), name, hcl.InitialPos)
	if diagnostics.HasErrors() {
		t.Log(diagnostics)
		return &file{unparsed: true}
	}
	f := &file{resources: map[string][]int{}}
	body := parsed.Body.(*hclsyntax.Body)
	for _, block := range body.Blocks {
		if block.Type == "resource" && len(block.Labels) == 2 {
			id := strings.Join(block.Labels, ".")
			f.resources[id] = append(f.resources[id], len(k.blocks))
			k.blocks = append(k.blocks, content[block.TypeRange.Start.Byte:block.CloseBraceRange.End.Byte]+"\n")
		}
	}
	_ = hclsyntax.VisitAll(body, func(node hclsyntax.Node) hcl.Diagnostics {
		if e, ok := node.(*hclsyntax.ScopeTraversalExpr); ok {
			switch e.Traversal.RootName() {
			case "var", "local", "each", "count":
				f.variables = true
			}
		}
		return nil
	})
	return f
}

var instance = regexp.MustCompile(`\[[^]]*\]$`)

// add adds the cases of a test.
func (k *keyCases) add(t *testing.T, c checkCase) {
	t.Helper()
	check, ok := k.byModule[c.Module]
	if !ok {
		return
	}
	expected := map[string]bool{}
	for _, id := range c.Pass {
		expected[instance.ReplaceAllString(id, "")] = false
	}
	for _, id := range c.Fail {
		expected[instance.ReplaceAllString(id, "")] = true
	}
	var files []*file
	source := 0
	switch {
	case c.Folder != "":
		for _, name := range slices.Sorted(maps.Keys(k.files)) {
			if !strings.HasPrefix(name, c.Folder) {
				continue
			}
			if k.read[name] == nil {
				k.read[name] = k.parse(t, name, k.files[name])
				if !k.read[name].unparsed {
					k.whole = append(k.whole, k.files[name])
					for _, blocks := range k.read[name].resources {
						for _, block := range blocks {
							k.cut[block] = true
						}
					}
				}
			}
			files = append(files, k.read[name])
		}
	case c.Text != "":
		source, files = 1, append(files, k.parse(t, c.Module, c.Text))
	case k.types[check] == "":
		k.lost["a dictionary of an unnamed type"]++
		return
	default:
		source = 2
		text := fmt.Sprintf("resource %q \"\" {\n%s\n}\n", k.types[check], c.Body)
		files = append(files, k.parse(t, c.Module, text))
		fails := expected[""]
		expected = map[string]bool{k.types[check] + ".": fails}
	}
	for _, id := range slices.Sorted(maps.Keys(expected)) {
		found := keyCase{check: check, resource: id, source: keySources()[source], fails: expected[id]}
		why := "none of that name in the files, but in a module of theirs"
		for _, f := range files {
			if f.unparsed {
				why = "Terraform cannot parse the file"
			}
			if blocks := f.resources[id]; len(blocks) > 0 {
				found.blocks = append(found.blocks, blocks...)
				found.variables = found.variables || f.variables
			}
		}
		same := func(other keyCase) bool {
			return other.check == check && slices.Equal(other.blocks, found.blocks)
		}
		switch {
		case len(found.blocks) == 0:
			k.lost[why]++
			t.Log(c.Module, id, why)
		case !slices.ContainsFunc(k.cases, same): // a second test of the same folder
			k.cases = append(k.cases, found)
		}
	}
}

// checkScript reads Checkov's checks and their tests by Python's parser. It runs nothing of them: what it evaluates are
// constants, names of them, and comparisons with the type of the resource.
const checkScript = `
import ast, json, sys
CHECKS = 'checkov.terraform.checks.resource.'
BASES = {'BaseResourceValueCheck': 'value', 'BaseResourceNegativeValueCheck': 'negative'}

class Unread(Exception): pass

class Reader:
    def __init__(self, cls, constants):
        self.methods = {m.name: m for m in cls.body if isinstance(m, ast.FunctionDef)}
        self.constants, self.fields, self.given, self.type = constants, {}, {}, None
    def value(self, e, names):
        if isinstance(e, ast.Constant): return e.value
        if isinstance(e, (ast.List, ast.Tuple, ast.Set)): return [self.value(x, names) for x in e.elts]
        if isinstance(e, ast.Name):
            if names.get(e.id) is not None: return names[e.id]
            if e.id == 'ANY_VALUE': return {'any': True}
            if e.id in self.constants: return self.value(self.constants[e.id], {})
        if isinstance(e, ast.Attribute) and isinstance(e.value, ast.Name):
            if e.value.id == 'CheckResult': return e.attr
            if e.value.id == 'self' and e.attr == 'entity_type': return self.type
            if e.value.id == 'self' and self.fields.get(e.attr) is not None: return self.fields[e.attr]
        if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and not e.args and not e.keywords:
            if isinstance(e.func.value, ast.Name) and e.func.value.id == 'self': return self.call(e.func.attr)
        if isinstance(e, ast.BoolOp):
            results = [self.value(x, names) for x in e.values]
            return all(results) if isinstance(e.op, ast.And) else any(results)
        if isinstance(e, ast.Compare) and len(e.ops) == 1:
            left, right = self.value(e.left, names), self.value(e.comparators[0], names)
            if isinstance(e.ops[0], ast.Eq): return left == right
            if isinstance(e.ops[0], ast.In): return left in right
        raise Unread(ast.unparse(e))
    def run(self, body, names):  # whether it has returned, and what
        for s in body:
            if isinstance(s, ast.Return): return True, self.value(s.value, names)
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant): continue
            if isinstance(s, ast.If):
                done, v = self.run(s.body if self.value(s.test, names) else s.orelse, names)
                if done: return done, v
            elif isinstance(s, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                target = s.targets[0] if isinstance(s, ast.Assign) else s.target
                try: v = None if isinstance(s, ast.AugAssign) else self.value(s.value, names)
                except Unread: v = None  # an error where it is used
                if isinstance(target, ast.Name): names[target.id] = v
                elif isinstance(target, ast.Attribute): self.fields[target.attr] = v
                else: raise Unread(ast.unparse(s))
            elif isinstance(s, ast.Expr) and ast.unparse(s.value).startswith('super().__init__('):
                if s.value.args: raise Unread(ast.unparse(s))
                for k in s.value.keywords:
                    if k.arg not in ('name', 'categories', 'guideline'): self.given[k.arg] = self.value(k.value, names)
            else: raise Unread(ast.unparse(s))
        return False, None
    def call(self, name):
        if name in self.methods: return self.run(self.methods[name].body, {})[1]
        if name == 'get_expected_values': return [self.call('get_expected_value')]
        if name == 'get_expected_value': return True
        raise Unread(name)

def checks(path, source):
    tree = ast.parse(source)
    constants = {s.targets[0].id: s.value for s in tree.body
                 if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}
    for cls in (s for s in tree.body if isinstance(s, ast.ClassDef)):
        kinds = [BASES[b.id] for b in cls.bases if isinstance(b, ast.Name) and b.id in BASES]
        if not kinds: continue
        check = {'module': path[:-3].replace('/', '.'), 'name': cls.name, 'negative': kinds[0] == 'negative', 'asks': []}
        r = Reader(cls, constants)
        try:
            r.run(r.methods['__init__'].body, {})
            check['id'] = r.given['id']
            check['missing'] = r.given.get('missing_block_result') or r.given.get('missing_attribute_result') or \
                {'value': 'FAILED', 'negative': 'PASSED'}[kinds[0]]
            for own in ('scan_resource_conf', 'get_excluded_key'):
                if own in r.methods: raise Unread(own)
            for r.type in r.given['supported_resources']:
                v = r.call('get_expected_values' if kinds[0] == 'value' else 'get_forbidden_values')
                check['asks'].append({'type': r.type, 'key': r.call('get_inspected_key'),
                                      'values': v if isinstance(v, list) else [v]})
        except Unread as e: check['unread'] = str(e)
        yield check

def constant(e, names, kind):
    e = names.get(e.id) if isinstance(e, ast.Name) else e
    try: v = ast.literal_eval(e)
    except ValueError: return None
    return v if isinstance(v, kind) else None

def body(conf):  # of a block: Checkov has lists around what is one
    lines = []
    for key, v in conf.items():
        if isinstance(v, list) and len(v) == 1 and not isinstance(v[0], list): v = v[0]
        if isinstance(v, list) and len(v) == 1: v = v[0]
        if isinstance(v, dict): lines += [key + ' {', body(v), '}']
        elif isinstance(v, list) and v and all(isinstance(x, dict) for x in v):
            for x in v: lines += [key + ' {', body(x), '}']
        else: lines.append(key + ' = ' + json.dumps(v))
    return '\n'.join(lines)

def assigned(body):
    return {s.targets[0].id: s.value for s in body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}

def cases(path, source):
    tree, module = ast.parse(source), None
    for s in tree.body:
        if isinstance(s, ast.ImportFrom) and (s.module or '').startswith(CHECKS): module = s.module
    classes = [c for c in tree.body if isinstance(c, ast.ClassDef)]
    for method in (m for c in classes for m in c.body if isinstance(m, ast.FunctionDef)):
        names = assigned(tree.body) | assigned(method.body)
        lists, folders, texts, confs, keys, results = {}, [], [], [], [], []
        for name in ('passing_resources', 'failing_resources'):
            listed = constant(names.get(name, names.get('expected_' + name)), names, set)
            if listed: lists[name[:4]] = sorted(listed)
        for s in ast.walk(method):
            if isinstance(s, ast.Attribute) and isinstance(s.value, ast.Name) and s.value.id == 'CheckResult':
                results.append(s.attr)
            if isinstance(s, ast.Subscript) and isinstance(s.slice, ast.Constant): keys.append(s.slice.value)
            if isinstance(s, ast.Call) and ast.unparse(s.func) == 'hcl2.loads':
                texts.append(constant(s.args[0], names, str))
            if isinstance(s, ast.Call) and ast.unparse(s.func).endswith('.scan_resource_conf'):
                confs += [constant(e, names, dict) for e in s.args + [k.value for k in s.keywords if k.arg == 'conf']]
            if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == 'test_files_dir':
                folders += [c.value for c in ast.walk(s.value) if isinstance(c, ast.Constant)]
        case = {'module': module, 'pass': lists.get('pass', []), 'fail': lists.get('fail', [])}
        if len(folders) == 1 and lists:
            yield case | {'folder': path.rpartition('/')[0] + '/' + folders[0].strip('/') + '/'}
        result = {('PASSED', ): 'pass', ('FAILED', ): 'fail'}.get(tuple(results))
        keys = [k for k in keys if isinstance(k, str) and k != 'resource']  # of nested subscripts the outer comes first
        if result and len(texts) == 1 and texts[0] and len(keys) == 2:
            yield case | {'text': texts[0], result: ['.'.join(reversed(keys))]}
        elif result and len(confs) == 1 and confs[0] is not None and not texts:
            yield case | {'body': body(confs[0]), result: ['']}

out = {'checks': [], 'cases': []}
for path, source in sorted(json.load(sys.stdin).items()):
    if path.startswith('checkov/'): out['checks'] += checks(path, source)
    else: out['cases'] += [c for c in cases(path, source) if c['module']]
print(json.dumps(out))
`

// A check is one that compares one attribute, as its class has it.
type check struct {
	Module   string `json:"module"`
	Name     string `json:"name"`
	ID       string `json:"id"`
	Negative bool   `json:"negative"` // the values are those that fail
	Missing  string `json:"missing"`  // PASSED, FAILED or UNKNOWN: what a resource without the attribute does
	Unread   string `json:"unread"`   // what of it is more than constants; "" if nothing
	Asks     []struct {
		Type   string            `json:"type"`
		Key    string            `json:"key"`
		Values []json.RawMessage `json:"values"` // {"any": true} is ANY_VALUE
	} `json:"asks"`
}

// A checkCase is a test of a check: a folder of files or a text, and the resources of them that pass and fail.
type checkCase struct {
	Module string   `json:"module"`
	Folder string   `json:"folder"`
	Text   string   `json:"text"`
	Body   string   `json:"body"` // of the one resource, of a dictionary of Python's
	Pass   []string `json:"pass"`
	Fail   []string `json:"fail"`
}

// checkovRead is what checkScript returns.
type checkovRead struct {
	Checks []check     `json:"checks"`
	Cases  []checkCase `json:"cases"`
}

// readChecks returns the checks at HEAD, their tests, and the files of the tests' folders.
func readChecks(t *testing.T) (checks []check, cases []checkCase, files map[string]string) {
	t.Helper()
	archive := git(t, *checkov, "", "archive", "--format=tar", "HEAD",
		"checkov/terraform/checks/resource", "tests/terraform/checks/resource")
	sources := map[string]string{}
	files = map[string]string{}
	for r := tar.NewReader(strings.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasSuffix(header.Name, ".py"):
			sources[header.Name] = string(content)
		case strings.HasSuffix(header.Name, ".tf"):
			files[header.Name] = string(content)
		}
	}
	var read checkovRead
	python(t, checkScript, "", sources, &read)
	return read.Checks, read.Cases, files
}
