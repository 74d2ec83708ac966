package needle

// skip8Folded is skip8 for a filter that folds. It is a separate function: its extra work takes 7 % of the time of a
// search, and more with more lookups.
func (f *filter) skip8Folded(text []byte) (at int) {
	bytes, shift, spread, fold := f.bytes, f.shift, f.spread, f.fold
	has := func(word uint64) byte { return bytes[(word|fold)*spread>>(shift%64)] }
	for ; len(text)-at >= 64; at += 64 {
		c := text[at : at+64 : at+64]
		if has(word(c))|has(word(c[8:]))|has(word(c[16:]))|has(word(c[24:]))|
			has(word(c[32:]))|has(word(c[40:]))|has(word(c[48:]))|has(word(c[56:])) != 0 {
			break
		}
	}
	return at
}

// skip4Folded is skip4 for a filter that folds.
func (f *filter) skip4Folded(text []byte) (at int) {
	bytes, shift, spread, fold := f.bytes, f.shift, f.spread, f.fold
	has := func(word uint64) byte { return bytes[(word|fold)*spread>>(shift%64)] }
	for ; len(text)-at >= 36; at += 32 {
		c := text[at : at+36 : at+36]
		if has(word(c))|has(word(c[4:]))|has(word(c[8:]))|has(word(c[12:]))|
			has(word(c[16:]))|has(word(c[20:]))|has(word(c[24:]))|has(word(c[28:])) != 0 {
			break
		}
	}
	return at
}

// skip2Folded is skip2 for a filter that folds.
func (f *filter) skip2Folded(text []byte) (at int) {
	bytes, shift, spread, fold := f.bytes, f.shift, f.spread, f.fold
	has := func(word uint64) byte { return bytes[(word|fold)*spread>>(shift%64)] }
	for ; len(text)-at >= 22; at += 16 {
		c := text[at : at+22 : at+22]
		if has(word(c))|has(word(c[2:]))|has(word(c[4:]))|has(word(c[6:]))|
			has(word(c[8:]))|has(word(c[10:]))|has(word(c[12:]))|has(word(c[14:])) != 0 {
			break
		}
	}
	return at
}
