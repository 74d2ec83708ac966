package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxLines is how many lines a file may have that a patch updates.
const maxLines = 1 << 22

// A patchUpdate is a file that a patch updates. Codex has two ways to do so, one of them behind a setting,
// and they differ in line ends, in what becomes of lines that match except for spaces, and at the file's end.
type patchUpdate struct{ chunks []chunk }

func (p patchUpdate) After(before []byte, exists bool) ([][]byte, error) {
	if !exists {
		return nil, errors.New("there is no such file to update; add it")
	}
	text, err := plain(before)
	if err != nil {
		return nil, err
	}
	if strings.Count(text, "\n")+strings.Count(text, "\r") > maxLines {
		return nil, fmt.Errorf("the file has over %d lines; edit it by hand, or split it", maxLines)
	}
	var contents [][]byte
	var first error
	for _, s := range []source{splitByLF(text), splitKeeping(text)} {
		made, err := s.updated(p.chunks)
		if err == nil {
			contents = append(contents, []byte(made))
		} else if first == nil {
			first = err
		}
	}
	if contents == nil {
		return nil, first
	}
	return contents, nil
}

// A source is a file as lines.
type source struct {
	lines []string
	ends  []string // of each line; nil if all end in LF, the last one included, which is how the older way has it
	end   string   // of new lines
}

// splitByLF is the older way: what is after the last LF is a line unless it is empty, and a CR is part
// of its line.
func splitByLF(text string) source {
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return source{lines: lines, end: "\n"}
}

// splitKeeping is the newer way: lines end in LF, CRLF or CR, and those that stay keep theirs. New lines
// end as the first does.
func splitKeeping(text string) source {
	s := source{ends: []string{}}
	for text != "" {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			s.lines, s.ends = append(s.lines, text), append(s.ends, "")
			break
		}
		end := text[i : i+1]
		if strings.HasPrefix(text[i:], "\r\n") {
			end = "\r\n"
		}
		s.lines, s.ends = append(s.lines, text[:i]), append(s.ends, end)
		text = text[i+len(end):]
	}
	s.end = "\n"
	if len(s.ends) > 0 && s.ends[0] != "" {
		s.end = s.ends[0]
	}
	return s
}

// A span is lines that are replaced.
type span struct {
	start, count int
	new          []string
}

// updated returns the file after the chunks.
func (s source) updated(chunks []chunk) (string, error) {
	spans, err := s.spans(chunks)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	write := func(line, end string) {
		b.WriteString(line)
		if end == "" {
			end = s.end
		}
		b.WriteString(end)
	}
	at, lastEmpty := 0, false
	copyTo := func(to int) {
		for ; at < to; at++ {
			end := s.end
			if s.ends != nil {
				end = s.ends[at]
			}
			write(s.lines[at], end)
			lastEmpty = s.lines[at] == ""
		}
	}
	for _, r := range spans {
		if r.start < at {
			return "", errors.New("parts of the patch overlap in the file; combine them")
		}
		copyTo(r.start)
		for _, line := range r.new {
			write(line, s.end)
			lastEmpty = line == ""
		}
		if b.Len() > MaxBytes {
			return "", errTooLarge()
		}
		at = r.start + r.count
	}
	copyTo(len(s.lines))
	if made := b.String(); s.ends == nil && lastEmpty {
		return made[:len(made)-1], nil // the older way takes an empty last line for the end of the file
	}
	return b.String(), nil
}

