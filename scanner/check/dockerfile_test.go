package check

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
)

// TestDockerfileSpellings: no way to write what a pattern forbids, or to lack what it requires, passes. Either it is
// found, or the file is an error.
func TestDockerfileSpellings(t *testing.T) {
	for _, c := range []struct {
		list, pattern string
		passes        string
		others        []string
	}{
		{"forbidden_patterns", `{key: stages.from.tag, is: latest}`, "FROM a:1\n# FROM a:latest\n", []string{
			"FROM a:latest", "from a:latest as b", "FROM\ta:latest\r\n", "FROM a:la\\\ntest", "FROM a:la\\\n# c\n\ntest",
			"# escape=`\nFROM a:la`\ntest", `FROM "a:latest"`, `FROM a:'latest'`, `FROM a:l\atest`, "FROM \ufeffa:latest",
			"FROM --platform=b a:latest", "FROM a:latest@sha256:b", "FROM h:5000/a:latest", "\\\nFROM a:latest", "\n  FROM a:latest",
			"FROM b AS a\nFROM a:latest", "FR\\\nOM a:latest", "FROM a:latest AS a:latest", "\u00a0FROM a:latest", "FROM a:latest\f",
			"\ufeffFROM a:latest", "FROM a:latest\nRUN b\x00", "FROM\va:latest", "#\n# escape=`\nFROM a:la\\\ntest",
		}},
		{"forbidden_patterns", `{key: stages.from.tag, is_not: 1.2-b}`, "FROM a:'1.2-b'", []string{
			"FROM a:$B", "FROM $B", "FROM a:${B:-1.2-b}", "FROM a:1.2", "FROM a:1.\\\n3", `FROM a:"$B"`, "FROM a$B", "FROM $B:1.2-b",
		}},
		{"forbidden_patterns", `{key: "**.add.sources", matches: '^https?://'}`, "FROM a\nADD b http://c", []string{
			"FROM a\nADD http://b c", "FROM a\nadd b http://b c", "FROM a\nADD [\"http://b\", \"c\"]", "FROM a\nADD [\"\\u0068ttp://b\", \"c\"]",
			"FROM a\nADD --chown=c \\\n http://b c", "FROM a\nADD \"http://b\" c", "FROM a\nADD 'h'ttp://b c", "FROM a\nADD ht\\tp://b c",
			"FROM a\nADD ht\\\ntp://b c", "FROM a\nONBUILD ADD http://b c", "FROM a\nonbuild\tadd http://b c", "FROM a\nADD <<E http://b c\nE\n",
			"FROM a\nADD -- http://b c", "FROM a\nADD [ \"http://b\" ,\\\n\"c\" ]", "FROM b AS a\nADD http://b c\nFROM a",
		}},
		{"forbidden_patterns", `{key: "**.run.command", matches: 'apt-get +install'}`, "FROM a\nRUN <<E\n# apt-get\ninstall\nE", []string{
			"FROM a\nRUN apt-get install b", "FROM a\nRUN apt-get \\\n\n# c\n  install b", "FROM a\nRUN [\"apt-get\", \"install\"]",
			"FROM a\nRUN [\"apt-get install\"]", "FROM a\nRUN [\"sh\", \"-c\", \"apt-get install\"]", "FROM a\nRUN <<E\napt-get install\nE",
			"FROM a\nRUN <<-E sh\n\tapt-get install\n\tE", "FROM a\nRUN <<'E' <<F\nE\napt-get install\nF", "FROM a\nONBUILD RUN apt-get install",
			"FROM a\nRUN --mount=type=cache,target=/b apt-get install", "FROM a\nrun\tapt-get install", "FROM a\nRUN -- apt-get install",
			"FROM a\nRUN [\"apt-get\",\\\n\"install\"]", "FROM a\nONBUILD RUN [\"apt-get\", \"install\"]", "FROM a\nRUN apt-get install <<E\nE",
			"FROM a\nRUN [\"apt-get\", \"install\"] b || apt-get install", "FROM a\nRUN apt-\\\nget install",
		}},
		{"forbidden_patterns", `{key: final.cmd.command, is: "sh -c b"}`, "FROM a\nCMD sh -c b\nCMD sh", []string{
			"FROM a\nCMD sh -c b", "FROM a\nCMD [\"sh\", \"-c\", \"b\"]", "FROM a\nCMD [\"sh -c\", \"b\"]", "FROM a\nCMD [\"sh -c b\"]",
			"FROM a AS c\nCMD [\"sh\", \"-c\", \"b\"]\nFROM c", "FROM a\nCMD\tsh -c b ",
		}},
		{"forbidden_patterns", `{key: final.user, matches: '^(root|0)(:|$)'}`, "FROM a\nUSER root\nUSER b", []string{
			"FROM a\nUSER root", "FROM a\nUSER 0", "FROM a\nUSER 0:0", "FROM a\nUSER 'root'", "FROM a\nUSER r\\oot", "FROM a\nUSER b\nUSER root",
			"FROM a AS c\nUSER root\nFROM c", "FROM a AS C\nUSER root\nFROM c AS d\nFROM D", "FROM a AS c\nFROM b AS c\nUSER root\nFROM c",
			"FROM a\nUSER \\\nroot", "FROM a\nUSER \"ro\"'ot'", "FROM a\nONBUILD USER b\nUSER root", "FROM a\nUSER root\nONBUILD USER b",
		}},
		{"required_patterns", `{key: final.user, matches: '^[1-9][0-9]*$'}`, "FROM a AS b\nUSER 5\nFROM b", []string{
			"FROM a", "FROM a\nUSER 0", "FROM a\nUSER $B", "FROM a\nUSER ${B:-5}", "FROM a\nONBUILD USER 5", "FROM a AS b\nUSER 5\nFROM a",
			"FROM a\nRUN <<E\nUSER 5\nE", "FROM a\n# USER 5", "FROM a\nRUN b \\\nUSER 5", "FROM a AS b\nUSER 5\nFROM $B", "FROM a\nUSER 5\nUSER b",
			"FROM a AS b\nUSER 5\nFROM c AS b\nFROM b", "FROM a AS b\nUSER 5\nFROM b:latest",
		}},
		{"required_patterns", `{key: final.healthcheck.command}`, "FROM a\nHEALTHCHECK CMD b", []string{
			"FROM a", "FROM a\nHEALTHCHECK CMD b\nHEALTHCHECK NONE", "FROM a\nONBUILD HEALTHCHECK CMD b", "FROM a\nhealthcheck none",
			"FROM a\nHEALTHCHECK CMD b\nHEALTHCHECK --interval=3s NONE", "FROM a AS c\nHEALTHCHECK CMD b\nFROM c\nHEALTHCHECK NONE",
		}},
		{"required_patterns", `{each: stages.from, key: digest, if: {stage: {missing: true}, image: {is_not: scratch}}}`,
			"FROM a@sha256:b AS c\nFROM c\nFROM scratch", []string{
				"FROM a", "FROM c\nFROM a@sha256:b AS c", "FROM a@", "FROM a@sha256:b AS c\nFROM c:1", "FROM scratch:1\nFROM 0",
			}},
		{"forbidden_patterns", `{key: ["**.env.TOKEN", "**.arg.TOKEN", args.TOKEN]}`, "FROM a\nENV A=TOKEN", []string{
			"FROM a\nENV TOKEN=1", "FROM a\nENV TOKEN 1", "FROM a\nENV A=1 TOKEN=1", "FROM a\nENV \"TOKEN\"=1", "FROM a\nENV TO\\KEN=1",
			"FROM a\nENV A=\"b c\" \\\n  TOKEN=", "FROM a\nARG TOKEN", "FROM a\nARG A TOKEN=1", "ARG TOKEN\nFROM a", "FROM a\nONBUILD ENV TOKEN=1",
			"FROM a\nenv 'TOKEN' 1", "FROM a\nENV TO\\\nKEN 1", "FROM a AS b\nENV TOKEN=1\nFROM a", "FROM a\nENV TOKEN=$A",
		}},
		{"forbidden_patterns", `{key: stages.run.mount, matches: 'type=ssh'}`, "FROM a\nRUN --mount=type=bind,target=/b c", []string{
			"FROM a\nRUN --mount=type=ssh b", "FROM a\nRUN --mount=type=bind,target=/b --mount=type=ssh b", "FROM a\nRUN --mount=\"type=ssh\" b",
			"FROM a\nRUN --mount=ty\\pe=ssh b", "FROM a\nRUN --\\\nmount=type=ssh b", "FROM a\nRUN --network=none --mount=required,type=ssh b",
		}},
	} {
		file := rules.BoundariesFile
		if c.list == "required_patterns" {
			file = rules.InvariantsFile
		}
		files := rules.Files{rules.BoundariesFile: []byte("bundle: \"0.2\"\nrules: []\n")}
		files[file] = []byte("bundle: \"0.2\"\nrules:\n  - id: R\n    title: t\n    enforcement: {mode: fail}\n" +
			"    match: {files: ['**'], " + c.list + ": [" + c.pattern + "]}\n")
		b, err := rules.Load(files)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(text string) bool {
			found, err := File(context.Background(), b, "Dockerfile", []byte(text))
			var undecided *UndecidedError
			return len(found) > 0 || errors.As(err, &undecided)
		}
		if ask(c.passes) {
			t.Errorf("%s does not pass %q", c.pattern, c.passes)
		}
		for _, text := range c.others {
			for _, spelled := range []string{text, text + "\n", strings.ReplaceAll(text, "\n", "\r\n")} {
				if !ask(spelled) {
					t.Errorf("%s passes %q", c.pattern, spelled)
				}
			}
		}
	}
}
