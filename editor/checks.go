package editor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/policyscan/policyscan/rules"
)

// An openFile is a document that is open in the editor.
type openFile struct {
	uri     string
	path    string // real; "" if it is no file
	version int
	text    *text
	lost    string // why the text is not known; "" if it is
	task
	waiting []*message // requests for its diagnostics
	found   []diagnostic
	stale   bool // the client does not know what was found
}

// A bundle is checked if its files are open, or have mistakes.
type bundle struct {
	task
	found map[string][]diagnostic // by path
}

// A task is what is to be checked again.
type task struct {
	due     bool
	hurried bool               // without waiting for more changes
	cancel  context.CancelFunc // of the check under way; nil without one
}

// touch has something checked: now, or when its changes were gathered.
func (s *server) touch(t *task, hurried bool) {
	t.due, t.hurried = true, t.hurried || hurried
	if t.cancel != nil {
		t.cancel()
	}
	if s.timer == nil && !hurried {
		s.timer = s.after(delay)
	}
}

// touchDocument has a document checked, and the bundle that it belongs to.
func (s *server) touchDocument(d *openFile, hurried bool) {
	s.touch(&d.task, hurried)
	s.touchBundle(bundleOf(d.path), hurried)
}

func (s *server) touchBundle(dir string, hurried bool) {
	if dir == "" {
		return
	}
	if s.bundles[dir] == nil {
		s.bundles[dir] = &bundle{}
	}
	s.touch(&s.bundles[dir].task, hurried)
}

// touchAll has everything checked again, after rules have changed.
func (s *server) touchAll() {
	for _, d := range s.documents {
		s.touchDocument(d, false)
	}
	for dir := range s.bundles {
		s.touchBundle(dir, false)
	}
	if s.client.Workspace.Diagnostics.RefreshSupport && !s.pushes() {
		s.ask("workspace/diagnostic/refresh", nil)
	}
}

// next starts a check, unless one is under way: first one in a hurry, then, when changes were gathered, any.
func (s *server) next() {
	for _, hurried := range []bool{true, false} {
		if s.busy || s.shutdown || !hurried && s.timer != nil {
			return
		}
		for _, uri := range slices.Sorted(maps.Keys(s.documents)) {
			if d := s.documents[uri]; d.due && d.hurried == hurried {
				s.checkDocument(d)
				return
			}
		}
		for _, dir := range slices.Sorted(maps.Keys(s.bundles)) {
			if b := s.bundles[dir]; b.due && b.hurried == hurried {
				s.checkBundle(dir, b)
				return
			}
		}
	}
}

// start runs a check next to the loop, which calls the returned function unless the check was cancelled. Until then the
// check uses no state of the server but its repositories.
func (s *server) start(t *task, check func(ctx context.Context) (end func())) {
	ctx, cancel := context.WithCancel(s.ctx)
	t.due, t.hurried, t.cancel, s.busy = false, false, cancel, true
	s.spawn(func() {
		end := check(ctx)
		s.done <- func() {
			if t.cancel, s.busy = nil, false; ctx.Err() == nil {
				end()
			}
			cancel()
		}
	})
}

func (s *server) checkDocument(d *openFile) {
	f := &findings{text: d.text, encoding: s.encoding}
	path, folders, err := d.path, slices.Clone(s.folders), error(nil)
	if d.lost != "" {
		err = fmt.Errorf("a message about this file could not be read (%s); open it again", d.lost)
		path = ""
	}
	s.start(&d.task, func(ctx context.Context) func() {
		r, changed, failed := s.repositories.check(ctx, f, path, folders)
		if err = cmp.Or(err, failed); err != nil {
			f.addLine(severityError, "", "not checked: "+err.Error(), 1, 0)
		}
		return func() {
			if d.found, d.stale = f.sorted(), true; changed {
				s.touchAll()
				d.due = false
			}
			if r.run == nil && r.failed == nil && r.root != "" && !s.toldNone[r.root] {
				s.toldNone[r.root] = true
				s.log("no bundle in %s, so its files are not checked", r.root)
			}
			for _, dir := range r.dirs {
				if r.failed != nil && s.bundles[dir] == nil {
					s.touchBundle(dir, false)
				}
			}
			s.settle()
		}
	})
}

func (s *server) checkBundle(dir string, b *bundle) {
	unsaved, alone, e := s.unsaved(dir), len(s.options.Policies) == 1, s.encoding
	s.start(&b.task, func(context.Context) func() {
		found := validate(dir, unsaved, alone, e)
		return func() {
			paths := slices.Concat(slices.Collect(maps.Keys(b.found)), slices.Collect(maps.Keys(found)))
			if b.found = found; len(found) == 0 && len(unsaved) == 0 {
				delete(s.bundles, dir)
			}
			slices.Sort(paths)
			for _, path := range slices.Compact(paths) {
				s.publish(path)
			}
			for _, d := range s.documents {
				d.stale = d.stale || bundleOf(d.path) == dir
			}
			s.settle()
		}
	})
}

// unsaved returns the open files of a bundle.
func (s *server) unsaved(dir string) rules.Files {
	files := rules.Files{}
	for _, d := range s.documents {
		if d.lost == "" && dir != "" && bundleOf(d.path) == dir {
			files["rules/"+filepath.Base(d.path)] = d.text.bytes
		}
	}
	return files
}

// settle tells the client what was found in each document of which all is checked.
func (s *server) settle() {
	for _, uri := range slices.Sorted(maps.Keys(s.documents)) {
		d := s.documents[uri]
		b := s.bundles[bundleOf(d.path)]
		if !d.stale || d.due || d.cancel != nil || b != nil && (b.due || b.cancel != nil) {
			continue
		}
		all := s.diagnosticsOf(d)
		for _, m := range d.waiting {
			s.reply(m, map[string]any{"kind": "full", "items": all}, nil)
			delete(s.requests, string(m.ID))
		}
		if d.stale, d.waiting = false, nil; s.pushes() {
			s.notify("textDocument/publishDiagnostics", map[string]any{
				"uri": uri, "version": d.version, "diagnostics": all,
			})
		}
	}
}

// publish sends the diagnostics of a file of a bundle, unless it is open: then settle does.
func (s *server) publish(path string) {
	uri := s.uriFor(path)
	all := s.diagnosticsOf(&openFile{path: path})
	if s.documents[uri] == nil && (len(all) > 0 || s.published[uri]) {
		s.published[uri] = len(all) > 0
		s.notify("textDocument/publishDiagnostics", map[string]any{"uri": uri, "diagnostics": all})
	}
}

// uriFor returns the URI of a path: that of the open document, or one that is made.
func (s *server) uriFor(path string) string {
	for uri, d := range s.documents {
		if d.path == path {
			return uri
		}
	}
	return uriOf(path)
}

// diagnosticsOf returns everything that is known of a document, as the client can show it.
func (s *server) diagnosticsOf(d *openFile) []diagnostic {
	all := append([]diagnostic{}, d.found...)
	if b := s.bundles[bundleOf(d.path)]; b != nil {
		all = append(all, b.found[d.path]...)
	}
	if p := s.client.TextDocument.PublishDiagnostics; p == nil || !p.RelatedInformation {
		for i := range all {
			all[i].Related = nil
		}
	}
	return all
}

// pushes reports whether diagnostics of open documents are sent unasked. A client that says that it only asks would
// show them twice.
func (s *server) pushes() bool {
	return s.client.TextDocument.PublishDiagnostics != nil || s.client.TextDocument.Diagnostic == nil
}
