package report

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// page.html and fleet.html are the templates; the styles and scripts are written into them as they are.
//
//go:embed html/page.html html/style.css html/script.js html/fleet.html html/fleet.css html/fleet.js
var htmlFiles embed.FS

// writeHTML writes one page that needs nothing else: no request leaves it, and its content
// security policy lets only its own style and its own script run, by their hashes.
// It is whole without the script, which adds search, filters and their links.
//
// What the page shows is an [htmlPage], where no text of unknown origin is raw.
// html/template escapes it for HTML; that no GitHub runner obeys "##[" when the page is
// printed to a log is done here, as a reference that HTML reads as the same character.
func writeHTML(w io.Writer, v *verdict.Verdict) error {
	number := func(n int) string { return grouped(int64(n)) }
	page, err := template.New("page.html").Funcs(template.FuncMap{"number": number}).ParseFS(htmlFiles,
		"html/page.html")
	if err != nil {
		return err
	}
	style, err := htmlFile("style.css")
	if err != nil {
		return err
	}
	script, err := htmlFile("script.js")
	if err != nil {
		return err
	}
	p := newHTMLPage(v)
	p.Style, p.StyleHash = template.CSS(style), contentHash(style)
	p.Script, p.ScriptHash = template.JS(script), contentHash(script)

	safe := &commandless{to: w}
	b := bufio.NewWriterSize(safe, 64<<10) // a template writes a few bytes at a time
	if err := page.Execute(b, p); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return safe.end()
}

// commandless writes the middle of "##[" as a reference of HTML, of a text that comes in parts.
type commandless struct {
	to   io.Writer
	held []byte // the last bytes, which the next part may make "##["
}

// Write takes the next part. The number that it returns is that of bytes taken.
func (c *commandless) Write(part []byte) (int, error) {
	text := append(c.held, part...)
	n := len(text)
	for n > 0 && n > len(text)-2 && text[n-1] == '#' {
		n--
	}
	_, err := c.to.Write(bytes.ReplaceAll(text[:n], []byte("##["), []byte("#&#35;[")))
	c.held = append(c.held[:0], text[n:]...)
	return len(part), err
}

// end writes what is left.
func (c *commandless) end() error {
	_, err := c.to.Write(c.held)
	return err
}

// htmlFile returns an embedded file with the line ends that a browser hashes, whatever a
// checkout made of them.
func htmlFile(name string) (string, error) {
	text, err := htmlFiles.ReadFile("html/" + name)
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

// contentHash is how a content security policy names an inline style or script.
func contentHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}
