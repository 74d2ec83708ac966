package naive

import "strings"

// The path of a case says what its content is.
func inYAML(says, rule, content string) formCase { return formCase{says, rule, "a.yaml", content, ""} }
func inHCL(says, rule, content string) formCase  { return formCase{says, rule, "a.tf", content, ""} }
func inDocker(says, rule, content string) formCase {
	return formCase{says, rule, "Dockerfile", content, ""}
}
func inText(says, rule, content string) formCase { return formCase{says, rule, "a.txt", content, ""} }

func (c formCase) fails(code string) formCase { c.code = code; return c }
func (c formCase) at(path string) formCase    { c.path = path; return c }

// formCases are what the page says, in its order: the section, then its fine print.
func formCases() []formCase {
	var all []formCase
	for _, some := range [][]formCase{exampleCases(), conditionCases(), ifCases(), anyCases(), limitCases(), textCases(),
		searchCases(), containingCases(), dockerCases(), dockerFineCases(), listCases()} {
		all = append(all, some...)
	}
	return all
}

func exampleCases() []formCase {
	return []formCase{
		inYAML("each with if", `+ {each: "Resources.*", if: {Type: "AWS::RDS::DBInstance"}, key: Properties.StorageEncrypted, is: true}`,
			"Resources:\n  a: {Type: AWS::RDS::DBInstance, Properties: {StorageEncrypted: ①false}}\n  b: {Type: AWS::S3::Bucket}\n"+
				"  c: {Type: AWS::RDS::DBInstance, ①Properties: {}}\n  ①d: {Type: AWS::RDS::DBInstance}\n"),
		inYAML("at least one of a list", `+ {each: "**.containers", key: securityContext.capabilities.drop, is: ALL, any: true}`,
			"spec:\n  containers:\n  - securityContext: {capabilities: {drop: [NET_RAW, ALL]}}\n"+
				"  - securityContext: {capabilities: {drop: [①NET_RAW, CHOWN]}}\n  - ①name: x\n"),
		inYAML("a number, of some documents", "+ {key: spec.replicas, at_least: 2, where: {kind: Deployment}}",
			"kind: Deployment\nspec: {replicas: ①1}\n---\nkind: Pod\nspec: {replicas: 1}\n---\nkind: Deployment\nspec: {replicas: 2}\n"),
		inDocker("a Dockerfile's user", "+ {key: final.user}", "FROM a\nUSER x\n①FROM b\nRUN x\n"),
		inYAML("a step that uses checkout and keeps its credentials",
			`- {key: "**.steps.uses", matches: '^actions/checkout@', if: {with.persist-credentials: {is_not: false}}}`,
			"jobs:\n  a:\n    steps:\n    - uses: ①actions/checkout@v4\n    - uses: actions/checkout@v4\n      with: {persist-credentials: false}\n"+
				"    - uses: ①actions/checkout@v4\n      with: {persist-credentials: \"false\"}\n    - uses: x\n"),
		inYAML("is_not with the text as good", `- {key: "**.uses", if: {with.a: {is_not: [false, "false"]}}}`,
			"x: {uses: y, with: {a: \"false\"}}\n"),
		inYAML("a loop without loop_var", `- {key: "**.loop", if: {loop_control.loop_var: {missing: true}}}`,
			"- ①loop: x\n- loop: x\n  loop_control: {loop_var: y}\n- ①loop: x\n  loop_control: {loop_var: null}\n"),
		inYAML("more than a quantity", `- {key: "**.resources.limits.memory", above: 4Gi, quantity: true}`,
			"- resources: {limits: {memory: 4Gi}}\n- resources: {limits: {memory: ①4.1Gi}}\n- resources: {limits: {memory: ①5000000000}}\n"),
		inText("an exception", `- {regex: ':latest\b', except: ':latest@sha256:[0-9a-f]{4}'}`, "x①:latest y:latest@sha256:0123 z①:latest@sha256:0\n"),
		inYAML("a fallback", "- {regex: '\\bprivileged\\s*:\\s*true', only: unparsable}\n- {key: privileged, is: true}\nunparsable: text",
			"privileged: ②true\n"),
		inYAML("a fallback where there is no reading", "- {regex: '\\bprivileged\\s*:\\s*true', only: unparsable}\n- {key: privileged, is: true}\nunparsable: text",
			"①privileged: true\na: {{ x\n"),
		inYAML("within_lines", `+ {text: Copyright, within_lines: 2}`, "①a\nb\nCopyright\n"),
		inYAML("where with a condition", "- {key: a, where: {kind: {is_not: [x, w]}}}", "①a: 1\n---\nkind: x\na: 1\n---\nkind: z\n①a: 1\n"),
	}
}

