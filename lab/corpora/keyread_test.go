package corpora

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

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