// spans finds where each chunk goes, in the order of the file.
func (s source) spans(chunks []chunk) ([]span, error) {
	var spans []span
	left := budget(maxSteps)
	at := 0
	for i, c := range chunks {
		if c.anchored {
			found, err := s.seek([]string{c.context}, at, false, &left)
			if err != nil {
				return nil, err
			}
			if found < 0 {
				return nil, fmt.Errorf("part %d of the patch: the line %s after @@ is not in the file, "+
					"or not below the part before", i+1, quote(c.context))
			}
			at = found + 1
		}
		if len(c.old) == 0 {
			end := len(s.lines)
			if s.ends == nil && end > 0 && s.lines[end-1] == "" {
				end--
			}
			spans = append(spans, span{end, 0, c.new})
			continue
		}
		old, repl := c.old, c.new
		found, err := s.seek(old, at, c.atEnd, &left)
		if found < 0 && err == nil && old[len(old)-1] == "" {
			// An empty last line can mean the end of the line before.
			old = old[:len(old)-1]
			if len(repl) > 0 && repl[len(repl)-1] == "" {
				repl = repl[:len(repl)-1]
			}
			found, err = s.seek(old, at, c.atEnd, &left)
		}
		if err != nil {
			return nil, err
		}
		if found < 0 {
			return nil, fmt.Errorf("part %d of the patch: its lines, from %s on, are not in the file, "+
				"or not below the part before; copy them from the file as they are", i+1, quote(c.old[0]))
		}
		if s.ends == nil {
			spans = append(spans, span{found, len(old), repl})
		} else {
			spans = append(spans, c.changed(found, old, repl)...)
		}
		at = found + len(old)
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	return spans, nil
}

// changed are the lines of a chunk that are not kept as they are in the file.
func (c chunk) changed(found int, old, repl []string) []span {
	var spans []span
	from, to := 0, 0 // in old and in repl, after the last line that is kept
	for _, k := range c.kept {
		if k[0] >= len(old) || k[1] >= len(repl) {
			break // the empty last line, which means the end of the one before
		}
		if k[0] > from || k[1] > to {
			spans = append(spans, span{found + from, k[0] - from, repl[to:k[1]]})
		}
		from, to = k[0]+1, k[1]+1
	}
	if from < len(old) || to < len(repl) {
		spans = append(spans, span{found + from, len(old) - from, repl[to:]})
	}
	return spans
}

// seek returns the first line from which on some lines are in the file, at a line or below: as they are;
// else except for spaces at their ends; else at both ends; else except for typographic characters too. atEnd
// allows only the last lines of the file. -1 is nowhere.
func (s source) seek(want []string, from int, atEnd bool, left *budget) (int, error) {
	if len(want) == 0 {
		return from, nil
	}
	if atEnd {
		if last := len(s.lines) - len(want); s.ends == nil {
			from = max(last, 0)
		} else {
			from = max(from, last)
		}
	}
	for _, fold := range []func(string) string{asIs, trimRight, strings.TrimSpace, ascii} {
		if i, err := find(s.lines[min(from, len(s.lines)):], want, fold, left); err != nil || i >= 0 {
			return from + max(i, 0), err
		}
	}
	return -1, nil
}

// find returns where the first run of lines that are some others, both folded, begins; -1 is nowhere. It
// goes back in neither (Knuth, Morris and Pratt), so its time is that of reading the lines once.
func find(lines, want []string, fold func(string) string, left *budget) (int, error) {
	if len(want) > len(lines) {
		return -1, nil
	}
	folded := make([]string, len(want))
	for i := range want {
		folded[i] = fold(want[i])
	}
	back := make([]int, len(want)) // how many lines are still right when the next one is not
	for i, k := 1, 0; i < len(folded); i++ {
		for k > 0 && folded[i] != folded[k] {
			k = back[k-1]
		}
		if folded[i] == folded[k] {
			k++
		}
		back[i] = k
	}
	k := 0
	for i := range lines {
		if err := left.spend(len(lines[i]) + 1); err != nil {
			return 0, err
		}
		line := fold(lines[i])
		for k > 0 && line != folded[k] {
			k = back[k-1]
		}
		if line == folded[k] {
			k++
		}
		if k == len(folded) {
			return i + 1 - k, nil
		}
	}
	return -1, nil
}

func asIs(s string) string { return s }

func trimRight(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

// ascii trims a line, and puts plain dashes, quotes and spaces in place of typographic ones.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
		case r >= 0x2010 && r <= 0x2015, r == 0x2212:
			return '-'
		case r >= 0x2018 && r <= 0x201b:
			return '\''
		case r >= 0x201c && r <= 0x201f:
			return '"'
		case r == 0xa0, r >= 0x2002 && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000:
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
}
