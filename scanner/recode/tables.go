package recode

import (
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

// A table is an encoding that has some of Unicode's characters, and the same bytes for each wherever it is.
type table struct {
	*charmap.Charmap                       // of one byte for each character; nil: ASCII, or many
	many             transform.Transformer // of several bytes for some character; it keeps no state
	rule             rule                  // of what many writes; nil: all counts

	twice    bool   // x/text has some Chinese characters twice, and writes the wrong one: see twice
	controls bool   // the bytes 80 to 9F are U+0080 to U+009F, which x/text skips
	tags     bool   // it has Unicode's tag characters
	unsure   []span // characters of which not all iconvs have the same, in order
}

// A span is a range of characters, with both ends.
type span struct{ first, last rune }

func one(c rune) span { return span{c, c} }

// append appends a character.
func (t *table) append(out []byte, c rune) ([]byte, error) {
	switch {
	case 0xe0000 <= c && c < 0xe0080 && !t.tags:
		return out, errDropped
	case c < 0x80 && t.Charmap == nil, // those of several bytes have ASCII, too
		t.controls && 0x80 <= c && c < 0xa0:
		return append(out, byte(c)), nil
	}
	for _, s := range t.unsure {
		if s.first <= c && c <= s.last {
			return out, ErrUnsure
		}
	}
	switch {
	case t.many != nil:
		return t.appendMany(out, c)
	case t.Charmap == nil:
		return out, ErrAsIs
	}
	b, ok := t.EncodeRune(c)
	if !ok {
		return out, ErrAsIs
	}
	return append(out, b), nil
}

// tableOf returns the table of an encoding, by its name in lower case; nil if there is none. The names are those of
// the GNU C library's iconv and of GNU libiconv.
func tableOf(name string) *table {
	for _, t := range tables() {
		for known := range strings.FieldsSeq(t.names) {
			if known == name {
				if t.compared {
					t.unsure = append(t.unsure, differences(t.name())...)
				}
				return &t.table
			}
		}
	}
	return nil
}

type namedTable struct {
	names string // the first one is that of iconv, and of differences
	table
	compared bool // what differences says is unsure as well
}

func (t *namedTable) name() string {
	first, _, _ := strings.Cut(t.names, " ")
	return first
}

func tables() []namedTable {
	with := func(names string, m *charmap.Charmap) namedTable {
		return namedTable{names: names, table: table{Charmap: m}}
	}
	unsure := func(names string, m *charmap.Charmap, chars ...span) namedTable {
		return namedTable{names: names, table: table{Charmap: m, unsure: chars}}
	}
	iso := func(names string, m *charmap.Charmap) namedTable {
		return namedTable{names: names, table: table{Charmap: m, controls: true}}
	}
	compared := func(names string, m *charmap.Charmap) namedTable {
		return namedTable{names: names, table: table{Charmap: m}, compared: true}
	}
	return append(multiByte(), []namedTable{
		{names: "us-ascii ascii ansi_x3.4-1968 ansi_x3.4-1986 iso646-us iso_646.irv:1991 us cp367 ibm367 csascii"},
		iso("iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 iso-ir-100 latin1 latin-1 l1 cp819 ibm819 "+
			"csisolatin1", charmap.ISO8859_1),
		iso("iso-8859-2 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 iso-ir-101 latin2 l2 csisolatin2",
			charmap.ISO8859_2),
		iso("iso-8859-3 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 iso-ir-109 latin3 l3 csisolatin3",
			charmap.ISO8859_3),
		iso("iso-8859-4 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 iso-ir-110 latin4 l4 csisolatin4",
			charmap.ISO8859_4),
		iso("iso-8859-5 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988 iso-ir-144 cyrillic csisolatincyrillic",
			charmap.ISO8859_5),
		iso("iso-8859-6 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987 iso-ir-127 arabic asmo-708 ecma-114 "+
			"csisolatinarabic", charmap.ISO8859_6),
		iso("iso-8859-7 iso8859-7 iso88597 iso_8859-7 iso-ir-126 greek greek8 ecma-118 elot_928 csisolatingreek",
			charmap.ISO8859_7),
		iso("iso-8859-8 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 iso-ir-138 hebrew csisolatinhebrew",
			charmap.ISO8859_8),
		iso("iso-8859-9 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 iso-ir-148 latin5 l5 csisolatin5",
			charmap.ISO8859_9),
		iso("iso-8859-10 iso8859-10 iso885910 iso_8859-10 iso_8859-10:1992 iso-ir-157 latin6 l6 csisolatin6",
			charmap.ISO8859_10),
		iso("iso-8859-13 iso8859-13 iso885913 iso-ir-179 latin7 l7", charmap.ISO8859_13),
		iso("iso-8859-14 iso8859-14 iso885914 iso_8859-14 iso_8859-14:1998 iso-ir-199 latin8 l8", charmap.ISO8859_14),
		iso("iso-8859-15 iso8859-15 iso885915 iso_8859-15 iso_8859-15:1998 iso-ir-203 latin-9", charmap.ISO8859_15),
		iso("iso-8859-16 iso8859-16 iso885916 iso_8859-16 iso_8859-16:2001 iso-ir-226 latin10 l10", charmap.ISO8859_16),
		with("ibm037 cp037 ebcdic-cp-ca ebcdic-cp-nl ebcdic-cp-us ebcdic-cp-wt csibm037", charmap.CodePage037),
		with("ibm437 cp437 437 cspc8codepage437", charmap.CodePage437),
		with("ibm850 cp850 850 cspc850multilingual", charmap.CodePage850),
		with("ibm852 cp852 852 cspcp852", charmap.CodePage852),
		with("ibm855 cp855 855 csibm855", charmap.CodePage855),
		with("ibm858 cp858 858 cspc858multilingual", charmap.CodePage858),
		with("ibm860 cp860 860 csibm860", charmap.CodePage860),
		with("ibm862 cp862 862 cspc862latinhebrew", charmap.CodePage862),
		with("ibm863 cp863 863 csibm863", charmap.CodePage863),
		with("ibm865 cp865 865 csibm865", charmap.CodePage865),
		with("ibm866 cp866 866 csibm866", charmap.CodePage866),
		with("ibm1047 ibm-1047 cp1047 1047", charmap.CodePage1047),
		unsure("ibm1140 ibm-1140 cp1140", charmap.CodePage1140, one(0x203e)),
		with("koi8-r koi8r cskoi8r", charmap.KOI8R),
		unsure("koi8-u", charmap.KOI8U, one(0x40e), one(0x45e), one(0x255d), one(0x256c)),
		unsure("macintosh mac csmacintosh", charmap.Macintosh, one(0x394), one(0x2206), one(0xe01e), one(0xf8ff)),
		unsure("mac-cyrillic maccyrillic", charmap.MacintoshCyrillic, one(0xa2), one(0xa4), one(0x490), one(0x20ac)),
		with("windows-874 cp874", charmap.Windows874),
		with("windows-1250 cp1250 ms-ee", charmap.Windows1250),
		with("windows-1251 cp1251 ms-cyrl", charmap.Windows1251),
		with("windows-1252 cp1252 ms-ansi", charmap.Windows1252),
		with("windows-1253 cp1253 ms-greek", charmap.Windows1253),
		with("windows-1254 cp1254 ms-turk", charmap.Windows1254),
		compared("windows-1255 cp1255 ms-hebr", charmap.Windows1255),
		with("windows-1256 cp1256 ms-arab", charmap.Windows1256),
		with("windows-1257 cp1257 winbaltrim", charmap.Windows1257),
		compared("windows-1258 cp1258", charmap.Windows1258),
	}...)
}