func conditionCases() []formCase {
	const missing, present = "- {key: k, if: {a.b: {missing: true}}}", "- {key: k, if: {a.b: {present: true}}}"
	return []formCase{
		inYAML("all of which must hold", "- {key: k, if: {a: x, b: z}}", "k: 1\na: x\n---\n①k: 1\na: x\nb: z\n"),
		inYAML("a value or a list, short for is", "- {key: k, if: {a: [x, 22]}}", "①k: 1\na: x\n---\n①k: 1\na: \"22\"\n---\nk: 1\na: z\n"),
		inYAML("is, read broadly", "- {key: k, if: {a: {is: true}}}", "①k: 1\na: \"yes\"\n---\nk: 1\na: z\n---\n①k: 1\na: [z, on]\n"),
		inYAML("matches", "- {key: k, if: {a: {matches: '^x'}}}", "①k: 1\na: xy\n---\nk: 1\na: yx\n---\n①k: 1\na: \"y\\nx\"\n"),
		inYAML("below and above, some value", "- {key: k, if: {a: {below: 2}}}\n- {key: k, if: {a: {above: 2}}}",
			"①②k: 1\na: [1, 3]\n---\nk: 1\na: 2\n---\nk: 1\na: x\n---\n①k: 1\na: \"0x1\"\n"),
		inYAML("is_not: unless one is reached and each is", "- {key: k, if: {a: {is_not: [x, w]}}}",
			"①k: 1\n---\nk: 1\na: [x, w]\n---\n①k: 1\na: [x, z]\n---\n①k: 1\na: null\n---\n①k: 1\na: {x: y}\n"),
		inYAML("matches_not: in every line", "- {key: k, if: {a: {matches_not: '^x'}}}",
			"k: 1\na: \"xa\\nxb\\n\"\n---\n①k: 1\na: \"xa\\nb\"\n---\n①k: 1\n"),
		inYAML("missing: nothing but null", missing, "①k: 1\n---\n①k: 1\na: {b: ~}\n---\nk: 1\na: {b: 0}\n---\n①k: 1\na: x\n---\nk: 1\na: {b: {}}\n"),
		inYAML("present: something other than null", present, "k: 1\n---\nk: 1\na: {b: ~}\n---\n①k: 1\na: {b: \"\"}\n---\n①k: 1\na: {b: {}}\n"),
		inYAML("a tagged value makes all hold", "- {key: k, if: {a: {is: x}}}\n- {key: k, if: {a: {is_not: x}}}\n- {key: k, if: {a: {missing: true}}}\n"+
			"- {key: k, if: {a: {present: true}}}", "①②③④k: 1\na: !Ref x\n"),
		inYAML("also above the end of the path", "- {key: k, if: {a.b: {matches: x}}}\n- {key: k, if: {a.b: {above: 5}}}\n- {key: k, if: {a.b: {matches_not: x}}}\n"+
			"- {key: k, if: {a.b: {below: 5}}}", "①②③④k: 1\na: !Sub {c: x}\n"),
		inHCL("an expression with variables", "- {key: k, if: {a: {is: x}}}\n- {key: k, if: {a: {is_not: [x]}}}\n- {key: k, if: {a.b: {missing: true}}}\n"+
			"- {key: k, if: {a.b: {present: true}}}", "①②③④k = 1\na = var.x\n"),
		inYAML("where is about the document, if about one object", "- {key: x.k, where: {a: 1}}\n- {key: x.k, if: {a: 1}}",
			"a: 1\nx: {①k: 1}\n---\nx: {②k: 1, a: 1}\n"),
		inYAML("where of a required item", "+ {key: k, where: {a: {missing: true}}}", "①b: 1\n---\na: 1\n---\nk: 1\n"),
		formCase{"where of an empty document", "+ {key: k, where: {a: {missing: true}}}", "a.yaml", "①# nothing\n", ""},
		// Fine print.
		inHCL("so are the labels of a block in it, and what is in a text in it", "- {key: x.p.a, if: {b: 1}}\n+ {each: x.z, key: k, if: {b: 1}}",
			"dynamic \"x\" {\n  for_each = [1]\n  content {\n    ②z \"l\" {\n    }\n    p = ①\"{\\\"a\\\": 1}\"\n  }\n}\n"),
		inHCL("a dynamic block is uncertain for a condition, and what stands in it",
			"- {key: k, if: {x.a: {is: z}}}\n- {key: k, if: {x.a: {missing: true}}}\n- {key: x.a, is: 2, if: {b: {is: z}}}",
			"①②k = 1\ndynamic \"x\" {\n  for_each = [1]\n  content {\n    a = ③2\n    b = 1\n  }\n}\nx {\n  a = 2\n  b = 1\n}\n"),
		inYAML("with the keys that a merge hides", "- {key: x.k, if: {a: old}}\n- {key: x.k, if: {a: {is_not: new}}}",
			"base: &b {a: old}\nx: {<<: *b, ①②k: 1, a: new}\n"),
		inYAML("without them", missing, "base: &b {a: {b: 1}}\nx: 1\n<<: *b\n①k: 1\na: {}\n"),
		formCase{"with any one of the occurrences of a key", missing, "a.json", `{①"k": 1, "a": {"b": 1}, "a": {}}`, ""},
		formCase{"of is_not as well", "- {key: k, if: {a.b: {is_not: 1}}}", "a.json", `{①"k": 1, "a": {"b": 1}, "a": {}}`, ""},
		inHCL("blocks are not one key", "- {key: k, if: {a.b: {is_not: 1}}}", "k = 1\na {\n  b = 1\n}\na {\n}\n"),
		inYAML("a list at the end is present, empty or not", present, "①k: 1\na: {b: []}\n---\n①k: 1\na: {b: [~]}\n"),
		inYAML("it is missing, too, if nothing but null is in it", missing, "①k: 1\na: {b: []}\n---\n①k: 1\na: {b: [~, []]}\n---\nk: 1\na: {b: [~, 1]}\n"),
		inYAML("of a list one item is enough for present, missing needs every item", present+"\n- {key: k, if: {a.b: {missing: true}}}",
			"①k: 1\na: [{c: 1}, {b: 1}]\n---\n②k: 1\na: [{c: 1}, {c: 1}]\n"),
		inYAML("in a condition an empty list is a value like any other", "- {key: k, if: {a: {is_not: x}}}\n- {key: k, if: {a: {matches_not: x}}}",
			"①②k: 1\na: [x, []]\n---\n①②k: 1\na: []\n---\nk: 1\na: [x, [x]]\n"),
		inYAML("** begins at the mapping itself, the value included", `- {key: a, if: {"**.b": {present: true}}}`, "①a: {b: 1}\n---\na: 1\n"),
		inYAML("** does not go into a text", `- {key: k, if: {"**.Action": {missing: true}}}`+"\n"+`- {key: k, if: {"**.p.Action": {missing: true}}}`,
			"①k: 1\np: '{\"Action\": 1}'\n"),
		inYAML("the tagged mapping at which if begins is on its way", "- {key: x.uses, if: {a: z}}", "x: !If {①uses: y, a: b}\n"),
		inYAML("what stands above it is not", "- {key: x.y.uses, if: {a: z}}", "x: !If {y: {uses: y, a: b}}\n"),
	}
}

