package corpora

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
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
