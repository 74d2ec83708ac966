package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules/document"
)

// params are those of all messages that the server reads.
type params struct {
	ID                    json.RawMessage // of $/cancelRequest
	Capabilities          capabilities
	RootURI               string
	WorkspaceFolders      []folder
	InitializationOptions struct{ CopyCommand string } // a command of the client that copies its argument
	Event                 struct{ Added, Removed []folder }

	TextDocument struct {
		URI     string
		Version int
		Text    *string
	}
	ContentChanges []contentChange
	Position       position
	Range          textRange
	Command        string
	Arguments      []json.RawMessage
}

type folder struct{ URI string }

// capabilities are those of a client that change what the server does.
type capabilities struct {
	General   struct{ PositionEncodings []encoding }
	Window    struct{ ShowDocument struct{ Support bool } }
	Workspace struct {
		DidChangeWatchedFiles struct{ DynamicRegistration bool }
		Diagnostics           struct{ RefreshSupport bool }
	}
	TextDocument struct {
		PublishDiagnostics *struct{ RelatedInformation bool }
		Diagnostic         *struct{}
	}
}

// errLater means that a request is answered later.
var errLater = errors.New("later")

// handle handles a request or a notification, and returns the answer.
func (s *server) handle(m *message) (result any, err error) {
	defer recovered(&err)
	var p params
	if len(m.Params) > 0 && m.Method != "exit" && m.Method != "shutdown" { // which have none
		if err := json.Unmarshal(m.Params, &p); err != nil {
			if strings.HasPrefix(m.Method, "textDocument/did") {
				s.loseAll(err.Error())
			}
			return nil, failure(invalidParams, "the parameters cannot be read: %v", err)
		}
	}
	switch {
	case m.Method == "exit":
		s.exited = true
		return nil, nil
	case !s.initialized && m.Method != "initialize":
		return nil, failure(notInitialized, "the first request must be initialize")
	case s.shutdown, s.initialized && m.Method == "initialize":
		return nil, failure(invalidRequest, "%s cannot be called now", m.Method)
	case strings.HasPrefix(m.Method, "textDocument/"):
		return s.aboutDocument(m, &p)
	}
	switch m.Method {
	case "initialize":
		return s.initialize(&p), nil
	case "initialized":
		s.watch()
	case "shutdown":
		s.shutdown = true
		for _, uri := range slices.Sorted(maps.Keys(s.documents)) {
			s.close(s.documents[uri])
		}
	case "$/cancelRequest":
		if cancel := s.requests[string(p.ID)]; cancel != nil {
			cancel()
		}
	case "workspace/executeCommand":
		return nil, s.execute(&p)
	case "workspace/didChangeWorkspaceFolders":
		for _, f := range p.Event.Removed {
			gone := realPath(pathOf(f.URI))
			s.folders = slices.DeleteFunc(s.folders, func(known string) bool { return known == gone })
		}
		s.addFolders(p.Event.Added)
		s.touchAll()
	case "workspace/didChangeWatchedFiles":
		s.touchAll()
	default:
		return unknown(m)
	}
	return nil, nil
}

// unknown is the answer to a message of an unknown method, which is ignored if it is a notification.
func unknown(m *message) (any, error) {
	if m.isRequest() {
		return nil, failure(methodNotFound, "unknown method %q", m.Method)
	}
	return nil, nil
}

func (s *server) initialize(p *params) any {
	s.initialized, s.client, s.copyCommand = true, p.Capabilities, p.InitializationOptions.CopyCommand
	for _, e := range slices.Backward(p.Capabilities.General.PositionEncodings) {
		if e == utf8Units || e == utf16Units || e == utf32Units {
			s.encoding = e
		}
	}
	s.addFolders(append(p.WorkspaceFolders, folder{p.RootURI}))
	is := map[string]any{
		"positionEncoding":       s.encoding,
		"textDocumentSync":       map[string]any{"openClose": true, "change": 2, "save": true}, // 2: by edits
		"hoverProvider":          true,
		"completionProvider":     map[string]any{"triggerCharacters": []string{" ", "{"}},
		"definitionProvider":     true,
		"documentSymbolProvider": true,
		"codeActionProvider":     true,
		"executeCommandProvider": map[string]any{"commands": []string{showRule, showText}},
		"workspace": map[string]any{
			"workspaceFolders": map[string]any{"supported": true, "changeNotifications": true},
		},
	}
	if !s.pushes() {
		is["diagnosticProvider"] = map[string]any{"interFileDependencies": true, "workspaceDiagnostics": false}
	}
	return map[string]any{
		"capabilities": is, "serverInfo": map[string]any{"name": "policyscan", "version": s.options.Version},
	}
}

