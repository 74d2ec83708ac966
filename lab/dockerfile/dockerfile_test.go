// Package dockerfile compares the reader of Dockerfiles with BuildKit. It is a separate module: BuildKit's would
// raise the versions that the rest of lab/ uses.
package dockerfile

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/scanner/keys"
	"github.com/policyscan/policyscan/scanner/keys/formats"
)

var (
	dockerfiles = flag.String("dockerfiles", "", "a directory with Dockerfiles of any names, to be read as well")
	generated   = flag.Int("generated", 20_000, "how many Dockerfiles are generated")
	seed        = flag.Uint64("seed", 1, "of the generated ones")
)

// TestDockerfile: policyscan's reader and BuildKit's packages refuse the same Dockerfiles, and read the others alike.
func TestDockerfile(t *testing.T) {
	read, refused, failed := 0, 0, 0
	compare := func(what string, text []byte) bool {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
		if !utf8.Valid(text) {
			text = bytes.ToValidUTF8(text, []byte("\ufffd"))
		}
		read++
		want, wantErr := readBuildKit(text)
		documents, err := formats.Parse(formats.Dockerfile, text, formats.Limits())
		if wantErr != nil || err != nil {
			refused++
			if wantErr == nil || err == nil {
				t.Errorf("%s: BuildKit says %v, and policyscan %v, of\n%q", what, wantErr, err, text)
				failed++
			}
			return wantErr == nil == (err == nil)
		}
		if diff := cmp.Diff(want, plainFile(documents[0].Root)); diff != "" {
			t.Errorf("%s: -BuildKit +policyscan\n%s", what, diff)
			failed++
			return false
		}
		return true
	}
	if *dockerfiles != "" {
		err := filepath.WalkDir(*dockerfiles, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || failed > 20 {
				return err
			}
			text, err := os.ReadFile(path)
			compare(path, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("measured: %d Dockerfiles of %s, %d refused by both", read, *dockerfiles, refused)
	}
	read, refused = 0, 0
	for n := 0; n < *generated && failed < 5; n++ {
		text := writeDockerfile(rand.New(rand.NewPCG(*seed, uint64(n))))
		compare(fmt.Sprintf("-seed %d, %d", *seed, n), []byte(text))
	}
	t.Logf("measured: %d generated Dockerfiles (-seed %d), %d refused by both", read, *seed, refused)
}

// plainFile is a document as [readBuildKit] returns it.
func plainFile(root *keys.Node) any {
	all := plainNode(root).(map[string]any)
	alone := func(m map[string]any, names ...string) {
		for _, name := range names {
			if list, ok := m[name].([]any); ok && len(list) == 1 {
				m[name] = list[0]
			}
		}
	}
	alone(all, "stages", "final")
	final := all["final"].(map[string]any)
	alone(final, append([]string{"from"}, inForce...)...)
	for _, stage := range all["stages"].([]any) {
		alone(stage.(map[string]any), "from")
	}
	return all
}

// plainNode is a node as [readBuildKit] returns it.
func plainNode(n *keys.Node) any {
	switch n.Kind {
	case keys.Mapping:
		m := map[string]any{}
		for _, e := range n.Entries {
			name := e.Name
			if e.Hidden {
				continue
			}
			if !e.Named {
				name = variable(name)
			}
			if n.Body { // each occurrence of an instruction is an entry
				list, _ := m[name].([]any)
				m[name] = append(list, plainNode(e.Value))
				continue
			}
			if _, again := m[name]; again {
				name = fmt.Sprint(name, "#", len(m))
			}
			m[name] = plainNode(e.Value)
		}
		return m
	case keys.List:
		list := []any{}
		for _, item := range n.Items {
			list = append(list, plainNode(item))
		}
		return list
	case keys.ScalarNode:
		if n.Scalar.Variable {
			return variable(n.Scalar.Texts[0])
		}
		return n.Scalar.Texts[0]
	}
	return nil
}

func variable(text string) string { return "expanded: " + text }

// writeDockerfile returns a random text of the parts of Dockerfiles, in most cases one that has the form of one.
func writeDockerfile(random *rand.Rand) string {
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	words, instructions := dockerWords(), dockerInstructions()
	if random.IntN(4) > 0 {
		words, instructions = slices.DeleteFunc(words, isWild), slices.DeleteFunc(instructions, isWild)
	}
	fill := func(text string) string {
		for strings.Contains(text, "§") {
			before, after, _ := strings.Cut(text, "§")
			text = before + strings.TrimPrefix(pick(words...), wild) + after
		}
		return strings.TrimPrefix(text, wild)
	}
	end := "\n"
	if random.IntN(5) == 0 {
		end = "\r\n"
	}
	var lines []string
	if random.IntN(4) == 0 {
		lines = append(lines, pick("# escape=`", "#escape = \\", "# syntax=a", "# ESCAPE=x", "# check=", "# escape= ",
			"# x=y", "\ufeff# escape=`", " # escape=`", "#\u00a0escape=`\t"))
	}
	if random.IntN(8) == 0 {
		lines = append(lines, pick("# escape=`", "# escape=\\", "# syntax=a"))
	}
	if random.IntN(3) == 0 {
		lines = append(lines, fill(pick(" ARG a", "arg §=§", "ARG § §=§", "# c", "")))
	}
	if random.IntN(20) > 0 {
		lines = append(lines, fill(pick("FROM a", "from §", "FROM a AS b", "FROM --platform=§ a:1@sha256:b as C", "From b")))
	}
	for range random.IntN(8) {
		lines = append(lines, fill(pick(instructions...)))
	}
	text := strings.Join(lines, end) + pick(end, "", end+end)
	for random.IntN(6) == 0 && len(text) > 0 { // damage it
		at := random.IntN(len(text))
		for !utf8.RuneStart(text[at]) {
			at--
		}
		text = text[:at] + pick("", "\\\n", "\n", "\"", "'", "$", "#", "\\", "`", " ", "`\n", "<<E ", "\u0085", "--") +
			text[at:]
	}
	return text
}

// wild marks a part that makes most texts invalid.
const wild = "!"

func isWild(part string) bool { return strings.HasPrefix(part, wild) }

func dockerWords() []string {
	return []string{
		"a", "b", "C", "a:b", "a=b", "a=", "\"a b\"", "'a b'", "$a", "${a}", "${a:-b}", "${a:-${b}}", "'$a'", "\\$a", "`$a",
		"\"$a\"", "$", "${a/b/c}", "${a//b/c}", "${a#b}", "${a:/b}", "${a?\"x y\"}", "${a%\"\\x\"}", "a\\ b", "a\\", "\\\\", "a\\\n  b",
		"a \\\n# c\n\n b", "a`\n b", "\\\n", "a \\ \n b", "<<", "<<<a", "[\"a\"]", "[\"a\", \"b c\"]", "[]", "[\"a\"", "[ \"\\u0041\" ]",
		"[\"a\"] b", "[a]", "[\"$a\", \"'a'\"]", "CMD", "80", "443/tcp", "root", "0", "é", "\u00a0", "\v", "\t", "\ufeffa", "~", "true",
		"https://a/b", "@sha256:c", "a@b:c", "h:1/a", "a\r", "{\"a\": 1}", "# x", "{", "a\fb", "a\u0085b", "à",
		"!=", "!=b", "!\"", "!'", "!${a", "!${", "!${a:#b}", "!<<E", "!<<-E", "!<<\"E\"", "!<< E", "!3<<E", "!<<E$a", "!<<E${a:-b}", "!x<<E",
		"!--a", "!--", "!--link", "!--from=a", "!--from=", "!--from=0", "!--from=b", "!--chown=a:b", "!--chown=\"a b\"", "!--chown=$a", "!--\"a\"=b",
		"!--mount=type=cache,target=/a", "!--mount=from=$a", "!--mount=a,\"b", "!--network=none", "!--network=x", "!--x",
		"!--security=insecure", "!--link=TRUE", "!--link=x", "!--exclude=*", "!--device=a,required", "!--interval=3s",
		"!--interval=1us", "!--retries=3", "!--retries=-1", "!--unpack", "!--parents", "!--keep-git-dir=false", "!NONE", "![1]",
		"![\"a\", 1]", "![[\"a\"]]", "!\u212a", "!", "!cmd", "!1000:1000",
	}
}

func dockerInstructions() []string {
	return []string{
		"RUN §", "RUN § § §", "run\t§ \\\n § § ", "RUN <<E\na\nE", "RUN <<E <<-F §\n§\nE\n\tb\n\tF", "RUN a <<E && b\nx\nE",
		"RUN --mount=type=cache,target=§ --mount=§ --network=none §", "RUN § <<E\n# x\n § \nE", "COPY § §", "COPY --from=§ § §",
		"ADD § § §", "COPY <<E §\nx $a\nE", "COPY <<'E' <<-F § §\nx\nE\n\t\ty\n\tF", "COPY [\"a\", \"b\"]", "COPY --chown=§ --link § §",
		"ADD --checksum=§ --keep-git-dir=true --exclude=a --exclude=b § §", "ENV § §", "ENV a=§ b=§", "ENV a §", "ENV a=§§ b§=§",
		"LABEL a=§", "ARG a§", "ARG a§=§", "ARG a=§ b", "USER §", "USER § §", "WORKDIR §", "STOPSIGNAL §", "MAINTAINER § §", "EXPOSE §",
		"EXPOSE § §", "VOLUME §", "VOLUME § §", "CMD §", "CMD", "CMD [\"a\", \"§\"]", "ENTRYPOINT §", "ENTRYPOINT [\"§\"]",
		"SHELL [\"a\", \"b\"]", "HEALTHCHECK CMD §", "HEALTHCHECK --interval=3s --retries=0 CMD §", "HEALTHCHECK NONE", "ONBUILD RUN §",
		"ONBUILD COPY <<E §\nx\nE", "ONBUILD USER §", "ONBUILD ENV a=§", "ONBUILD COPY --from=b a §", "FROM §", "FROM a AS b", "FROM b AS c",
		"FROM B", "FROM b:1", "FROM a AS b\nUSER §\nCMD a", "COPY --from=B:1 a b", "FROM c AS d", "FROM --platform=§ §", "# §", " # c", "", "  ", "USER \\\n\n # x\n  §",
		"!RUN --mount=§ §", "!COPY § <<E\nE", "!COPY --from= § a b", "!COPY [\"a\", §]", "!ENV §", "!LABEL § § §", "!VOLUME [\"a\", §]", "!CMD [\"a\", §]",
		"!ENTRYPOINT [§]", "!SHELL §", "!HEALTHCHECK §", "!HEALTHCHECK § CMD §", "!HEALTHCHECK NONE §", "!ONBUILD §",
		"!ONBUILD ONBUILD RUN a", "!ONBUILD ENV §", "!FROM a AS §", "!FROM a § §", "!XYZ §", "!wor\u212adir §", "!\\", "!\\\n\nUSER §", "!ARG §",
	}
}

// readBuildKit returns what BuildKit's packages read, in the shape that the manual describes.
func readBuildKit(text []byte) (any, error) {
	r, err := newOracle(text)
	if err != nil {
		return nil, err
	}
	for _, node := range r.ast.Children {
		if err := r.add(node); err != nil {
			return nil, err
		}
	}
	if len(r.stages) == 0 {
		return nil, fmt.Errorf("no FROM")
	}
	stages := []any{}
	for _, s := range r.stages {
		stages = append(stages, s.all)
	}
	lastStage := r.stages[len(r.stages)-1]
	final := map[string]any{}
	for name, value := range lastStage.all {
		if !slices.Contains(inForce, name) {
			final[name] = value
		}
	}
	for name, value := range lastStage.inForce {
		final[name] = value
	}
	all := map[string]any{"stages": stages, "final": final}
	if len(r.args) > 0 {
		all["args"] = r.args
	}
	return all, nil
}

var inForce = []string{"user", "workdir", "cmd", "entrypoint", "healthcheck", "shell"}