func ifCases() []formCase {
	return []formCase{
		inYAML("a star", `- {key: "a.*", is: 1, if: {c: 2}}`, "a: {b: ①1, c: 2}\n---\na: {b: 1, c: 3}\nc: 2\n"),
		inYAML("two stars and a key", `- {key: "**.b", is: 1, if: {c: 2}}`, "a: {b: ①1, c: 2}\n---\na: [{b: ①1, c: 2}, {b: 1}]\nc: 2\n"),
		inYAML("of a list of values, the mapping that has the list", "- {key: a.b, is: 1, if: {c: 2}}", "a: {b: [0, ①1], c: 2}\n"),
		inYAML("of a list of lists, too", "- {key: a.b, is: 1, if: {c: 2}}", "a: {b: [[①1]], c: 2}\n"),
		inYAML("of several paths each by itself", "- {key: [a.b, d], is: 1, if: {c: 2}}", "a: {b: ①1, c: 2}\nd: 1\n"),
		inHCL("of a block the body in which its header stands", `- {key: "resource.aws_x", if: {a: 1}}`+"\n"+`- {key: "resource.aws_x.*.k", is: 1, if: {a: 1}}`,
			"a = 1\n①resource \"aws_x\" \"n\" {\n  k = 1\n}\nresource \"b\" \"n\" {\n}\n"),
		inHCL("an item with a key in a resource looks at the keys of the resource", `- {key: "resource.aws_x.*.k", is: 1, if: {a: 1}}`,
			"resource \"aws_x\" \"n\" {\n  k = ①1\n  a = 1\n}\nresource \"aws_x\" \"m\" {\n  k = 1\n}\n"),
		inYAML("a value that no key leads to is looked at itself", `- {key: ["**.b"], is: 1, if: {b: 1}}`, "b: ①1\n"),
		inYAML("each: only nodes for which it holds", "+ {each: a, if: {b: 1}, key: c}", "a:\n- ①b: 1\n- b: 2\n- {b: 1, c: 3}\n"),
		inYAML("each with where and if", "+ {each: a, if: {b: 1}, key: c, where: {d: 1}}", "①a: {b: 1}\nd: 1\n---\na: {b: 1}\n"),
		inYAML("a node that is no mapping, with missing", "+ {each: a, if: {b: {missing: true}}, key: c}", "①a: x\n"),
		inYAML("through a merge: the mapping that the path goes through, with its merged keys", "- {key: x.u, is: 1, if: {c: 2}}",
			"base: &b {u: ①1}\nx: {<<: *b, c: 2}\n"),
		inYAML("through an alias", "- {key: x.u.v, is: 1, if: {c: 2}}", "base: &b {v: ①1, c: 2}\nx: {u: *b}\n"),
	}
}

func anyCases() []formCase {
	return []formCase{
		inYAML("without it all must", "+ {key: a, is: x}", "a: [x, ①y]\n"),
		inYAML("at least one must be equal", "+ {key: a, is: x, any: true}", "a: [y, x]\n---\na: [①y, z]\n---\n①b: 1\n"),
		inYAML("several paths count together", "+ {key: [a, b], is: x, any: true}", "a: y\nb: x\n---\na: ①y\nb: y\n"),
		inYAML("of each node", "+ {each: n, key: a, is: x, any: true}", "n:\n- a: [x, y]\n- a: ①y\n- ①b: x\n"),
		inYAML("without each every document must have one", "+ {key: n.a, is: x, any: true}", "n:\n- a: y\n- a: x\n- b: 1\n"),
		inYAML("a branch that lacks the key is no fault", "+ {key: n.a.b, matches: x, any: true}", "n: [{a: {b: x}}, {}, {a: 1}]\n"),
		inHCL("in a dynamic it counts only if for_each is a literal that is not empty", "+ {key: x.a, is: 1, any: true}",
			"dynamic \"x\" {\n  for_each = [1]\n  content {\n    a = 1\n  }\n}\n"),
		inHCL("of each node", "+ {each: x, key: a, is: 1, any: true}",
			"dynamic \"x\" {\n  for_each = [1]\n  content {\n    a = 1\n  }\n}\ndynamic \"x\" {\n  for_each = var.y\n  content {\n    a = ①1\n  }\n}\n"),
		inHCL("else not", "+ {key: x.a, is: 1, any: true}", "dynamic \"x\" {\n  for_each = var.y\n  content {\n    a = ①1\n  }\n}\n"),
		formCase{"of a key that occurs twice each must have an equal value", "+ {key: a.b, is: 1, any: true}", "a.json",
			`{"a": {"b": ①1}, "a": {"b": 2}}`, ""},
		formCase{"both have one", "+ {key: a.b, is: 1, any: true}", "a.json", `{"a": {"b": [2, 1]}, "a": {"b": 1}}`, ""},
		inYAML("with at_least", "+ {key: a, at_least: 2, any: true}", "a: [1, 2]\n---\na: [①1, \"2\"]\n"),
		inYAML("nothing in a tagged list counts", "+ {key: a, is: x, any: true}", "a: ①!Foo [x]\n"),
	}
}

func limitCases() []formCase {
	return []formCase{
		inYAML("any reading of the value", "- {key: a, below: 9}\n- {key: a, above: 9}", "a: [①8, 9, ②10, ②0x10, ①-1, x, true, ~, {b: 1}, []]\n"),
		inYAML("in quotes, and with two readings", "- {key: a, below: 9}\n- {key: a, above: 9}", "a: ②\"10\"\n---\na: ①②010\n"),
		inYAML("in quotes", "- {key: a, above: 9}", "a: ①\"10\"\n---\na: ①'0x10'\n---\na: ①1e1\n---\na: ①9.5\n"),
		inYAML("at_least and at_most are exact", "+ {key: a, at_least: 2}\n+ {key: a, at_most: 2}",
			"a: ①1\n---\na: 2\n---\na: ②3\n---\na: ①②\"2\"\n---\na: ①②!x 2\n---\n①②b: 1\n---\na: 2.0\n"),
		inHCL("a variable is not", "+ {key: a, at_least: 2}", "a = ①var.x\n"),
		inYAML("no number is beside no limit", "- {key: a, below: 5}\n- {key: a, above: 5}", "a: [x, \"\", 5x, 1.2.3]\n"),
		inYAML("infinity", "- {key: a, below: -1e999}\n- {key: a, above: 1e999}", "a: [②.inf, ①-.inf, .nan, ②1e1000, 1e998]\n"),
		inYAML("exactly compared", "- {key: a, above: 0.3}", "a: [0.3, ①0.30000000000000000001, 3e-1]\n"),
		inYAML("quantities, quoted or not", "- {key: a, above: 1, quantity: true}", "a: [500m, ①1001m, ①\"2\", ①1Ki, \"0.5\", ①2e3, ①\"1E\", 1n, 1000m, \"1u\"]\n"),
		inYAML("the grammar", "+ {key: a, at_least: 0, quantity: true}",
			"a: [1, +1, \"1.\", .5, 1Ki, 1E, 1E3, 1e+3, ①1K, ①1GB, ①1gi, ①m, ①\"\", ①\" 1\", ①1e, ①1 Ki, ①1.5.5]\n"),
		inYAML("1E is 10^18, 1E3 a thousand", "- {key: a, above: 1e17, quantity: true}", "a: [①1E, 1E3]\n"),
		inYAML("exact, not rounded, capped or expanded", "- {key: a, above: 9223372036854775807, quantity: true}",
			"a: [9223372036854775807, ①9223372036854775808, ①1e999999999, 1e-999999999, ①16Ei, 7Ei]\n"),
		inYAML("the number readings of a value without quotes", "- {key: a, above: 9, quantity: true}", "a: [①0x10, ①1_0, \"0x10\", ①.inf, \".inf\"]\n"),
		inYAML("a required one needs a text that is a quantity", "+ {key: a, at_least: 9, quantity: true}", "a: [10, \"10\", ①0x10, ①1_0, ①.inf, ①~]\n"),
		inYAML("a value whose quotes are not known", "- {key: a, above: 9, quantity: true}", "a: ①!x '0x10'\n"),
		inYAML("certainly so: in each version of YAML", "+ {key: a, at_least: 9}\n+ {key: a, at_least: 9, quantity: true}",
			"a: ①②010\n---\na: ①1e3\n---\na: 10.0\n---\na: ①②1_0\n"),
		inYAML("at_most with a quantity", "+ {key: a, at_most: 4Gi, quantity: true}", "a: [4Gi, ①4.1Gi, 4294967296, ①4294967297, 1m]\n"),
		inYAML("is_not and matches_not do not refuse an empty list", "- {key: a, is_not: x}\n- {key: a, matches_not: x}",
			"a: []\n---\na: ①②!x []\n---\na: ①②{}\n---\na: ①②~\n---\na: [x, []]\n"),
		inYAML("what is not certain is refused by matches_not", "- {key: a, matches_not: 'n'}", "a: [①.nan, ①.inf, n]\n"),
	}
}