func (s *server) addFolders(added []folder) {
	for _, f := range added {
		if path := pathOf(f.URI); path != "" {
			s.folders = append(s.folders, realPath(path))
		}
	}
}

// watch asks the client to say when rule files change. Without that, each check looks at them.
func (s *server) watch() {
	if s.client.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		s.ask("client/registerCapability", map[string]any{"registrations": []any{map[string]any{
			"id": "rules", "method": "workspace/didChangeWatchedFiles", "registerOptions": map[string]any{
				"watchers": []any{map[string]any{"globPattern": "**/rules/**/*.{yml,yaml}"}},
			},
		}}})
	}
}

// aboutDocument handles what is about one document.
func (s *server) aboutDocument(m *message, p *params) (any, error) {
	d := s.documents[p.TextDocument.URI]
	switch {
	case m.Method == "textDocument/didOpen" && p.TextDocument.Text != nil:
		s.open(p)
		return nil, nil
	case d == nil:
		return nil, failure(invalidParams, "%q is not open", p.TextDocument.URI)
	}
	f := &ruleFile{d.path, d.text, s.encoding, &outline{}}
	isRuleFile := bundleOf(d.path) != "" && len(d.text.bytes) <= document.MaxFileBytes
	if d.lost == "" && isRuleFile {
		f.outline = readOutline(d.text.bytes)
	}
	switch m.Method {
	case "textDocument/didChange":
		return nil, s.change(d, p)
	case "textDocument/didSave":
		if s.touchDocument(d, true); bundleOf(d.path) != "" {
			s.touchAll()
		}
	case "textDocument/didClose":
		s.close(d)
	case "textDocument/diagnostic":
		d.waiting = append(d.waiting, m)
		s.requests[string(m.ID)] = func() { s.stopWaiting(d, m) }
		s.touchDocument(d, true)
		return nil, errLater
	case "textDocument/codeAction":
		return s.codeActions(d, p.Range), nil
	case "textDocument/hover":
		if n, folds := f.globAt(p.Position); n != nil {
			return nil, s.countFiles(m, f, n, folds)
		}
		return f.hover(p.Position), nil
	case "textDocument/completion":
		if d.lost == "" && isRuleFile {
			return f.complete(p.Position), nil
		}
	case "textDocument/definition":
		if n, path := f.nodeAt(p.Position); path == "allowances rule" && !n.isKey {
			return s.definition(bundleOf(d.path), n.text), nil
		}
	case "textDocument/documentSymbol":
		all := []any{}
		for _, n := range f.ids() {
			all = append(all, map[string]any{
				"name": n.text, "kind": symbolObject, "location": location{d.uri, f.rangeOf(&n)},
			})
		}
		return all, nil
	default:
		return unknown(m)
	}
	return nil, nil
}

func (s *server) open(p *params) {
	uri := p.TextDocument.URI
	if d := s.documents[uri]; d != nil {
		s.close(d)
	}
	d := &openFile{uri: uri, version: p.TextDocument.Version, text: newText([]byte(*p.TextDocument.Text))}
	if path := pathOf(uri); path != "" {
		d.path = realPath(path)
	}
	s.documents[uri] = d
	s.touchDocument(d, true)
}

// change edits a document. After an edit that makes no sense its text is unknown.
func (s *server) change(d *openFile, p *params) error {
	if p.TextDocument.Version < d.version {
		return fmt.Errorf("version %d of %q after %d is ignored", p.TextDocument.Version, d.uri, d.version)
	}
	d.version = p.TextDocument.Version
	for _, c := range p.ContentChanges {
		switch {
		case c.Text == nil:
			d.lost = "a change without a text"
		case c.Range == nil:
			d.text, d.lost = newText([]byte(*c.Text)), ""
		case d.lost == "":
			d.text = d.text.edited(*c.Range, *c.Text, s.encoding)
		}
	}
	s.touchDocument(d, false)
	return nil
}

