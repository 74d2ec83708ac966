package recode

import (
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// multiByte returns the encodings with several bytes for some character. x/text has them as browsers do, each with what
// vendors added. A rule says which of the added bytes another encoding lacks, or writes in another way, and
// [differences] which characters differ all the same.
func multiByte() []namedTable {
	many := func(names string, e encoding.Encoding, r rule) namedTable {
		return namedTable{names: names, table: table{many: e.NewEncoder().Transformer, rule: r}, compared: true}
	}
	gb18030 := many("gb18030", simplifiedchinese.GB18030, nil)
	gb18030.tags = true
	hkscs := many("big5-hkscs big5hkscs", traditionalchinese.Big5, nil)
	hkscs.unsure = []span{one(0x304), one(0x30c)} // they make one character with an Ê or ê before them
	big5 := many("big5 big-5 big-five bigfive cn-big5 csbig5 cp950", traditionalchinese.Big5, big5Rule)
	big5.twice, hkscs.twice = true, true
	return []namedTable{
		many("shift_jis shift-jis sjis ms_kanji csshiftjis", japanese.ShiftJIS, sjisRule),
		many("cp932 ms932 windows-31j sjis-open sjis-win cswindows31j", japanese.ShiftJIS, cp932Rule),
		many("euc-jp eucjp ujis cseucpkdfmtjapanese osf00030010", japanese.EUCJP, eucJPRule),
		many("euc-jp-ms eucjp-ms eucjp-open eucjp-win", japanese.EUCJP, eucJPMSRule),
		many("euc-kr euckr cseuckr osf0004000a", korean.EUCKR, inSquare),
		many("cp949 mscp949 uhc osf100203b5", korean.EUCKR, nil),
		many("euc-cn euccn gb2312 cn-gb csgb2312", simplifiedchinese.GBK, inSquare),
		many("gbk gb13000 cp936 ms936 windows-936", simplifiedchinese.GBK, nil),
		gb18030,
		big5,
		hkscs,
	}
}

// A rule judges the bytes that x/text has for a character, and may change them: nil, [ErrAsIs] if the encoding lacks
// the character, [ErrUnsure] if not every iconv has these bytes.
type rule func(b []byte) error

// sjisRule leaves what NEC and IBM added: rows 13, 89 to 92, and 115 to 119.
func sjisRule(b []byte) error {
	if b[0] == 0x87 || b[0] == 0xed || b[0] == 0xee || b[0] >= 0xfa {
		return ErrUnsure
	}
	return nil
}

// cp932Rule has IBM's characters where IBM put them, as Windows and iconv do. They are there twice, and x/text has
// NEC's copy: the same characters in the same order, but for the ten small Roman numerals and four signs, which are
// the last of NEC's and around the first of IBM's.
func cp932Rule(b []byte) error {
	const ideographs = 360
	if b[0] != 0xed && b[0] != 0xee {
		return nil
	}
	n := int(b[0]-0xed)*188 + int(b[1]) - 0x40 // a row has 188 characters, from 40 to FC without 7F
	if b[1] > 0x7f {
		n--
	}
	switch {
	case n < ideographs:
		n += 28
	case n < ideographs+2:
		return ErrUnsure // none
	case n < ideographs+12:
		n -= ideographs + 2
	default:
		n += 20 - ideographs - 12
	}
	b[0], b[1] = byte(0xfa+n/188), byte(0x40+n%188)
	if b[1] >= 0x7f {
		b[1]++
	}
	return nil
}

// eucJPRule is sjisRule, of the same rows.
func eucJPRule(b []byte) error {
	if b[0] == 0xad {
		return ErrUnsure
	}
	return eucJPMSRule(b)
}

// eucJPMSRule leaves IBM's characters: x/text has NEC's copy, others have them among those of JIS X 0212.
func eucJPMSRule(b []byte) error {
	if b[0] >= 0xf9 || b[0] == 0x8f && b[1] >= 0xf3 {
		return ErrUnsure
	}
	return nil
}

// inSquare is that of the national standards of 94 rows of 94 characters, which x/text has within a larger encoding.
func inSquare(b []byte) error {
	if b[0] < 0xa1 || b[1] < 0xa1 {
		return ErrAsIs
	}
	return nil
}

// big5Rule leaves what ETEN, Microsoft and Hong Kong added around the two levels of Big5.
func big5Rule(b []byte) error {
	if at := int(b[0])<<8 | int(b[len(b)-1]); at < 0xa140 || 0xc67f <= at && at < 0xc940 || at >= 0xf9d6 {
		return ErrUnsure
	}
	return nil
}

// appendMany appends a character as x/text has it, if the rule has nothing against it.
func (t *table) appendMany(out []byte, c rune) ([]byte, error) {
	n := len(out)
	if b := twice(c); b != "" && t.twice {
		out = append(out, b...)
	} else {
		var in [utf8.UTFMax]byte
		out = append(out, in[:]...)
		written, _, err := t.many.Transform(out[n:], utf8.AppendRune(in[:0], c), true)
		if err != nil || written == 0 {
			return out[:n], ErrAsIs
		}
		out = out[:n+written]
	}
	if t.rule != nil {
		if err := t.rule(out[n:]); err != nil {
			return out[:n], err
		}
	}
	return out, nil
}
