package checkout

import (
	"slices"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// A codePage is an encoding with one byte for each character.
type codePage struct {
	names string // of the GNU C library's iconv and of GNU libiconv, in lower case; see codePageOf
	*charmap.Charmap
	differing string // characters that some iconv writes differently from the charmap
}

func (p *codePage) encode(c rune) (byte, bool) {
	if 0x80 <= c && c < 0xa0 && strings.HasPrefix(p.names, "iso-8859-") { // which the charmap skips
		return byte(c), true
	}
	b, ok := p.EncodeRune(c)
	return b, ok && !strings.ContainsRune(p.differing, c)
}

// codePageOf returns the encoding of a name in lower case; known is false if it is not a code page. ISO 8859 has a
// name with and without each dash, and with a year.
func codePageOf(name string) (_ []Encoding, known bool) {
	if number, iso := strings.CutPrefix(strings.NewReplacer("-", "", "_", "").Replace(name), "iso8859"); iso {
		number, _, _ = strings.Cut(number, ":")
		name = "iso-8859-" + number
	}
	for _, p := range codePages() {
		switch {
		case !slices.Contains(strings.Fields(p.names), name):
		case p.Charmap == nil:
			return []Encoding{{unit: 1, last: 0x7f}}, true
		default:
			return []Encoding{{unit: 1, page: &p}}, true
		}
	}
	return nil, false
}

// codePages returns the known code pages. ASCII has no charmap.
func codePages() []codePage {
	return []codePage{
		{names: "us-ascii ascii ansi_x3.4-1968 ansi_x3.4-1986 iso646-us iso_646.irv:1991 us cp367 ibm367 csascii"},
		{"iso-8859-1 iso-ir-100 latin1 latin-1 l1 cp819 ibm819 csisolatin1", charmap.ISO8859_1, ""},
		{"iso-8859-2 iso-ir-101 latin2 l2 csisolatin2", charmap.ISO8859_2, ""},
		{"iso-8859-3 iso-ir-109 latin3 l3 csisolatin3", charmap.ISO8859_3, ""},
		{"iso-8859-4 iso-ir-110 latin4 l4 csisolatin4", charmap.ISO8859_4, ""},
		{"iso-8859-5 iso-ir-144 cyrillic csisolatincyrillic", charmap.ISO8859_5, ""},
		{"iso-8859-6 iso-ir-127 arabic asmo-708 ecma-114 csisolatinarabic", charmap.ISO8859_6, ""},
		{"iso-8859-7 iso-ir-126 greek greek8 ecma-118 elot_928 csisolatingreek", charmap.ISO8859_7, ""},
		{"iso-8859-8 iso-ir-138 hebrew csisolatinhebrew", charmap.ISO8859_8, ""},
		{"iso-8859-9 iso-ir-148 latin5 l5 csisolatin5", charmap.ISO8859_9, ""},
		{"iso-8859-10 iso-ir-157 latin6 l6 csisolatin6", charmap.ISO8859_10, ""},
		{"iso-8859-13 iso-ir-179 latin7 l7", charmap.ISO8859_13, ""},
		{"iso-8859-14 iso-ir-199 latin8 l8", charmap.ISO8859_14, ""},
		{"iso-8859-15 iso-ir-203 latin-9", charmap.ISO8859_15, ""},
		{"iso-8859-16 iso-ir-226 latin10 l10", charmap.ISO8859_16, ""},
		{"ibm037 cp037 ebcdic-cp-ca ebcdic-cp-nl ebcdic-cp-us ebcdic-cp-wt csibm037", charmap.CodePage037, ""},
		{"ibm437 cp437 437 cspc8codepage437", charmap.CodePage437, ""},
		{"ibm850 cp850 850 cspc850multilingual", charmap.CodePage850, ""},
		{"ibm852 cp852 852 cspcp852", charmap.CodePage852, ""},
		{"ibm855 cp855 855 csibm855", charmap.CodePage855, ""},
		{"ibm858 cp858 858 cspc858multilingual", charmap.CodePage858, ""},
		{"ibm860 cp860 860 csibm860", charmap.CodePage860, ""},
		{"ibm862 cp862 862 cspc862latinhebrew", charmap.CodePage862, ""},
		{"ibm863 cp863 863 csibm863", charmap.CodePage863, ""},
		{"ibm865 cp865 865 csibm865", charmap.CodePage865, ""},
		{"ibm866 cp866 866 csibm866", charmap.CodePage866, ""},
		{"ibm1047 ibm-1047 cp1047 1047", charmap.CodePage1047, ""},
		{"ibm1140 ibm-1140 cp1140", charmap.CodePage1140, ""},
		{"koi8-r koi8r cskoi8r", charmap.KOI8R, ""},
		{"koi8-u", charmap.KOI8U, "Ўў"},
		{"macintosh mac csmacintosh", charmap.Macintosh, "∆\uf8ff"},
		{"mac-cyrillic maccyrillic", charmap.MacintoshCyrillic, "Ґ€"},
		{"windows-874 cp874", charmap.Windows874, ""},
		{"windows-1250 cp1250 ms-ee", charmap.Windows1250, ""},
		{"windows-1251 cp1251 ms-cyrl", charmap.Windows1251, ""},
		{"windows-1252 cp1252 ms-ansi", charmap.Windows1252, ""},
		{"windows-1253 cp1253 ms-greek", charmap.Windows1253, ""},
		{"windows-1254 cp1254 ms-turk", charmap.Windows1254, ""},
		{"windows-1255 cp1255 ms-hebr", charmap.Windows1255, "\u05ba"},
		{"windows-1256 cp1256 ms-arab", charmap.Windows1256, ""},
		{"windows-1257 cp1257 winbaltrim", charmap.Windows1257, ""},
		{"windows-1258 cp1258", charmap.Windows1258, ""},
	}
}