func textCases() []formCase {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	return []formCase{
		inYAML("a path that goes on below its key looks into a text", "- {key: policy.Statement.Action, is: '*'}",
			"policy: ①'{\"Statement\": [{\"Action\": \"*\"}]}'\n---\npolicy: ①|\n  {\"Statement\": {\"Action\": [\"x\", \"*\"]}}\n"),
		inYAML("a list", "- {key: policy.a, is: 1}", "policy: ①'[{\"a\": 1}, {\"a\": 2}]'\n"),
		inYAML("each by itself", "- {key: policy.a, is: 1}", "policy: ①①'[{\"a\": 1}, {\"a\": [1, 2]}]'\n"),
		inYAML("if a segment other than ** stands for that key", `- {key: "**.Action"}`+"\n"+`- {key: "**.policy.Action"}`+"\n"+`- {key: "*.Action"}`,
			"policy: ②③'{\"Action\": 1}'\n"),
		inYAML("policy.** reaches the text and all in it", `- {key: "policy.**", is: x}`+"\n"+`- {key: "policy.**", matches: Action}`+"\n"+`- {key: "policy.**.b", is: x}`,
			"policy: ①②③'{\"Action\": {\"b\": \"x\"}}'\n"),
		inYAML("the text is one value, the object in it another", `- {key: "p.**", is_not: x}`, "p: ①①①'{\"a\": 1, \"b\": \"x\"}'\n"),
		inYAML("a text in a list, and one that no key leads to", `- {key: "p.a"}`+"\n"+`- {key: "a"}`, "p: [①'{\"a\": 1}']\n---\n'{\"a\": 1}'\n---\n- '{\"a\": 1}'\n"),
		inYAML("as a whole", "- {key: p.a}", "p: 'x {\"a\": 1}'\n---\np: '{\"a\": 1} x'\n---\np: '{\"a\": 1},'\n---\np: \"{'a': 1}\"\n---\np: '{a: 1}'\n---\np: ①' {\"a\": 1} '\n"),
		inYAML("strict RFC 8259", "- {key: p.a}", "p: '{\"a\": 01}'\n---\np: '{\"a\": 1,}'\n---\np: '{\"a\": 1} // x'\n---\np: \"\\uFEFF{\\\"a\\\": 1}\"\n---\np: \"{\\\"a\\\": \\\"\\t\\\"}\"\n"),
		inYAML("half a surrogate pair, which RFC 8259 allows, hides nothing", "- {key: p.a}\n+ {key: p.b}",
			`p: ①'{"x": "\ud800", "a": 1, "b": "\udc00"}'`+"\n"),
		inYAML("a key twice is checked twice", "- {key: p.a, is: 1}", "p: ①①'{\"a\": 1, \"a\": 1, \"a\": 2}'\n"),
		inYAML("escapes", "- {key: p.a, is: \"x\\né\"}", `p: ①'{"\u0061": "x\né"}'`+"\n"),
		inYAML("required items, too", "+ {key: p.a, is: 1}", "p: '{\"a\": 1}'\n---\np: ①'{\"a\": \"1\"}'\n---\np: ①'{\"b\": 1}'\n---\n①p: x\n"),
		inYAML("so does each missing node there", "+ {key: p.a, is: 1}", "p: ①①'[{\"b\": 1}, {\"b\": 1}, {\"a\": 1}]'\n"),
		inYAML("each followed by key counts as one path", "+ {each: p, key: a}", "p: '{\"a\": 1}'\n---\np: ①'{\"b\": 1}'\n---\np: ①'[{\"a\": 1}, {}]'\n"),
		inYAML("each by ** does not", `+ {each: "**", key: a, if: {x: 1}}`, "p: '{\"x\": 1}'\n"),
		inYAML("and by a path of if", "+ {each: p, key: a, if: {b.c: 1}}", "p: ①'{\"b\": {\"c\": 1}}'\n---\np: '{\"b\": 1}'\n"),
		inYAML("where and if look into texts like a key", "- {key: k, where: {p.a: 1}}\n- {key: k, if: {p.a: {is_not: 1}}}\n- {key: k, if: {p.b: {missing: true}}}",
			"①③k: 1\np: '{\"a\": 1}'\n"),
		inYAML("if in a text", "- {key: p.a, if: {b: 1}}", "p: ①'[{\"a\": 1, \"b\": 1}, {\"a\": 1}]'\n"),
		inYAML("at most three texts deep", "- {key: a.b.c.d, is: 1}", "a: ①'{\"b\": \"{\\\"c\\\": \\\"{\\\\\\\"d\\\\\\\": 1}\\\"}\"}'\n"),
		inYAML("into a fourth", "- {key: a.b.c.d.e, is: 1}",
			"a: '{\"b\": \"{\\\"c\\\": \\\"{\\\\\\\"d\\\\\\\": \\\\\\\"{\\\\\\\\\\\\\\\"e\\\\\\\\\\\\\\\": 1}\\\\\\\"}\\\"}\"}'\n").fails("E_LIMIT"),
		inYAML("in a condition, too", "- {key: k, if: {a.b.c.d.e: 1}}",
			"k: 1\na: '{\"b\": \"{\\\"c\\\": \\\"{\\\\\\\"d\\\\\\\": \\\\\\\"{\\\\\\\\\\\\\\\"e\\\\\\\\\\\\\\\": 1}\\\\\\\"}\\\"}\"}'\n").fails("E_LIMIT"),
		inYAML("deeper than the bounds", "- {key: a.b, is: 1}", "a: '"+deep(1001)+"'\n").fails("E_LIMIT"),
		inYAML("as deep as the bounds", "- {key: a.b, is: 1}", "a: '"+deep(1000)+"'\n"),
		inYAML("where no path looks into it", "- {key: a, is: 1}", "a: '"+deep(1001)+"'\n"),
		inYAML("a tagged text is looked into by forbidden items and conditions, never by required ones",
			"- {key: p.a, is: 1}\n- {key: p, if: {p.b: {is: 9}}}\n+ {key: p.a, is: 1.0}", "②③p: ①!Sub '{\"a\": 1}'\n"),
		inYAML("and so is what is in it, where an if begins", "- {key: p.a, if: {b: 2}}\n+ {each: p, key: a, if: {b: 2}}", "p: ①②!Sub '{\"a\": 1}'\n"),
		inHCL("what jsonencode is given, at its own place", "- {key: p.a, is: 1}\n- {key: p, is_not: x}\n+ {key: p.a, is: 2}", "p = ②jsonencode({ a = ①③1 })\n"),
		inHCL("which is no text", "- {key: p.a.b.c.d, is: 1}\n+ {key: q.a.b, is: 1}", "p = jsonencode({ a = ①"+`"{\"b\": \"{\\\"c\\\": \\\"{\\\\\\\"d\\\\\\\": 1}\\\"}\"}"`+" })\nq = jsonencode({ a = "+`"{\"b\": 1, \"c\": \"${var.x}\"}"`+" })\n"),
		inHCL("one argument that is an object or list as written", "- {key: p.a, is: 1}", "p = jsonencode(merge({ a = 1 }, {}))\nq = 1\n"),
		inHCL("a condition looks into jsonencode", "- {key: k, if: {p.a: {is: 1}}}\n- {key: k, if: {p.a: {is: 2}}}\n- {key: k, if: {p.b: {is: 2}}}",
			"①③k = 1\np = jsonencode({ a = 1, b = var.x })\n"),
		inHCL("each ${…} in a JSON string makes that string uncertain", "- {key: p.a, is_not: x}\n- {key: p.b, is_not: x}\n+ {key: p.b, is: x}\n+ {key: p.a, matches: x}",
			"p = ①④\"{\\\"a\\\": \\\"x${var.x}\\\", \\\"b\\\": \\\"x\\\"}\"\n"),
		inHCL("${…} where a value could stand is an uncertain value", "- {key: p.a, is_not: x}\n- {key: p.b, is: x}", "p = ①②\"{\\\"a\\\": ${var.x}, \\\"b\\\": \\\"x\\\"}\"\n"),
		inHCL("elsewhere the text is no JSON", "- {key: p.b, is: x}", "p = \"{${var.x} \\\"b\\\": \\\"x\\\"}\"\n"),
		inHCL("a JSON string with ${…} is looked into as a tagged text is", "- {key: p.q.a, is: 1}\n- {key: k, if: {p.q.b: 2}}\n+ {key: p.q.a, is: 1.0}",
			"p = ①③\"{\\\"q\\\": \\\"{\\\\\\\"a\\\\\\\": 1, \\\\\\\"c\\\\\\\": \\\\\\\"${var.x}\\\\\\\"}\\\"}\"\n②k = 1\n"),
		inHCL("a text with %{…} is no JSON", "- {key: p.b, is: x}", "p = \"{\\\"b\\\": \\\"x\\\", \\\"c\\\": \\\"%{ if var.x }y%{ endif }\\\"}\"\n"),
		inHCL("in parentheses and a lone ${…}", "- {key: p.a, is: 1}", "p = \"${(jsonencode({ a = ①1 }))}\"\n"),
		inHCL("a heredoc", "- {key: p.b, is: x}", "p = ①<<E\n{\"b\": \"x\"}\nE\n"),
	}
}

