// Package editor is a language server: it shows an editor what a scan would say of a file while it is written.
//
// [Serve] speaks the Language Server Protocol 3.17 over two streams. One loop has the state and writes all messages; a
// goroutine reads them, and another one checks a document at a time. A file is checked by [scanner.Scan], as the
// editor has it, by the bundle that a scan of its repository would use: the one on disk, or the named ones. A
// newer version of a document ends the check of an older one. Rules are loaded again when the content of their files
// has changed.
//
// What cannot be checked has a diagnostic that says so: a bundle with mistakes, a text that is too long, a document
// whose changes could not be read.
//
// # Limits
//
// A document is checked alone: required files, the index, commits and the encodings of .gitattributes are for a scan.
// For hover, completion and symbols, rule files are read by their indentation alone. A message has at most 512 MiB, a
// checked text 16 MiB.
//
// The package writes no file.
package editor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// delay is how long changes are gathered before documents are checked.
const delay = 50 * time.Millisecond

// Options say how to serve.
type Options struct {
	Version  string   // of the program
	Policies []string // names of the bundles; "" is the one in the root of a file's repository
}

// ErrDied means that the client ended, or asked to exit, without a shutdown.
var ErrDied = errors.New("the client ended without shutdown")

// Serve answers the messages of one client until it exits. The error is [ErrDied], or that of a stream.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := newServer(out, o)
	s.after, s.spawn = time.After, func(f func()) { go f() }
	return s.serve(ctx, in)
}

// A server is the state of one client. Only its loop uses it.
type server struct {
	options Options
	out     io.Writer
	failed  error // of a write
	ctx     context.Context
	after   func(time.Duration) <-chan time.Time
	spawn   func(func())     // runs a job next to the loop
	done    chan func()      // the ends of jobs, for the loop
	timer   <-chan time.Time // until changes were gathered; nil: they are
	busy    bool             // a check is under way
	lastID  int              // of requests to the client

	initialized, shutdown, exited bool

	client      capabilities
	copyCommand string
	encoding    encoding
	folders     []string // of the workspace: real paths
	documents   map[string]*openFile
	bundles     map[string]*bundle            // of rule files that are open, or have mistakes, by directory
	requests    map[string]context.CancelFunc // to be answered later, by id
	published   map[string]bool               // URIs of files with diagnostics that are not open
	toldNone    map[string]bool               // roots without a bundle that were logged

	repositories *repositories // used by the check under way alone
}

func newServer(out io.Writer, o Options) *server {
	return &server{
		options: o, out: out, done: make(chan func(), 8), encoding: utf16Units,
		documents: map[string]*openFile{}, bundles: map[string]*bundle{}, requests: map[string]context.CancelFunc{},
		published: map[string]bool{}, toldNone: map[string]bool{},
		repositories: &repositories{version: o.Version, policies: o.Policies, byRoot: map[string]*repository{}},
	}
}

type incoming struct {
	message *message
	err     error
}

func (s *server) serve(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx = ctx
	messages := make(chan incoming)
	go func() {
		for buffered := bufio.NewReader(in); ; {
			m, err := readMessage(buffered)
			select {
			case messages <- incoming{m, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	for !s.exited && s.failed == nil {
		select { // a check that has ended comes before the next message
		case end := <-s.done:
			end()
		default:
			select {
			case end := <-s.done:
				end()
			case <-s.timer:
				s.timer = nil
			case m := <-messages:
				s.receive(m)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		s.next()
	}
	if s.failed == nil && !s.shutdown {
		return ErrDied
	}
	return s.failed
}

// receive handles a message, or the end of the input.
func (s *server) receive(in incoming) {
	m, wrong := in.message, (*rpcError)(nil)
	switch {
	case errors.As(in.err, &wrong):
		if s.reply(m, nil, wrong); m == nil || !m.isRequest() {
			s.loseAll(wrong.Message)
		}
	case in.err != nil:
		if s.exited = true; !errors.Is(in.err, io.EOF) && !errors.Is(in.err, io.ErrUnexpectedEOF) {
			s.failed = in.err
		}
	case m.Method != "":
		result, err := s.handle(m)
		switch {
		case m.isRequest() && !errors.Is(err, errLater):
			s.reply(m, result, err)
		case !m.isRequest() && err != nil && s.initialized && !s.shutdown:
			s.log("%s: %v", m.Method, err)
		}
	case len(m.Result) == 0 && m.Error == nil: // not an answer to a request of the server
		s.reply(m, nil, failure(invalidRequest, "a message without a method"))
	}
}

// loseAll is called after a message that cannot be read. It may have been a change of any document, whose text is
// unknown then.
func (s *server) loseAll(why string) {
	for _, d := range s.documents {
		d.lost = why
		s.touchDocument(d, true)
	}
}

// reply answers a request, or a message that cannot be read.
func (s *server) reply(m *message, result any, err error) {
	answer := &message{ID: []byte("null")}
	if m != nil && len(m.ID) > 0 {
		answer.ID = m.ID
	}
	if err == nil {
		answer.Result = encode(result)
	} else if !errors.As(err, &answer.Error) {
		answer.Error = failure(internalError, "%v", err)
	}
	s.send(answer)
}

func (s *server) send(m *message) {
	if err := writeMessage(s.out, m); err != nil && s.failed == nil {
		s.failed = fmt.Errorf("a message cannot be written: %w", err)
	}
}

func (s *server) notify(method string, params any) {
	s.send(&message{Method: method, Params: encode(params)})
}

// ask sends a request whose answer does not matter.
func (s *server) ask(method string, params any) {
	s.lastID++
	s.send(&message{ID: encode(s.lastID), Method: method, Params: encode(params)})
}

// log tells the user something that has no place in a file.
func (s *server) log(format string, args ...any) {
	s.notify("window/logMessage", map[string]any{"type": 2, "message": fmt.Sprintf(format, args...)}) // 2: a warning
}
