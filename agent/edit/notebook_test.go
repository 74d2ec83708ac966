package edit_test

import "testing"

const notebook = `{
 "nbformat": 4,
 "nbformat_minor": 5,
 "2": 1.0,
 "metadata": {},
 "1": [1e2, -0, 12345678901234567890, {}, []],
 "cells": [
  {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["x\n", "\u00e9\/\ud800"]},
  {"cell_type": "code", "id": "b", "execution_count": 3, "outputs": [1], "source": ""}
 ]
}`

// head and foot are how the notebook is rewritten: array indexes first, numbers as doubles.
const head = "{\n \"1\": [\n  100,\n  0,\n  12345678901234567000,\n  {},\n  []\n ],\n \"2\": 1,\n \"nbformat\": 4,\n \"nbformat_minor\": 5,\n \"metadata\": {},\n \"cells\": [\n"
const foot = "\n ]\n}"
const cellA = "  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"a\",\n   \"metadata\": {},\n   \"source\": [\n    \"x\\n\",\n    \"é/\\ud800\"\n   ]\n  }"
const cellB = "  {\n   \"cell_type\": \"code\",\n   \"id\": \"b\",\n   \"execution_count\": 3,\n   \"outputs\": [\n    1\n   ],\n   \"source\": \"\"\n  }"

