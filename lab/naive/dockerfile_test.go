package naive

import "strings"

// dockerContent is a Dockerfile, mostly.
func (g *generator) dockerContent() string {
	w := &writer{generator: g, lineEnd: pick(g, "\n", "\n", "\n", "\r\n")}
	escape := `\`
	if g.percent(10) {
		escape = "`"
		w.put("# escape=`")
		w.line()
	}
	named := "" // the stage before
	for range 1 + g.IntN(3) {
		for g.percent(20) {
			w.put("#" + strings.ReplaceAll(g.remark(), "\u2028", ""))
			w.line()
		}
		if w.Len() == 0 && g.percent(30) {
			w.put("ARG " + pick(g, "a", "a=x", "a=22 b"))
			w.line()
		}
		name, image := pick(g, "", "a", "b"), pick(g, "a", "a:x", "a", "a", "b", "b", "x.y:5/a", "a:x@sha256:1", "$a", "a:${x:-y}", "scratch")
		if named != "" && g.percent(50) {
			image = named
		}
		w.put(pick(g, "FROM", "FROM", "from") + " " + image)
		if named = name; name != "" {
			w.put(pick(g, " AS ", " as ") + name)
		}
		w.line()
		for range g.IntN(5) {
			w.dockerLine(escape)
		}
	}
	if g.percent(5) {
		w.put(pick(g, "FOO a", "RUN", "RUN --foo=a b", "USER \"a", "SHELL a", "RUN [1]", "RUN <<EOF", "FROM", "HEALTHCHECK a"))
	}
	return w.String()
}

// remark is a comment's text.
func (g *generator) remark() string { return pick(g, "", " a", " escape=`", " RUN x \\", " USER a") }

// dockerLine writes an instruction that no FROM is.
func (w *writer) dockerLine(escape string) {
	value := func() string {
		return pick(w.generator, "a", "x", "22", "true", `"x y"`, "'$x'", "$a", "${a:-b}", "a"+escape+" b", `{"a":"x"}`, `""`)
	}
	command := func() string {
		return pick(w.generator, "x", "a  x", "$x", `["x", "22"]`, `[ "a b" ]`, "[x]", "x "+escape+w.lineEnd+"  y", "x "+escape+" "+w.lineEnd+
			"# a"+w.lineEnd+w.lineEnd+"y", `'"x`, `{"a": true}`)
	}
	if w.percent(15) {
		w.put("ONBUILD ")
	}
	kind := w.IntN(11)
	if len(w.instructions) > 0 && w.percent(50) {
		kinds := map[string]int{"cmd": 2, "entrypoint": 2, "healthcheck": 3, "copy": 4, "add": 4, "from": 5, "env": 6, "label": 6, "arg": 7,
			"user": 8, "expose": 9}
		kind = kinds[pick(w.generator, w.instructions...)]
	}
	switch kind {
	case 0, 1:
		w.put("RUN " + pick(w.generator, "", "", "--mount=type=x ", "--network=none --mount=a --mount=b "))
		if w.percent(20) {
			w.put("x <<" + pick(w.generator, "E", "'E'", "-E") + w.lineEnd + "\tx $a" + w.lineEnd + "E")
		} else {
			w.put(command())
		}
	case 2:
		w.put(pick(w.generator, "CMD ", "cmd ", "ENTRYPOINT ", "entrypoint ") + command())
	case 3:
		w.put("HEALTHCHECK " + pick(w.generator, "NONE", "--interval=5m CMD ", "cmd "))
		if !strings.HasSuffix(w.String(), "NONE") {
			w.put(command())
		}
	case 4:
		w.put(pick(w.generator, "COPY ", "ADD ") + pick(w.generator, "", "--chown=a ", "--link ") +
			pick(w.generator, "a b", "a x b", `["a", "x"]`, "$a b", "<<E b"+w.lineEnd+"x"+w.lineEnd+"E"))
	case 5:
		w.put("COPY --from=" + pick(w.generator, "a", "0", "A", "b:x", "$a", "1") + " a b")
	case 6:
		w.put(pick(w.generator, "ENV ", "LABEL ") + pick(w.generator, "a=", "a ", "$a=", `"a"=`, "b=x a=") + value())
	case 7:
		w.put("ARG " + pick(w.generator, "a", "a=x b", "a=") + pick(w.generator, "", "$x"))
	case 8:
		w.put(pick(w.generator, "USER ", "WORKDIR ", "STOPSIGNAL ", "MAINTAINER ") + value())
	case 9:
		w.put(pick(w.generator, "EXPOSE ", "VOLUME ") + pick(w.generator, "22", "22 $a", "a x", `["a", "x"]`))
	default:
		w.put(`SHELL ["x", "a"]`)
	}
	w.line()
}