func searchCases() []formCase {
	many := strings.Repeat("ab ", 100)
	const fallback = "- {text: x, only: unparsable}\n- {key: k}\nunparsable: text"
	return []formCase{
		inText("a match that lies within a match of RE does not count", "- {regex: 'b+', except: 'ab+c'}", "abc ①b a①bb\n"),
		inText("within: from its first to its last character at most; equal counts", "- {regex: 'b+', except: 'b+'}", "b bb\n"),
		inText("a match that is only partly within it counts", "- {regex: 'b+', except: 'ab'}", "a①bb ab\n"),
		inText("on the same line", "- {regex: 'b', except: 'abc'}", "a\n①b\nc abc\n"),
		inText("RE is found leftmost-first, not overlapping", "- {regex: 'b', except: 'aba'}", "abac①ba aba①ba\n"),
		inText("an excepted match uses up its text", "- {regex: 'ab|bc', except: 'ab'}", "abc\n"),
		inText("in a required item only matches that are left count", "+ {regex: 'b', except: 'abc'}", "①abc\n"),
		inText("one is left", "+ {regex: 'b', except: 'abc'}", "abc b\n"),
		inText("all of the first 100 are dropped, and there is a 101st", "- {regex: 'b', except: 'ab'}", many+"a①b ab\n"),
		inText("not all of them are", "- {regex: 'b', except: 'ab'}", "①b "+many+"b\n"),
		inText("in the same reading", "- {regex: 'b', except: 'ab'}", "\xff\xfea\x00①b\x00 \x00①b\x00\n\x00"),
		inText("the match begins in one of the first lines", "- {regex: 'b\\w', within_lines: 2}\n- {text: bc, within_lines: 2}", "a\n①②bc\nbc\n"),
		inText("lines of UTF-16, too", "- {regex: 'b', within_lines: 2}\n- {text: bc, within_lines: 2}", "\xff\xfea\x00\n\x00①②b\x00c\x00\n\x00b\x00c\x00"),
		inText("required, too", "+ {regex: 'b', within_lines: 1}\n+ {text: ab, within_lines: 1}", "①②x\nab\n"),
		inYAML("not of others", fallback, "x: 1\n"),
		inYAML("of those with an E_PARSE", fallback, "①x: [\n").fails("E_PARSE"),
		inYAML("of those in coverage.unparsed", fallback, "①x: {{ y\n"),
		inYAML("required", "+ {text: y, only: unparsable}\n+ {key: k}\nunparsable: text", "①a: {{ z\n"),
		inYAML("required and parsed", "+ {text: y, only: unparsable}\n+ {key: k}\nunparsable: text", "②a: z\n"),
		inText("E_FORMAT does not count", fallback, "x").fails("E_FORMAT"),
		inYAML("E_LIMIT does not count", "- {text: x, only: unparsable}\n- {key: a.b}\nunparsable: text", "a: '"+strings.Repeat("[", 1001)+strings.Repeat("]", 1001)+"' # x\n").fails("E_LIMIT"),
		inYAML("one key item that could not parse is enough", "- {text: x, only: unparsable}\n- {key: k}\n- {key: k, format: json}\nunparsable: text", "②k: 1 # ①x\n").fails("E_PARSE"),
	}
}

