package match

// A Shape decides in which encodings patterns count in a content.
type Shape struct {
	marks [encodings]bool // the byte order marks at its start
	nul   bool            // a NUL byte occurs
}

// own returns the content's own reading: in the encoding of its byte order mark, after it. If two marks fit, the
// longer counts; without one it is UTF-8.
func (s Shape) own() exprReading {
	var own exprReading
	for e := range encodings {
		if length := int64(len(e.bom())); s.marks[e] && length > own.from {
			own = exprReading{e, length}
		}
	}
	return own
}

// Mark is the encoding of the content's byte order mark; "" without one.
func (s Shape) Mark() string {
	if own := s.own(); own.from > 0 {
		return own.enc.String()
	}
	return ""
}

// wide reports whether the content may be text in UTF-16 or UTF-32.
func (s Shape) wide() bool {
	for e := utf16LE; e < encodings; e++ {
		if s.marks[e] {
			return true
		}
	}
	return s.nul
}

// countsIn reports whether a forbidden or required pattern counts in an encoding of a content.
func (p *Pattern) countsIn(e encoding, s Shape, required bool) bool {
	switch {
	case required && (p.short || p.expr != nil):
		return e == s.own().enc
	case p.expr != nil:
		return e == utf8Enc || s.wide()
	}
	return !p.short || e == utf8Enc || s.marks[e]
}

// Encodings returns the encodings in which a content was searched for a required or forbidden pattern, by its index.
func (e *Engine) Encodings(pattern int, s Shape, required bool) []string {
	var all []string
	for en := range encodings {
		if e.patterns[pattern].countsIn(en, s, required) {
			all = append(all, en.String())
		}
	}
	return all
}
