package naive

import (
	"slices"
	"strconv"
	"strings"
)

// A marked is a line with places of what one item of a rule finds. What is at no place is in a line without a text.
type marked struct {
	text string // without spaces and tabs
	at   []int  // of each place, in that text
	was  []bool // it was there before
	had  bool   // a line before was used for it
}

// linesWith are the lines of a file that one item of a rule, by its kind and name, finds something in.
func linesWith(r Rule, kind, pattern, path string, tree []File, known map[string]*Parsed) []*marked {
	var lines []*marked
	for _, f := range tree {
		if f.Path != path || isRuleFile(path) {
			continue
		}
		for _, v := range judgeFile(r, f, known) {
			if v.Kind == kind && v.Pattern == pattern {
				lines = append(lines, linesAt(f.Content, v.Places)...)
			}
		}
	}
	for _, l := range lines {
		l.was = slices.Repeat([]bool{true}, len(l.at))
	}
	return lines
}

// linesAt are the lines in which these places are.
func linesAt(content, places string) []*marked {
	if places == "" {
		return []*marked{{at: []int{0}}}
	}
	var lines []*marked
	last := -1
	for _, place := range strings.Fields(places) {
		offset, _ := strconv.Atoi(place)
		start := strings.LastIndex(content[:offset], "\n") + 1
		if start != last {
			text, _, _ := strings.Cut(content[start:], "\n")
			lines, last = append(lines, &marked{text: squeezed(text)}), start
		}
		l := lines[len(lines)-1]
		l.at = append(l.at, len(squeezed(content[start:offset])))
	}
	return lines
}

func squeezed(line string) string { return strings.NewReplacer(" ", "", "\t", "").Replace(line) }

// take uses lines of before for lines without one: first lines with exactly the same places, then lines that share most
// and have fewest others. It clears what did not exist.
func take(lines, before []*marked) {
	for _, same := range []bool{true, false} {
		for _, l := range lines {
			var best *marked
			for _, b := range before {
				n := len(l.common(b))
				switch {
				case l.had || b.had || b.text != l.text || n == 0 || same && !slices.Equal(l.at, b.at):
				case best == nil || n > len(l.common(best)) || n == len(l.common(best)) && len(b.at) < len(best.at):
					best = b
				}
			}
			if best != nil {
				l.had, best.had = true, true
				common := l.common(best)
				for i := range l.at {
					l.was[i] = l.was[i] && slices.Contains(common, i)
				}
			}
		}
	}
}

// common are the numbers of the places that another line has, too. A line may have several at one place.
func (l *marked) common(b *marked) []int {
	left := slices.Clone(b.at)
	var common []int
	for i, at := range l.at {
		if k := slices.Index(left, at); k >= 0 {
			left, common = slices.Delete(left, k, k+1), append(common, i)
		}
	}
	return common
}

// labels says of a violation in the head, and of each of its places, whether it was there at every merge base.
func (c Change) labels(r Rule, v Violation, path string) string {
	paths := slices.Sorted(slices.Values(c.group(r.ID, path)))
	now := map[string][]*marked{}
	for _, p := range paths {
		now[p] = linesWith(r, v.Kind, v.Pattern, p, c.Head.Tree, c.Parsed)
	}
	for _, s := range c.MergeBases {
		before := map[string][]*marked{}
		for _, p := range paths {
			before[p] = linesWith(r, v.Kind, v.Pattern, p, s.Tree, c.Parsed)
			take(now[p], before[p])
		}
		for _, p := range paths {
			for _, from := range paths {
				take(now[p], before[from])
			}
			for _, l := range now[p] {
				for i := range l.was {
					l.was[i] = l.was[i] && l.had
				}
				l.had = false
			}
		}
	}
	var was []bool
	for _, l := range now[path] {
		was = append(was, l.was...)
	}
	status := "pre_existing"
	if slices.Contains(was, false) {
		status = "introduced"
	}
	places := strings.Fields(v.Places)
	for i := len(places) - 1; i >= 0 && len(places) > 100; i-- {
		if was[i] { // introduced ones are listed first
			places, was = slices.Delete(places, i, i+1), slices.Delete(was, i, i+1)
		}
	}
	labels := []string{status}
	for i, place := range places[:min(len(places), 100)] {
		label := "pre_existing"
		if !was[i] {
			label = "introduced"
		}
		labels = append(labels, place+":"+label)
	}
	return strings.Join(labels, " ")
}
