package call

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// hostOf returns the host of a URL, normalized by [Host]; nil if it cannot be determined, because the WHATWG's URL
// parser refuses the URL or programs read it differently: a backslash before the path, "https:host" and
// "https:///host", a name before several @, a scheme without hosts in browsers. Without a scheme, it is read as
// https, the usual shorthand.
func hostOf(text string) *Value {
	rest, ok := cutScheme(cleanURL(text))
	if !ok {
		return nil
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	name := rest[strings.IndexByte(rest, '@')+1:]
	if strings.ContainsAny(rest, `\`) || strings.Contains(name, "@") {
		return nil
	}
	port := ""
	if i := strings.IndexByte(name[strings.LastIndexByte(name, ']')+1:], ':'); i >= 0 {
		i += strings.LastIndexByte(name, ']') + 1
		name, port = name[:i], name[i+1:]
	}
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n > 1<<16-1) {
		return nil
	}
	if host, ok := parseHost(name); ok {
		return Text(host)
	}
	return nil
}

// urlPath returns the path of a URL that has a host, "/" if it has none; false if servers may read it as another one.
func urlPath(text string) (string, bool) {
	rest, ok := cutScheme(cleanURL(text))
	at := ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		at = rest[i:]
	}
	if i := strings.IndexAny(at, "?#"); i >= 0 {
		at = at[:i]
	}
	if at == "" {
		at = "/"
	}
	odd := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`%\;`, r) }
	clean := at == "/" || path.Clean(at) == strings.TrimSuffix(at, "/") && at != "//"
	return at, ok && clean && !strings.ContainsFunc(at, odd)
}

// cleanURL removes what the WHATWG's URL parser drops.
func cleanURL(text string) string {
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text)
}

// cutScheme cuts "https://" off a URL, or another scheme that has hosts; false if what follows is not a host for all
// programs.
func cutScheme(text string) (rest string, ok bool) {
	scheme, rest, colon := strings.Cut(text, ":")
	for _, known := range []string{"https", "http", "wss", "ws", "ftp"} {
		if colon && strings.EqualFold(scheme, known) {
			rest, ok = strings.CutPrefix(rest, "//")
			return rest, ok && !strings.HasPrefix(rest, "/")
		}
	}
	port := colon && (rest == "" || rest[0] < '0' || rest[0] > '9')
	if strings.ContainsAny(scheme, "/?#@[") { // there is no scheme: the colon is in a path, a name or an address
		port = false
	}
	return text, text != "" && text[0] != '/' && !port
}

// Host normalizes a host like the WHATWG's URL parser: lower case, an international name in its xn-- form, an address
// in its usual notation ("2130706433" and "0x7f.1" are "127.0.0.1"). In contrast to that parser, an IPv6 address has no
// brackets and a name no dot at its end. Brackets around an IPv6 address are optional. It is false for an invalid host.
func Host(text string) (name string, ok bool) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Is6() {
		return parseHost("[" + text + "]")
	}
	return parseHost(text)
}

// maxHost is how long a host may be, in bytes as it is spelt. No server has a name of over 253; to encode a long name
// of many different letters takes a time that grows with its square (60 kB: 8 s).
const maxHost = 1024

// parseHost is the WHATWG's host parser, in the form of Host.
func parseHost(text string) (string, bool) {
	if len(text) > maxHost {
		return "", false
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		return address6(inner, ok)
	}
	domain, err := url.PathUnescape(whole(text))
	if err != nil || !utf8.ValidString(domain) {
		return "", false
	}
	last, _ := utf8.DecodeLastRuneInString(domain)
	// The WHATWG's "domain to ASCII": UTS #46, without its rules for hyphens, for ASCII and for lengths. Its rule for
	// right-to-left letters applies to all labels of such a name, and refuses more of them than node does.
	domain, err = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.CheckJoiners(true),
		idna.CheckHyphens(false), idna.StrictDomainName(false), idna.VerifyDNSLength(false)).ToASCII(domain)
	emptied := strings.HasSuffix(domain, ".") && !strings.ContainsRune(".。．｡", last) // a label "xn--", of nothing
	if err != nil || emptied {
		return "", false
	}
	domain = strings.TrimSuffix(domain, ".")
	if slices.Contains(strings.Split(domain, "."), "") { // as in "a..b": a browser requests it, and no server has it
		return "", false
	}
	if strings.ContainsFunc(domain, func(r rune) bool { // the WHATWG's forbidden code points, or not ASCII
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`#/:<>?@[\]^|%`, r)
	}) {
		return "", false
	}
	end := domain[strings.LastIndexByte(domain, '.')+1:]
	if _, isNumber := number4(end); isNumber || strings.Trim(end, "0123456789") == "" {
		return address4(domain)
	}
	return domain, true
}

// whole writes a % that begins no escape as one, for that is how the WHATWG reads it: as itself.
func whole(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		b.WriteByte(text[i])
		if text[i] == '%' && (i+2 >= len(text) || !hexadecimal(text[i+1]) || !hexadecimal(text[i+2])) {
			b.WriteString("25")
		}
	}
	return b.String()
}

func hexadecimal(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// number4 reads a part of an IPv4 address: decimal, octal after a 0, or hexadecimal after 0x. A number too large for
// an address stays too large.
func number4(text string) (uint64, bool) {
	base := 10
	switch {
	case text == "":
		return 0, false
	case len(text) > 1 && (text[:2] == "0x" || text[:2] == "0X"):
		text, base = text[2:], 16
	case len(text) > 1 && text[0] == '0':
		text, base = text[1:], 8
	}
	if text == "" {
		return 0, true
	}
	if strings.ContainsAny(text, "+-_") {
		return 0, false
	}
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		return 1 << 40, strings.HasSuffix(err.Error(), strconv.ErrRange.Error())
	}
	return n, true
}

// address4 is the WHATWG's IPv4 parser: up to four numbers, of which the last fills the remaining bytes.
func address4(text string) (string, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return "", false
	}
	var sum uint64
	for i, part := range parts {
		n, ok := number4(part)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if !ok || n >= 1<<bits {
			return "", false
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}).String(), true
}

// address6 is the WHATWG's IPv6 parser and serializer.
func address6(text string, closed bool) (string, bool) {
	addr, err := netip.ParseAddr(text)
	if !closed || err != nil || !addr.Is6() || addr.Zone() != "" {
		return "", false
	}
	if b := addr.As16(); addr.Is4In6() { // "::ffff:7f00:1", where netip writes 127.0.0.1 at its end
		return "::ffff:" + strconv.FormatUint(uint64(b[12])<<8|uint64(b[13]), 16) + ":" +
			strconv.FormatUint(uint64(b[14])<<8|uint64(b[15]), 16), true
	}
	return addr.String(), true
}
