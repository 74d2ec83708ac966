package allowance

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
)

// older is the error that the bundle is of 0.1, which has no allowances: it says which line makes it one of 0.2, and
// where it goes.
func (l *File) older() error {
	p := &l.policies[l.own]
	name := p.PathPrefix() + rules.BoundariesFile
	text, err := rules.ReadSource(filepath.Join(p.Dir, filepath.FromSlash(rules.BoundariesFile)), name)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", name, disk.Cause(err))
	}
	const then = `; then scan again, and run this with the new verdict`
	line, first := firstLine(text.Text)
	if bytes.HasPrefix(first, []byte("{")) {
		return fmt.Errorf(`%s:%d: the bundle is of version 0.1, which has no allowances; `+
			`insert bundle: "0.2", after the { of this line%s`, name, line, then)
	}
	return fmt.Errorf(`%s:%d: the bundle is of version 0.1, which has no allowances; `+
		`insert the line bundle: "0.2" before line %d%s`, name, line, line, then)
}

// firstLine returns the first line of a YAML document that has anything of it, and its number.
func firstLine(text []byte) (line int, content []byte) {
	for content := range bytes.Lines(text) {
		line++
		content = bytes.TrimSpace(content)
		if len(content) > 0 && content[0] != '#' && !bytes.HasPrefix(content, []byte("---")) {
			return line, content
		}
	}
	return 1, nil
}