func containingCases() []formCase {
	return []formCase{
		inText("only files in which at least one is found are checked", "- a\ncontaining: [m]", "①a m\n"),
		inText("not of others", "- a\n+ b\ncontaining: [m, n]", "a\n"),
		inText("one is enough, a required item, too", "- a\n+ b\ncontaining: [m, n]", "②①a n\n"),
		inText("as a forbidden item would find it", "- a\ncontaining: [{text: m, words: true}, {regex: 'n$'}]", "a mm nn.\n"),
		inYAML("a key", "- {key: a}\ncontaining: [{key: kind, is: x}]", "①a: 1\nkind: x\n"),
		inYAML("a key is broad, and has if", "- {key: a}\ncontaining: [{key: kind, is: true, if: {b: {missing: true}}}]", "①a: 1\nkind: \"yes\"\n"),
		inYAML("a key that is not found", "- {key: a}\ncontaining: [{key: kind, is: x}]", "a: 1\nkind: y\n"),
		inYAML("of which that cannot be determined counts as one, and that is no error", "- a\ncontaining: [{key: kind, is: x}]", "①a: [\n"),
		inText("no known format", "- a\ncontaining: [{key: kind, is: x}]", "①a"),
		inYAML("E_LIMIT stays an error", "- a\ncontaining: [{key: kind.b, is: x}]", "kind: '"+strings.Repeat("[", 1001)+strings.Repeat("]", 1001)+"'\n①a: 1\n").fails("E_LIMIT"),
		inYAML("where another one is found as well", "- a\ncontaining: [kind, {key: kind.b, is: x}]", "kind: '"+strings.Repeat("[", 1001)+strings.Repeat("]", 1001)+"'\n①a: 1\n").fails("E_LIMIT"),
		inYAML("its items are no key items of the rule for only", "- {text: x, only: unparsable}\n- {key: k, format: yaml}\ncontaining: [{key: kind, format: json}]\nunparsable: text", "②k: 1 # x\n"),
		inYAML("its own items are not asked of other files", "- {key: a}\ncontaining: [m]", "a: [\n"),
		inYAML("a forbidden item may be one of it", "- a\ncontaining: [a]", "①a: 1\n"),
		inText("a pointer: what it stands for is not had", "- oid\ncontaining: [m]", "version https://git-lfs.github.com/spec/v1\n①oid x\n").fails("E_UNAVAILABLE"),
	}
}

