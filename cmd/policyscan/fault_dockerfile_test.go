package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestFault_185_Dockerfiles: a Dockerfile that is deep, long, cut off or in another encoding is found, or is an error,
// and memory grows with its size at most.
func TestFault_185_Dockerfiles(t *testing.T) {
	const found = `{"key":"stages.from.image"}`
	times := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i, i+1)
		}
		return b.String()
	}
	repeat := strings.Repeat
	t.Chdir(t.TempDir())
	writeFile(t, "policy/rules/boundaries.yml", "bundle: \"0.2\"\nrules:\n  - {id: IMG, title: t, match: {files: "+
		"[/Dockerfile], forbidden_patterns: [{key: stages.from.image}]}}\n")
	writeFile(t, "policy/rules/invariants.yml", "bundle: \"0.2\"\nrules: []\n")
	for _, c := range []struct{ what, text, want string }{
		{"stages, each from the one before", "FROM a AS s0\n" + times(20_000, "FROM s%d AS s%d\n"), found},
		{"more of them", "FROM a AS s0\n" + times(100_000, "FROM s%d AS s%d\n") + "USER b\n", "E_LIMIT"},
		{"stages of one name", "FROM a AS s\nUSER b\n" + repeat("FROM s AS s\nUSER c\n", 100_000), "E_LIMIT"},
		{"ONBUILD in ONBUILD", "FROM a\n" + repeat("ONBUILD \\\n", 100_000) + "RUN b\n", "E_PARSE"},
		{"ONBUILD in ONBUILD, on a line", "FROM a\n" + repeat("ONBUILD ", 8000) + "RUN b\n", "E_PARSE"},
		{"copies of stages by number", "FROM a\n" + repeat("FROM a\nCOPY --from=0 b c\n", 10_000), found},
		{"variables in each other", "FROM a\nENV B=" + repeat("${C:-\\\n", 100_000) + repeat("}\\\n", 100_000), "E_LIMIT"},
		{"lists in each other", "FROM a\nCMD " + repeat("[", 60_000) + repeat("]\\\n", 60_000), found},
		{"a here-document without an end", "FROM a\nRUN <<E\n" + repeat("b\n", 1_000_000), "E_PARSE"},
		{"very many without an end", "FROM a\n" + repeat("RUN <<E\n", 200_000), "E_PARSE"},
		{"many here-documents of an instruction", "FROM a\nRUN b" + repeat(" <<E", 10_000) + "\n" + repeat("E\n", 9999), "E_PARSE"},
		{"a here-document that ends with the file", "FROM a\nRUN <<E\nb\nE", found},
		{"an instruction that does not end", "FROM a\nRUN b" + repeat(" \\\n#\n\n", 1_000_000), found},
		{"NUL", "FROM a\x00\nRUN \x00\nUSER b\n", found},
		{"NULs alone", repeat("\x00", 1_000_000), "E_PARSE"},
		{"a line of 64 KiB", "FROM a\nRUN " + repeat("b", 64<<10) + "\n", "E_PARSE"},
		{"a comment of 64 KiB", "#" + repeat("b", 64<<10) + "\nFROM a\n", "E_PARSE"},
		{"lines of nearly 64 KiB", "FROM a\n" + repeat("RUN "+repeat("b", 65_500)+"\n", 100), found},
		{"an escape character", "# escape=`\nFROM `\na\nRUN b\\\n", found},
		{"another one", "# escape=x\nFROM a\n", "E_PARSE"},
		{"two of them", "# escape=`\n# escape=\\\nFROM a\n", "E_PARSE"},
		{"other directives", "# syntax=example.com/b\n# check=error=true\nFROM a\n", found},
		{"CRLF", "# escape=`\r\nFROM `\r\na\r\nRUN <<E\r\nb\r\nE\r\n", found},
		{"CR alone", "FROM a\rRUN b\r", "E_PARSE"},
		{"a byte order mark", "\ufeffFROM a\n", found},
		{"two of them", "\ufeff\ufeffFROM a\n", "E_PARSE"},
		{"UTF-16 without a mark", "F\x00R\x00O\x00M\x00 \x00a\x00\n\x00", "E_PARSE"},
		{"bytes that are not UTF-8", "FROM a\nRUN \xff\xfe\n", found + " E_PARSE"},
		{"very many instructions", "FROM a\n" + repeat("USER b\n", 200_000), "E_LIMIT"},
		{"values in an instruction", "FROM a\nEXPOSE" + repeat(" 1\\\n", 220_000), "E_LIMIT"},
		{"nothing", "", "E_PARSE"},
	} {
		checkDockerfile(t, c.what, c.text, c.want)
	}
	for encoding, text := range marked("FROM a\nRUN <<E\nb\nE\n") {
		checkDockerfile(t, encoding, text, found)
	}

	writeFile(t, "tree/Dockerfile", "FROM a\n")
	if err := os.Truncate("tree/Dockerfile", 64<<20+1); err != nil {
		t.Fatal(err)
	}
	if v := scanned(t, "", exitUndecided, "--policy", "policy", "tree"); saysOf(v, "Dockerfile") != "E_LIMIT" {
		t.Errorf("64 MiB and a byte: %q", saysOf(v, "Dockerfile"))
	}
	if *long {
		text := "FROM a\n" + repeat("#"+repeat("b", 65_000)+"\n", 1040)
		checkDockerfile(t, "64 MiB", text[:64<<20], found)
	}
}

// checkDockerfile compares what a scan says of a Dockerfile, and bounds the memory that it takes in all, used again or
// not.
func checkDockerfile(t *testing.T, what, text, want string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	status, out, said := fed(text, "--policy", "policy", "--output", "-", "--stdin", "--stdin-path", "Dockerfile")
	runtime.ReadMemStats(&after)
	v, err := readVerdict([]byte(out))
	if err != nil {
		t.Fatal(err, said)
	}
	if got := saysOf(v, "Dockerfile"); got != want || (status == exitViolation) != strings.HasPrefix(want, "{") {
		t.Errorf("%s: status %d, %q, want %q", what, status, got, want)
	}
	const base, each = 16 << 20, 250
	took := after.TotalAlloc - before.TotalAlloc
	t.Logf("%-45s %9d bytes: %9d allocated, %d each", what, len(text), took, took/uint64(len(text)+1))
	if most := uint64(base + each*len(text)); took > most {
		t.Errorf("%s: %d bytes allocated for %d, at most %d", what, took, len(text), most)
	}
}
