package editor

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxMessage limits one message, in bytes. A longer one is skipped, and is an error.
const maxMessage = 512 << 20

// The error codes of JSON-RPC and the protocol.
const (
	parseError       = -32700
	invalidRequest   = -32600
	methodNotFound   = -32601
	invalidParams    = -32602
	internalError    = -32603
	notInitialized   = -32002
	requestCancelled = -32800
)

// A message is a request, a notification (without ID) or a response (without Method).
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

func failure(code int, format string, args ...any) *rpcError {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// isRequest reports whether a message wants an answer.
func (m *message) isRequest() bool { return m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null" }

// readMessage reads the next message. The error is an [rpcError] if reading can go on after it.
func readMessage(in *bufio.Reader) (*message, error) {
	length, err := readHeader(in)
	if err != nil {
		return nil, err
	}
	if length > maxMessage {
		_, err := io.CopyN(io.Discard, in, length)
		return nil, errors.Join(err, failure(invalidRequest, "a message of %d bytes, over %d", length, maxMessage))
	}
	var body bytes.Buffer // grows as bytes arrive: the header may lie
	if _, err := io.CopyN(&body, in, length); err != nil {
		return nil, err
	}
	m := &message{}
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(body.Bytes(), m); {
	case errors.As(err, &syntax):
		return nil, failure(parseError, "the message is not JSON: %v", err)
	case err != nil:
		return nil, failure(invalidRequest, "not a message of JSON-RPC 2.0: %v", err)
	case m.Version != "2.0":
		return m, failure(invalidRequest, `"jsonrpc" is %q; it must be "2.0"`, m.Version)
	}
	return m, nil
}

// readHeader reads the lines before a body, and returns its length.
func readHeader(in *bufio.Reader) (int64, error) {
	length, inHeader := int64(-1), false
	for {
		line, err := in.ReadSlice('\n')
		switch text := strings.TrimRight(string(line), "\r\n"); {
		case err != nil && !errors.Is(err, bufio.ErrBufferFull): // a part of a longer line is no header
			if inHeader || len(line) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		case text != "":
			inHeader = true
			if name, value, _ := strings.Cut(text, ":"); strings.EqualFold(name, "Content-Length") {
				if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil {
					length = -1
				}
			}
		case inHeader && length < 0:
			return 0, failure(parseError, "a message without a valid Content-Length")
		case inHeader:
			return length, nil
		}
	}
}

func writeMessage(out io.Writer, m *message) error {
	m.Version = "2.0"
	body := encode(m)
	_, err := out.Write(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(body), body))
	return err
}

// encode returns a value of this package as JSON, which cannot fail.
func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