func dockerCases() []formCase {
	return []formCase{
		inDocker("args, before the first FROM", "- {key: args.A, is: x}\n- {key: args.B}\n- {key: stages.arg.A}", "①ARG A=x\n②ARG B\nFROM a\n③ARG A\n"),
		inDocker("stages, a list, and final", "- {key: stages.from.image, is: a}\n- {key: final.from.image, is: b}", "①FROM a\n②FROM b\n"),
		inDocker("image, tag, digest, platform, as", "- {key: stages.from.image, is_not: 'r:5/a'}\n- {key: stages.from.tag, is_not: 1}\n"+
			"- {key: stages.from.digest, matches_not: '^sha256:'}\n- {key: stages.from, is: x, if: {from.platform: linux, from.as: B}}", "FROM --platform=linux r:5/a:1@sha256:0 AS B\n"),
		inDocker("without tag and digest they are missing", "+ {each: stages.from, key: tag}\n+ {each: stages.from, key: digest}", "①②FROM a\nFROM a:1@b\n"),
		inDocker("a port is no tag", "- {key: stages.from.tag}", "FROM r:5/a\n"),
		inDocker("stage: true if it names an earlier stage", "- {key: stages.from.stage, is: true}", "FROM a AS b\n①FROM B\nFROM c\nFROM 0\n"),
		inDocker("in a stage its own name means itself", "- {key: stages.copy.from.stage}",
			"FROM a AS b\nFROM c AS b\nCOPY --from=b x y\nCOPY --from=1 x y\n①COPY --from=0 x y\n"),
		inDocker("the stages of ONBUILD are those of another build", "- {key: stages.onbuild.copy.from.stage}\n- {key: stages.onbuild.copy.from.image}",
			"FROM a AS b\nFROM c\n②ONBUILD COPY --from=b x y\n②ONBUILD COPY --from=0 x y\n"),
		inDocker("names may repeat, as stays as written", "- {key: stages.from.as, is: b}\n- {key: final.user, is: z}", "①FROM a AS b\nUSER x\nFROM c AS B\n②USER z\nFROM b\n"),
		inDocker("each other instruction with the list of its occurrences", "- {key: stages.run.command, matches: x}\n- {key: stages.run}", "FROM a\n①②RUN x\n②run y\n①②Run z x\n"),
		inDocker("command is a text or the list of the JSON form", "- {key: stages.cmd.command, is: [a, 'b c']}\n- {key: stages.entrypoint.command, is: 'b  c'}",
			"FROM a\n①①CMD [\"a\", \"b c\"]\n①CMD b c\n②ENTRYPOINT b  c\n"),
		inDocker("its flags", "- {key: stages.run.network, is: none}\n- {key: stages.run.mount, is: [a, b]}\n- {key: stages.healthcheck.interval, is: 5m}",
			"FROM a\n①②②RUN --network=none --mount=a --mount=b x\n③HEALTHCHECK --interval=5m CMD x\n"),
		inDocker("sources, to, and their flags", "- {key: stages.copy.sources, is: .}\n- {key: stages.add.to, is: /}\n- {key: stages.copy.chown, is: 'a:b'}",
			"FROM a\n①③COPY --chown=a:b x . y\n②ADD [\"a b\", \"/\"]\n"),
		inDocker("env, arg, label: names and values", "- {key: stages.env.A, is: 'x y'}\n- {key: stages.label.\"a.b\", is: c}\n- {key: stages.arg.C, is: 1}",
			"FROM a\n①ENV A=\"x y\" B=2\n①ENV A x y\n②LABEL \"a.b\"=c\n③ARG C=1 D\n").at("Containerfile"),
		inDocker("user, workdir, stopsignal, maintainer: the text", "- {key: stages.user, is: 'a:b'}\n- {key: stages.workdir, is: /x}\n- {key: stages.stopsignal, is: 9}\n- {key: stages.maintainer, is: '\"a\" b'}",
			"FROM a\n①USER a:b\n②WORKDIR \"/x\"\n③STOPSIGNAL 9\n④MAINTAINER \"a\" b\n"),
		inDocker("expose, volume: each item", "- {key: stages.expose, is: 22}\n- {key: stages.volume, is: /a}", "FROM a\n①EXPOSE 80 22\n②VOLUME /b /a\n②VOLUME [\"/a\"]\n"),
		inDocker("onbuild: the instruction in it, never in force", "- {key: stages.onbuild.run.command, is: x}\n- {key: stages.run}\n+ {key: final.user}",
			"③FROM a\n①ONBUILD RUN x\nONBUILD USER y\n"),
		inDocker("final has the last occurrence alone", "- {key: final.user, is_not: x}\n- {key: final.cmd.command, is: a}\n- {key: final.env.A, is: 1}",
			"FROM a\nUSER y\nUSER x\nCMD a\nCMD b\n③ENV A=1\nENV A=2\n"),
		inDocker("one place counts once, whatever paths lead to it", `- {key: "**.user", is: root}`+"\n"+`- {key: "**.user"}`, "FROM a\n②USER x\n①②USER root\n"),
		inDocker("a value with $ is uncertain", "- {key: stages.user, is_not: [$U, x]}\n- {key: stages.run.command, matches: U, if: {command: z}}\n- {key: stages.env.A, if: {A: {is: z}}}",
			"FROM a\n①USER $U\nRUN $U\n③ENV A=${B:-c}\n"),
		inDocker("escape and \\r\\n", "- {key: stages.run.command, is: 'a   b'}", "# escape=`\r\nFROM a\r\n①RUN a `\r\n  b\r\nRUN a \\\r\n"),
		inDocker("names", "- {key: stages.run}", "FROM a\n①RUN x\n").at("x/CONTAINERFILE.prod"),
		inDocker("names", "- {key: stages.run}", "FROM a\n①RUN x\n").at("x/api.dockerfile"),
		inDocker("*.dockerignore is another file", "- {key: stages.run}", "FROM a\nRUN x\n").at("Dockerfile.dockerignore").fails("E_FORMAT"),
		inDocker("a name with another known extension is of that", "- {key: stages.run}\n- {key: a}", "②a: 1\n").at("Dockerfile.yml"),
		inDocker("format", "- {key: stages.run, format: dockerfile}", "FROM a\n①RUN x\n").at("x.txt"),
	}
}