func TestNotebook(t *testing.T) {
	in := func(fields object) object {
		fields["notebook_path"] = "/n/a.ipynb"
		if fields["new_source"] == nil {
			fields["new_source"] = "y\n\u2028<\x01"
		}
		return fields
	}
	const source = "\"y\\n\u2028<\\u0001\""
	newB := "  {\n   \"cell_type\": \"code\",\n   \"id\": \"b\",\n   \"execution_count\": null,\n   \"outputs\": [],\n   \"source\": " + source + "\n  }"
	inserted := "  {\n   \"cell_type\": \"code\",\n   \"id\": \"00000000\",\n   \"source\": " + source + ",\n   \"metadata\": {},\n   \"execution_count\": null,\n   \"outputs\": []\n  }"
	text := "  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"00000000\",\n   \"source\": " + source + ",\n   \"metadata\": {}\n  }"
	run(t, []story{
		{name: "a cell by its id", tool: "NotebookEdit", input: in(object{"cell_id": "b"}), before: notebook, after: []string{head + cellA + ",\n" + newB + foot}},
		{name: "a cell by its number", tool: "NotebookEdit", input: in(object{"cell_id": "cell-1", "edit_mode": "replace"}), before: notebook, after: []string{head + cellA + ",\n" + newB + foot}},
		{name: "an end of the last line may be kept", tool: "NotebookEdit", input: in(object{"cell_id": "a", "edit_mode": "delete"}), before: notebook + "\n", after: []string{head + cellB + foot + "\n", head + cellB + foot}},
		{name: "a byte order mark is kept", tool: "NotebookEdit", input: in(object{"cell_id": "a", "edit_mode": "delete"}), before: "\xef\xbb\xbf" + notebook, after: []string{"\xef\xbb\xbf" + head + cellB + foot}},
		{name: "inserted behind a cell", tool: "NotebookEdit", input: in(object{"cell_id": "a", "edit_mode": "insert", "cell_type": "code"}), before: notebook, after: []string{head + cellA + ",\n" + inserted + ",\n" + cellB + foot}},
		{name: "inserted at the beginning", tool: "NotebookEdit", input: in(object{"edit_mode": "insert", "cell_type": "markdown"}), before: notebook, after: []string{head + text + ",\n" + cellA + ",\n" + cellB + foot}},
		{name: "of an older format without an id", tool: "NotebookEdit", input: in(object{"edit_mode": "insert", "cell_type": "markdown", "new_source": "x"}), before: `{"cells":[],"nbformat":4,"nbformat_minor":4}`,
			after: []string{"{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"source\": \"x\",\n   \"metadata\": {}\n  }\n ],\n \"nbformat\": 4,\n \"nbformat_minor\": 4\n}"}},
		{name: "another kind of cell", tool: "NotebookEdit", input: in(object{"cell_id": "cell-0", "cell_type": "code", "new_source": "x"}), before: `{"cells":[{"cell_type":"raw"}]}`,
			after: []string{"{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"source\": \"x\"\n  }\n ]\n}"}},
		{name: "an id that looks like a number", tool: "NotebookEdit", input: in(object{"cell_id": "cell-1", "edit_mode": "delete"}), before: `{"cells":[{"id":"cell-1"},{"id":"x"}]}`,
			after: []string{"{\n \"cells\": [\n  {\n   \"id\": \"x\"\n  }\n ]\n}"}},
		{name: "what is there stays in its place", tool: "NotebookEdit", input: in(object{"cell_id": "x", "new_source": "\b\t\v\f\r \"\\\x1f\x7f"}), before: `{"cells":[{"source":"" , "id":"x"}]}`,
			after: []string{"{\n \"cells\": [\n  {\n   \"source\": \"\\b\\t\\u000b\\f\\r \\\"\\\\\\u001f\x7f\",\n   \"id\": \"x\"\n  }\n ]\n}"}},
		{name: "values as JavaScript writes them", tool: "NotebookEdit", input: in(object{"cell_id": "cell-0", "edit_mode": "delete"}), before: `{"cells":[{}],"v":[0.50 ,9.0,-1.0,1e400,true , null,"\ud834\udd1e \ud834x \ud834\ud834\udd1e \u0022\u005c\u001f\b\/"]}`,
			after: []string{"{\n \"cells\": [],\n \"v\": [\n  0.5,\n  9,\n  -1,\n  null,\n  true,\n  null,\n  \"\U0001d11e \\ud834x \\ud834\U0001d11e \\\"\\\\\\u001f\\b/\"\n ]\n}"}},
		{name: "names in the order of JavaScript", tool: "NotebookEdit", input: in(object{"cell_id": "cell-0", "edit_mode": "delete"}), before: `{"4294967295":1,"cells":[{}],"01":1,"4294967294":1,"10":1,"9":1,"0":1}`,
			after: []string{"{\n \"0\": 1,\n \"9\": 1,\n \"10\": 1,\n \"4294967294\": 1,\n \"4294967295\": 1,\n \"cells\": [],\n \"01\": 1\n}"}},
		{name: "an id that no cell has", tool: "NotebookEdit", input: in(object{"cell_id": "c"}), before: notebook, err: `no cell of the notebook has the id "c"`},
		{name: "a number that no cell has", tool: "NotebookEdit", input: in(object{"cell_id": "cell-2"}), before: notebook, err: "there is no cell 2 in the notebook, which has 2"},
		{name: "no cell", tool: "NotebookEdit", input: in(object{}), err: "there is no cell_id"},
		{name: "an insert of no kind", tool: "NotebookEdit", input: in(object{"edit_mode": "insert"}), err: "there is no cell_type"},
		{name: "a kind that is none", tool: "NotebookEdit", input: in(object{"cell_id": "a", "cell_type": "raw"}), err: `the cell_type "raw"`},
		{name: "a mode that is none", tool: "NotebookEdit", input: in(object{"cell_id": "a", "edit_mode": "append"}), err: `the edit_mode "append"`},
		{name: "no notebook", tool: "NotebookEdit", input: object{"notebook_path": "a.py", "new_source": "x", "cell_id": "a"}, err: "is not a notebook"},
		{name: "the number of a cell, as it once was", tool: "NotebookEdit", input: in(object{"cell_number": 1}), err: `the field "cell_number" is not known`},
		{name: "no file", tool: "NotebookEdit", input: in(object{"cell_id": "a"}), before: absent, err: "there is no such notebook"},
		{name: "no JSON", tool: "NotebookEdit", input: in(object{"cell_id": "a"}), before: "{", err: "it is not JSON"},
		{name: "two values", tool: "NotebookEdit", input: in(object{"cell_id": "a"}), before: notebook + "{}",
			err: "it is not JSON"},
		{name: "JSON and more", tool: "NotebookEdit", input: in(object{"cell_id": "a"}), before: notebook + "x",
			err: "it is not JSON"},
		{name: "a number", tool: "NotebookEdit", input: in(object{"cell_id": "a"}), before: "5", err: "has no list of cells"},
		{name: "a name twice", tool: "NotebookEdit", input: in(object{"cell_id": "a"}), before: `{"a":1,"\u0061":2}`, err: "occurs twice in one object"},
		{name: "no cells", tool: "NotebookEdit", input: in(object{"cell_id": "a"}), before: `{"cells":{}}`, err: "has no list of cells"},
		{name: "a cell that is none", tool: "NotebookEdit", input: in(object{"cell_id": "a"}), before: `{"cells":[1]}`, err: "cell 0 of the notebook is not an object"},
	})
}