func (s *server) close(d *openFile) {
	for len(d.waiting) > 0 {
		s.stopWaiting(d, d.waiting[0])
	}
	delete(s.documents, d.uri)
	if d.cancel != nil {
		d.cancel()
	}
	s.touchBundle(bundleOf(d.path), true)
	if s.pushes() {
		s.notify("textDocument/publishDiagnostics", map[string]any{"uri": d.uri, "diagnostics": []any{}})
	}
}

// stopWaiting answers a request for diagnostics that will not be answered by them.
func (s *server) stopWaiting(d *openFile, m *message) {
	d.waiting = slices.DeleteFunc(d.waiting, func(w *message) bool { return w == m })
	delete(s.requests, string(m.ID))
	s.reply(m, nil, failure(requestCancelled, "cancelled"))
}

// countFiles answers a hover with the number of files that a glob selects. They are counted next to the loop.
func (s *server) countFiles(m *message, f *ruleFile, n *node, folds bool) error {
	root, err := rootOf(filepath.Dir(f.path), s.folders)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.requests[string(m.ID)] = cancel
	o := s.repositories.options(root)
	s.spawn(func() {
		text, err := aboutGlob(ctx, n.text, folds, o)
		s.done <- func() {
			if ctx.Err() != nil {
				err = failure(requestCancelled, "cancelled")
			}
			cancel()
			delete(s.requests, string(m.ID))
			s.reply(m, hover{plain(text), f.rangeOf(n)}, err)
		}
	})
	return errLater
}

// definition returns where a rule is in the files of a bundle, saved or not.
func (s *server) definition(dir, id string) []location {
	all := []location{}
	texts := ruleTexts(dir, s.unsaved(dir))
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		t := texts[path]
		f := &ruleFile{path, t, s.encoding, readOutline(t.bytes)}
		for _, n := range f.ids() {
			if n.text == id {
				all = append(all, location{s.uriFor(path), f.rangeOf(&n)})
			}
		}
	}
	return all
}

// The commands of code actions.
const (
	showRule = "policyscan.showRule"
	showText = "policyscan.showText"
)

// codeActions are about the rules that are broken in a range. None suppresses a violation.
func (s *server) codeActions(d *openFile, r textRange) []any {
	all, known := []any{}, map[string]bool{}
	add := func(title, command string, argument any) {
		if !known[title] {
			known[title] = true
			all = append(all, map[string]any{"title": title, "command": map[string]any{
				"title": title, "command": command, "arguments": []any{argument},
			}})
		}
	}
	for _, found := range d.found {
		if found.Code == "" || found.Range.Start.Line > r.End.Line || found.Range.End.Line < r.Start.Line {
			continue
		}
		if len(found.Related) > 0 && s.client.Window.ShowDocument.Support {
			add("Show rule "+found.Code, showRule, found.Related[0].Location)
		}
		if s.copyCommand != "" {
			add("Copy the command that explains this", s.copyCommand, s.explanation(d))
		} else {
			add("Show the command that explains this", showText, s.explanation(d))
		}
	}
	return all
}

// explanation is the command that explains a file, for a POSIX shell.
func (s *server) explanation(d *openFile) string {
	words := []string{"policyscan", "explain", d.path}
	if root, err := rootOf(filepath.Dir(d.path), s.folders); err == nil {
		words = append(words, "--root", root)
	}
	for _, name := range s.options.Policies {
		if name != "" {
			words = append(words, "--policy", name)
		}
	}
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._:+@%-"
	for i, word := range words {
		if strings.Trim(word, safe) != "" {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func (s *server) execute(p *params) error {
	var at location
	var text string
	switch {
	case len(p.Arguments) == 1 && p.Command == showRule && json.Unmarshal(p.Arguments[0], &at) == nil:
		s.ask("window/showDocument", map[string]any{"uri": at.URI, "takeFocus": true, "selection": at.Range})
	case len(p.Arguments) == 1 && p.Command == showText && json.Unmarshal(p.Arguments[0], &text) == nil:
		s.notify("window/showMessage", map[string]any{"type": 3, "message": text}) // 3: information
	default:
		return failure(invalidParams, "unknown command %q, or not its argument", p.Command)
	}
	return nil
}
