package call

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var (
	withNode  = flag.Bool("node", false, "compare hosts with node's URL")
	nodeHosts = flag.Int("node.hosts", 40_000, "how many URLs are made for -node")
	update    = flag.Bool("update", false, "with -node: write testdata/hosts.jsonl")
)

// asked is a URL, and the hostname that node's URL finds in it; nil if node refuses the URL.
type asked struct {
	URL  string  `json:"url"`
	Host *string `json:"host"`
}

// TestFault_156_HostsOfNode compares hosts with the answers of node in testdata/hosts.jsonl, and with -node with those
// that node gives now, to many more URLs.
func TestFault_156_HostsOfNode(t *testing.T) {
	golden := "testdata/hosts.jsonl"
	if *withNode {
		answers := node(t, madeURLs(rand.New(rand.NewPCG(15, 6)), *nodeHosts))
		compareHosts(t, answers)
		if *update {
			var out bytes.Buffer
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			for _, a := range node(t, madeURLs(rand.New(rand.NewPCG(1, 56)), 700)) {
				if err := enc.Encode(a); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(golden, out.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	file, err := os.Open(golden)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is read
	var answers []asked
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var a asked
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	compareHosts(t, answers)
}

// compareHosts: a host that node refuses is invalid, and any other is node's, apart from documented differences.
func compareHosts(t *testing.T, answers []asked) {
	t.Helper()
	same, refused, unsure, bad := 0, 0, 0, 0
	for _, a := range answers {
		ours := hostOf(a.URL)
		want := ""
		if a.Host != nil {
			want = strings.TrimSuffix(strings.Trim(*a.Host, "[]"), ".")
		}
		switch {
		case want == "" && ours == nil:
			refused++
		case want != "" && ours.Str() == want:
			same++
		case want != "" && ours == nil && readDifferently(a.URL, want):
			unsure++
		default:
			if bad++; bad < 30 {
				t.Errorf("%q: %q, and node says %q", a.URL, ours.Str(), want)
			}
		}
		if again, ok := Host(want); want != "" && !readDifferently("https://x", want) && (!ok || again != want) {
			t.Errorf("the host %q becomes %q in a rule: %v", want, again, ok)
		}
	}
	t.Logf("%d URLs with node's host, %d refused by both, %d that programs read differently", same, refused, unsure)
	if same < len(answers)/5 || refused < len(answers)/20 || unsure == 0 {
		t.Errorf("of %d URLs only %d have a host, %d are refused, %d are read differently", len(answers), same,
			refused, unsure)
	}
}

// readDifferently reports the documented exceptions of hostOf: URLs with several hosts or an impossible one, or with
// right-to-left letters.
func readDifferently(url, host string) bool {
	_, rest, _ := strings.Cut(strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(url), ":")
	authority := strings.TrimPrefix(rest, "//")
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	return !strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "///") || strings.Contains(authority, `\`) ||
		strings.Count(authority, "@") > 1 || strings.Contains("."+host+".", "..") || strings.Contains(host, "xn--4db")
}

// madeURLs are URLs of the spellings that differ from program to program.
func madeURLs(r *rand.Rand, most int) []string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	label := func() string {
		if r.IntN(2) == 0 {
			return pick("github", "evil", "com", "org", "Example", "a1", "x-y")
		}
		return pick("github", "evil", "com", "EVIL", "a", "x-y", "-a", "a--b", "xn--bcher-kva", "XN--BCHER-KVA",
			"xn--a", "xn--", "bücher", "BÜCHER", "faß", "ｅｖｉｌ",
			"１２７", "0", "1", "127", "256", "0x7f", "0X7F", "0x", "0xg", "0177", "08", "2130706433", "4294967295",
			"4294967296", "99999999999999999999", "1e3", "+1", "a_b", "_",
			"%31%32%37", "%65vil", "%EF%BD%85vil", "%2e", "%00", "%20", "%25", "%zz", "%", "%C0%80", "a\u00adb",
			"\u200d", "a\u200db", "א", "אa", "\u0301a", "🙂", "☃", "ﬁ", "K", "İ", "ß", "a b",
			"a^b", "a|b", "a<b", "a*b", "~", "!", "$&'()*+,;=", "`", "{}", "\"", "\ufffd")
	}
	six := func() string {
		group := func() string {
			return pick("0", "0", "1", "00", "0001", "ffff", "FFFF", "7f00", "12345", "g", "", "1.2.3.4", "127.0.0.1",
				"01.2.3.4", "1.2.3", "256.1.1.1")
		}
		parts := make([]string, 1+r.IntN(8))
		for i := range parts {
			parts[i] = group()
		}
		text := strings.Join(parts, ":")
		switch r.IntN(4) {
		case 0:
			text = "::" + text
		case 1:
			text = strings.Replace(text, ":", "::", 1)
		case 2:
			text = "::ffff:" + group()
		}
		return pick("[", "[", "[", "[", "") + text + pick("]", "]", "]", "]", "", "%25eth0]", "%eth0]", "].", "]x")
	}
	host := func() string {
		if r.IntN(5) == 0 {
			return six()
		}
		parts := make([]string, 1+r.IntN(4))
		for i := range parts {
			parts[i] = label()
		}
		return strings.Join(parts, pick(".", ".", ".", ".", ".", ".", "。", "．", "..")) +
			pick("", "", "", "", "", ".", "..", "%2E")
	}
	number := func() string {
		part := func() string {
			return pick("0", "1", "127", "0x7f", "0x0", "0177", "00", "255", "256", "65535", "0x", "09")
		}
		parts := make([]string, 1+r.IntN(5))
		for i := range parts {
			parts[i] = part()
		}
		return strings.Join(parts, ".") + pick("", "", ".", "..")
	}
	all := []string{
		"https://2130706433/", "https://0x7f000001/", "https://127.1/", "https://0177.0.0.1/", "https://127.0.0.1./",
		"https://[0:0:0:0:0:0:0:1]/",
		"https://[::ffff:127.0.0.1]/", "https://%31%32%37.0.0.1/", "https://１２７.0.0.1/", "https://ｇｉｔｈｕｂ.com/",
		"https://GitHub.COM/",
		"https://git\u00adhub.com/", `https:\\evil.com`, `https://evil.com\@github.com/`, "https://git\thub.com/",
		"ht\ntps://github.com/", " https://github.com/ ",
		"https://github.com:x@evil.com/", "https:/evil.com", "https:evil.com", "//evil.com", "https:///evil.com",
		"https://a@b@evil.com/", "https://github.com:99999/",
		"https://github.com:0x1/", "https://github.com:/", "https:80/x", "https:8080@evil.com/", "file:///etc/passwd",
		"https://", "https://@/", "https://:80/", "https://./", "https://bücher.example/",
	}
	for len(all) < most {
		at := host()
		if r.IntN(3) == 0 {
			at = number()
		}
		if r.IntN(20) == 0 {
			i := r.IntN(len(at) + 1)
			at = at[:i] + pick("\t", "\n", `\`, " ", "\x00", "\x7f", "@", ":") + at[i:]
		}
		user := pick("", "", "", "", "", "", "", "", "", "", "u@", "u:p@", "github.com:x@", "github.com@", "a@b@",
			"%40@", ":@")
		tail := pick("", "/", "/p", "/p?q#f", "/", "/", "?q", "#f", ":80", ":/", ":443/p", ":8080/", ":x", ":65536",
			"/@github.com/", "?@github.com", `\@github.com/`, "#@github.com")
		url := pick("https://", "https://", "https://", "https://", "https://", "https://", "https://", "https://",
			"http://", "HTTPS://", "ws://", "ftp://", "https:/", "https:", "https:///", `https:\\`, " https://") +
			user + at + tail
		all = append(all, strings.ToValidUTF8(url, "\ufffd"))
	}
	return all
}

// node asks node.
func node(t *testing.T, urls []string) []asked {
	t.Helper()
	in, err := json.Marshal(urls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "-e", `
const urls = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(urls.map(u => {
	try { return {url: u, host: new URL(u).hostname}; } catch { return {url: u, host: null}; }
})));`)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []asked
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// FuzzHost: the form of a host is its own form, and that of a URL with it.
func FuzzHost(f *testing.F) {
	for _, url := range madeURLs(rand.New(rand.NewPCG(2, 56)), 300) {
		f.Add(strings.TrimPrefix(url, "https://"))
	}
	f.Add("::1")
	f.Add("1.2.3.4")
	f.Fuzz(func(t *testing.T, text string) {
		host, ok := Host(text)
		if !ok {
			if host != "" {
				t.Errorf("%q is no host and becomes %q", text, host)
			}
			return
		}
		if again, ok := Host(host); !ok || again != host {
			t.Errorf("%q becomes %q, and that %q: %v", text, host, again, ok)
		}
		written := host
		if strings.Contains(host, ":") {
			written = "[" + host + "]"
		}
		if got := hostOf("https://" + written + ":80/a"); got.Str() != host {
			t.Errorf("%q becomes %q, and in a URL %q", text, host, got.Str())
		}
		_ = hostOf(text)
	})
}
