package editor

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// pathOf returns the absolute path that a URI names, or "" if it names no file of this machine.
func pathOf(uri string) string { return pathOn(uri, runtime.GOOS == "windows") }

func pathOn(uri string, windows bool) string {
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || !strings.HasPrefix(u.Path, "/") ||
		strings.Contains(u.Path, "\x00") {
		return ""
	}
	isLocal := u.Host == "" || strings.EqualFold(u.Host, "localhost")
	switch {
	case windows && !isLocal: // a share
		return `\\` + u.Host + strings.ReplaceAll(u.Path, "/", `\`)
	case windows && len(u.Path) > 2 && u.Path[2] == ':':
		return strings.ToUpper(u.Path[1:2]) + strings.ReplaceAll(u.Path[2:], "/", `\`)
	case windows || !isLocal:
		return ""
	}
	return filepath.Clean(u.Path)
}

// uriOf returns the URI of an absolute path.
func uriOf(path string) string {
	host, path := "", filepath.ToSlash(path)
	if share, is := strings.CutPrefix(path, "//"); is {
		host, path, _ = strings.Cut(share, "/")
	}
	return (&url.URL{Scheme: "file", Host: host, Path: "/" + strings.TrimPrefix(path, "/")}).String()
}

// realPath returns a path without symlinks; of a missing file, its directory's are resolved.
func realPath(path string) string {
	dir, name := filepath.Split(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	} else if real, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(real, name)
	}
	return path
}