func dockerFineCases() []formCase {
	cases := []formCase{
		inDocker("a continuation is joined by nothing", "- {key: stages.run.command, is: ['a   b', 'ab']}", "FROM a\n①RUN a \\\n  b\n①RUN a\\\nb\n"),
		inDocker("comment lines and empty lines between are left out", "- {key: stages.run.command, is: 'a b c'}", "FROM a\n①RUN a \\ \n# x\n\n  # y \\\nb \\\n\nc\nRUN d\n"),
		inDocker("two escapes are no continuation", "- {key: stages.run.command, is: 'a\\\\'}", "FROM a\n①RUN a\\\\\nRUN b\n"),
		inDocker("what an earlier stage leaves in force", "- {key: final.user, is: u}\n- {key: final.cmd.command, is: c}\n+ {key: final.workdir}\n+ {key: final.entrypoint}",
			"FROM a AS b\n①USER u\nFROM b AS c\n②CMD c\nWORKDIR w\n④FROM c\n"),
		inDocker("what an image brings is unknown and counts as missing", "- {key: stages.from, if: {from.x: {present: true}}}\n+ {key: final.user}", "FROM a\nUSER u\n②FROM x\n"),
		inDocker("env of an earlier stage is found, and no required one", "- {key: final.env.A}\n+ {key: [final.env.A]}", "FROM a AS b\n①ENV A=1\n②FROM b\n"),
		inDocker("ENTRYPOINT takes back an earlier stage's CMD", "- {key: final.cmd}\n+ {key: [final.cmd]}", "FROM a AS b\n①CMD x\n②FROM b\nENTRYPOINT y\n"),
		inDocker("not in command, maintainer and here-documents", "- {key: stages.run.command, is_not: $a}\n- {key: stages.maintainer, is_not: $a}\n- {key: stages.copy.content, is_not: \"$a\\n\"}",
			"FROM a\nRUN $a\nMAINTAINER $a\nCOPY <<E b\n$a\nE\n"),
		inDocker("the items of a JSON form joined by one space", "- {key: stages.run.command, matches: 'a b'}\n- {key: stages.run.command, is: 'a b'}\n- {key: stages.user, is: z, if: {run.command: 'a b'}}\n"+
			`- {key: "stages.run.**", matches: 'a b'}`, "FROM x\n①②④RUN [\"a\", \"b\"]\n③USER z\n"),
		inDocker("values of one instruction count each by itself", "- {key: stages.env.*, is: 1}", "FROM a\n①①ENV A=1 B=1 C=2\n"),
		inDocker("an occurrence is an item of a list: what it lacks and what it is have one place", `+ {each: "**.*", key: '*', is: x}`,
			"①①FROM x\n①USER y\n"),
		inDocker("FROM with variables", "- {key: stages.from.image, is_not: x}\n- {key: stages.from.tag, is: 'x:${y:-z}'}\n- {key: stages.from.digest}\n- {key: stages.run, if: {from.stage: true}}",
			"①②③FROM x:${y:-z}\n④RUN a\n"),
		inDocker("what stages from variables leave counts as missing", "+ {key: final.user}", "FROM a AS b\nUSER u\n①FROM $b\n"),
		inDocker("quotes and escapes are taken away, of names too", "- {key: stages.env.A, is: 'x y\"z'}\n- {key: stages.workdir, is: 'C:x'}\n- {key: stages.from.image, is: b}",
			"③FROM \"b\"\n①ENV \"A\"=x\\ 'y'\"\\\"z\"\nENV A=x\n②WORKDIR C:\\x\n"),
		inDocker("but in command and maintainer", "- {key: stages.run.command, is: '\"a\" \\b'}\n- {key: stages.maintainer, is: \"'a\"}", "FROM a\n①RUN \"a\" \\b\n②MAINTAINER 'a\n"),
		inDocker("a name with $ is matched by * and ** only", `- {key: 'stages.label."$a"'}`+"\n- {key: stages.label.*}", "FROM a\n②LABEL $a=b\n"),
		inDocker("of a missing key of a stage: its FROM", "+ {each: stages, key: user}", "①FROM a\nRUN x\nFROM b\nUSER x\n"),
		inDocker("HEALTHCHECK NONE", "- {key: final.healthcheck.none, is: true}\n- {key: stages.healthcheck.command}", "FROM a\n②HEALTHCHECK CMD x\n①HEALTHCHECK NONE\n"),
		inDocker("required items read a text as YAML without quotes", "+ {key: stages.env.A, is: true}\n+ {key: stages.env.B, at_least: 5}\n- {key: stages.env.A, is: \"yes\"}\n- {key: stages.env.B, is: 5}",
			"FROM a\n②ENV A=true B=5\n"),
		inDocker("a list with one mapping of names for each instruction", "+ {key: final.label.a, is: x, any: true}\n+ {key: final.label.b}", "FROM a\n②LABEL a=x\nLABEL b=y\n"),
		inDocker("ARG without a default is null", "- {key: stages.arg.A, if: {A: {missing: true}}}\n+ {key: stages.arg.A}", "FROM a\n①②ARG A\n"),
		inDocker("a flag without a value is true, one that may be repeated a list", "+ {key: stages.copy.link, is: true}\n- {key: stages.run.mount, is: a}", "FROM a\nCOPY --link a b\n①RUN --mount=a x\n"),
		inDocker("from of COPY is the same mapping", "- {key: stages.copy.from.stage, is: true}\n- {key: stages.copy.from.tag, is: 1}",
			"FROM x AS a\nCOPY --from=a . .\nFROM y\n①COPY --from=A . .\n①COPY --from=0 . .\nCOPY --from=1 . .\n②COPY --from=a:1 . .\n"),
		inDocker("here-documents: the line, then the content", "- {key: stages.run.command, is: \"a <<E <<'F'\\nx\\ny\\n\"}\n- {key: stages.copy.content, is: \"x\\n\"}\n- {key: stages.copy.sources}",
			"FROM a\n①RUN a <<E <<'F'\nx\nE\ny\nF\n②COPY <<-E /b\n\tx\n\tE\n"),
		inDocker("what stands in one is no instruction", "- {key: stages.user}", "FROM a\nRUN <<E\nUSER x\nE\n①USER y\n"),
		inDocker("JSON in a text of a Dockerfile", "- {key: stages.label.a.b, is: 1}", "FROM a\n①LABEL a='{\"b\": 1}'\n"),
		inDocker("NUL is a character like others", "- {key: stages.user, is_not: root}", "FROM a\n①USER ro\x00ot\n"),
		inDocker("with $, as a tagged text", "- {key: stages.label.a.b, is: 1}\n+ {key: stages.label.a.b, is: 1.0}", "FROM a\n①②LABEL a='{\"b\": 1, \"c\": \"$x\"}'\n"),
		inDocker("no here-document beside an open quote", "- {key: stages.user}", "FROM a\nRUN echo \"<<E\n①USER x\n"),
		inDocker("nor next to a variable that Docker does not read", "- {key: stages.user}", "FROM a\nRUN x ${ <<E\n①USER x\n"),
		inDocker("a byte order mark", "- {key: stages.user}", "\ufeffFROM a\n①USER x\n"),
		inDocker("a line of less than 64 KiB", "- {key: stages.user}", "FROM a\n①USER x\n#"+strings.Repeat("x", 65534)+"\n"),
	}
	for _, refused := range []string{
		"FROM a\nFOO x\n", "FROM a\nRUN --foo=x y\n", "FROM a\nUSER\n", "RUN x\n", "", "# x\n", "ARG a\n", "FROM a\nSHELL x\n", "FROM a\nSHELL []\n", "FROM a\nRUN <<E\nx\n",
		"FROM a\n#" + strings.Repeat("x", 65535) + "\n", "FROM a\nUSER \"x\n", "FROM a\nENV a\n", "FROM a\nENV =b\n", "FROM a b\n", "FROM a AS 1\n", "FROM\n", "FROM a\nCOPY x\n",
		"FROM a\nHEALTHCHECK x\n", "FROM a\nHEALTHCHECK NONE x\n", "FROM a\nHEALTHCHECK --interval=x CMD y\n", "FROM a\nRUN [1]\n", "FROM a\nONBUILD FROM b\n", "FROM a\nONBUILD ONBUILD RUN x\n",
		"# escape=x\nFROM a\n", "# escape=`\n# escape=`\nFROM a\n", "FROM a\nCOPY --chown=a --chown=b x y\n", "FROM a\nCOPY --chown x y\n", "FROM a\nCOPY --link=x a b\n",
		"FROM a\nCOPY a <<E\nE\n", "FROM a\nLABEL a=b c\n", "FROM a\nEXPOSE\n", "FROM a\nVOLUME []\n", "FROM a\nUSER x\n y\n",
	} {
		cases = append(cases, inDocker("what BuildKit refuses", "- {key: stages}", refused).fails("E_PARSE"))
	}
	return cases
}

// listCases are about documents that are lists of Kubernetes.
func listCases() []formCase {
	return []formCase{
		inYAML("the kind of a list counts one place", "- {key: kind}\n- {key: kind, is: Pod}", "apiVersion: v1\n①kind: ②PodList\nitems:\n- {a: 1}\n- {a: 2}\n"),
		inYAML("a list has an apiVersion", "+ {key: owner}", "①kind: AllowList\nitems: [{owner: x}]\n---\napiVersion: v1\nkind: AllowList\nitems: [{owner: x}, ①{a: 1}]\n"),
		inHCL("and is YAML or JSON", "+ {key: owner}", "①kind = \"AllowList\"\napiVersion = 1\nitems = [{ owner = 1 }]\n"),
	}
}
