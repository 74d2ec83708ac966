package recode

import (
	"strings"
)

// Forms returns what git may write where the attribute has this value; none where that is the text itself, UTF-8. known
// is false of an encoding that is not known here.
func Forms(value string) (forms []Form, known bool) {
	name := strings.ToLower(value)
	if utf, ok := strings.CutPrefix(name, "utf"); ok { // which git compares by itself
		name = "utf-" + strings.TrimPrefix(utf, "-")
	}
	if forms, ok := unicodeForms(name); ok {
		return forms, true
	}
	t := tableOf(name)
	if t == nil {
		return nil, false
	}
	return []Form{{width: 1, table: t}}, true
}

// unicodeForms returns the forms of an encoding of all of Unicode, or of its first 65,536 characters, by its name in
// lower case. Where the byte order depends on the machine or on the iconv, both are forms.
func unicodeForms(name string) (forms []Form, known bool) {
	switch name {
	case "", "utf-8", "iso-10646/utf-8/", "iso-10646/utf8/", "iso-ir-193", "osf05010001":
		return nil, true
	case "utf-16":
		return []Form{utf16(false, true), utf16(true, true)}, true
	case "utf-16le":
		return []Form{utf16(false, false)}, true
	case "utf-16be":
		return []Form{utf16(true, false)}, true
	case "utf-16le-bom":
		return []Form{utf16(false, true)}, true
	case "utf-16be-bom":
		return []Form{utf16(true, true)}, true
	case "utf-32":
		return []Form{utf32(false, true), utf32(true, true)}, true
	case "utf-32le":
		return []Form{utf32(false, false)}, true
	case "utf-32be":
		return []Form{utf32(true, false)}, true

	case "ucs-2", "ucs2", "iso-10646/ucs2/", "iso-10646-ucs-2", "osf00010100", "osf00010101", "osf00010102",
		"ucs-2-internal", "ucs-2-swapped": // GNU C library: the machine's; GNU libiconv and musl: big-endian
		return []Form{ucs2(false, false), ucs2(true, false)}, true
	case "unicode", "csunicode": // the machine's, with a mark
		return []Form{ucs2(false, true), ucs2(true, true)}, true
	case "ucs-2le", "unicodelittle":
		return []Form{ucs2(false, false)}, true
	case "ucs-2be", "unicodebig", "unicode-1-1", "csunicode11":
		return []Form{ucs2(true, false)}, true
	case "ucs-4le":
		return []Form{ucs4(false)}, true
	case "ucs-4be":
		return []Form{ucs4(true)}, true
	case "ucs-4", "ucs4", "csucs4", "iso-10646", "iso-10646/ucs4/", "iso-10646/ucs4", "iso-10646-ucs-4", "10646-1:1993",
		"10646-1:1993/ucs4/", "osf00010104", "osf00010105", "osf00010106",
		"internal", "ucs-4-internal", "ucs-4-swapped":
		return []Form{ucs4(true), ucs4(false)}, true
	case "wchar_t": // of 4 bytes, and 2 on Windows
		return []Form{ucs4(false), ucs4(true), utf16(false, false)}, true
	}
	return nil, false
}

func utf16(big, mark bool) Form {
	f := Form{width: 2, big: big}
	if mark {
		f.mark = string(f.unit(nil, 0xfeff))
	}
	return f
}

// ucs2 is UTF-16 without surrogates.
func ucs2(big, mark bool) Form {
	f := utf16(big, mark)
	f.bmp = true
	return f
}

func utf32(big, mark bool) Form {
	f := Form{width: 4, big: big}
	if mark {
		f.mark = string(f.unit(nil, 0xfeff))
	}
	return f
}

// ucs4 is UTF-32 with more characters.
func ucs4(big bool) Form {
	f := utf32(big, false)
	f.beyond = true
	return f
}
