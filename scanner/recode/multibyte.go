package recode

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// multiByte returns the encodings with several bytes for some character. x/text has them as browsers do, each with what
// vendors added. A rule says which of the added bytes another encoding lacks, or writes in another way, and [differences]
// which characters differ all the same.
func multiByte() []namedTable {
	many := func(names string, e encoding.Encoding, r rule) namedTable {
		return namedTable{names: names, table: table{many: e.NewEncoder().Transformer, rule: r}, compared: true}
	}
	gb18030 := many("gb18030", simplifiedchinese.GB18030, nil)
	gb18030.tags = true
	hkscs := many("big5-hkscs big5hkscs", traditionalchinese.Big5, nil)
	hkscs.unsure = []span{one(0x304), one(0x30c)} // they make one character with an Ê or ê before them
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
		many("big5 big-5 big-five bigfive cn-big5 csbig5 cp950", traditionalchinese.Big5, big5Rule),
		hkscs,
	}
}

// A rule judges a character by the first two bytes that x/text has for it, the second 0 if there is none: nil, [ErrAsIs] if
// the encoding lacks it, [ErrUnsure] if not every iconv has these bytes.
type rule func(first, second byte) error

// sjisRule leaves what NEC and IBM added: rows 13, 89 to 92, and 115 to 119.
func sjisRule(first, second byte) error {
	if first == 0x87 || first == 0xed || first == 0xee || first >= 0xfa {
		return ErrUnsure
	}
	return nil
}

// cp932Rule leaves IBM's characters, which are there twice: x/text writes NEC's copy, others IBM's.
func cp932Rule(first, second byte) error {
	if first == 0xed || first == 0xee || first >= 0xfa {
		return ErrUnsure
	}
	return nil
}

// eucJPRule is sjisRule, of the same rows.
func eucJPRule(first, second byte) error {
	if first == 0xad || first >= 0xf9 || first == 0x8f && second >= 0xf3 {
		return ErrUnsure
	}
	return nil
}

// eucJPMSRule is cp932Rule, of the same rows.
func eucJPMSRule(first, second byte) error {
	if first >= 0xf9 || first == 0x8f && second >= 0xf3 {
		return ErrUnsure
	}
	return nil
}

// inSquare is that of the national standards of 94 rows of 94 characters, which x/text has within a larger encoding.
func inSquare(first, second byte) error {
	if first < 0xa1 || second < 0xa1 {
		return ErrAsIs
	}
	return nil
}

// big5Rule leaves what ETEN, Microsoft and Hong Kong added around the two levels of Big5.
func big5Rule(first, second byte) error {
	at := int(first)<<8 | int(second)
	if at < 0xa140 || 0xc67f <= at && at < 0xc940 || at >= 0xf9d6 {
		return ErrUnsure
	}
	return nil
}

// appendMany appends a character as x/text has it, if the rule has nothing against it.
func (t *table) appendMany(out []byte, c rune) ([]byte, error) {
	var in [4]byte
	n := len(out)
	out = append(out, in[:]...)
	written, _, err := t.many.Transform(out[n:], append(in[:0], string(c)...), true)
	switch {
	case err != nil || written == 0:
		return out[:n], ErrAsIs
	case t.rule != nil:
		second := byte(0)
		if written > 1 {
			second = out[n+1]
		}
		if err := t.rule(out[n], second); err != nil {
			return out[:n], err
		}
	}
	return out[:n+written], nil
}
