package private

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestOpenRefuses(t *testing.T) {
	base := t.TempDir()
	target, link := filepath.Join(base, "target"), filepath.Join(base, "link")
	file, shared := filepath.Join(base, "file"), filepath.Join(base, "shared")
	for _, err := range []error{os.Mkdir(target, 0o700), os.WriteFile(file, nil, 0o600), os.Mkdir(shared, 0o700),
		os.Chmod(shared, 0o777)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := []string{file, filepath.Join(file, "x")}
	if err := os.Symlink(target, link); err == nil {
		refused = append(refused, link)
	}
	if runtime.GOOS != "windows" {
		refused = append(refused, shared)
	}
	for _, dir := range refused {
		if f, err := Create(dir, "sessions"); err == nil {
			t.Errorf("%s is opened", dir)
			f.Close()
		}
	}
	if f, err := Open(target, "sessions"); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
}

func TestDefaultDir(t *testing.T) {
	for _, c := range []struct {
		system string
		env    map[string]string
		want   string // "": a relative one, which is an error
	}{
		{"linux", map[string]string{"HOME": "/home/u"}, "/home/u/.local/state/policyscan/sessions"},
		{"linux", map[string]string{"HOME": "/home/u", "XDG_STATE_HOME": "/s"}, "/s/policyscan/sessions"},
		{"freebsd", map[string]string{"XDG_STATE_HOME": "/s"}, "/s/policyscan/sessions"},
		{"linux", nil, ""},
		{"darwin", map[string]string{"HOME": "/Users/u", "XDG_STATE_HOME": "/s"},
			"/Users/u/Library/Application Support/policyscan/sessions"},
		{"darwin", nil, ""},
		{"windows", map[string]string{"LOCALAPPDATA": "/local", "HOME": "/h"}, "/local/policyscan/sessions"},
		{"windows", map[string]string{"HOME": "/h", "TEMP": "/t"}, ""},
	} {
		got := filepath.ToSlash(defaultDir(c.system, "sessions", func(name string) string { return c.env[name] }))
		if c.want == "" && strings.HasPrefix(got, "/") || c.want != "" && got != c.want {
			t.Errorf("%s %v: %q; want %q", c.system, c.env, got, c.want)
		}
	}
	if dir, err := DefaultDir("sessions", func(string) string { return "relative" }); err == nil {
		t.Errorf("a relative directory: %q", dir)
	}
}
