package agents

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A model stands in for the model of an agent: it asks for one shell command, and then it is done. It
// speaks the Messages API, as Claude Code and Copilot want it, and the Responses API, as Codex does.
type model struct {
	url     string
	command string

	mu     sync.Mutex
	asked  bool     // whether it asked for the command
	result string   // what the agent answered to that; "" if it did not
	paths  []string // of all requests
}

func startModel(t *testing.T, command string) *model {
	t.Helper()
	m := &model{command: command}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paths = append(m.paths, r.Method+" "+r.URL.Path)
	var request map[string]any
	if json.Unmarshal(body, &request) != nil {
		request = map[string]any{}
	}
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/messages"):
		m.messages(w, request)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses"):
		m.responses(w, request)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[],"models":[],"input_tokens":1}`)
	}
}

// tool returns the first of some names that the request offers as a tool.
func tool(request map[string]any, names ...string) string {
	list, _ := request["tools"].([]any)
	var offered []string
	for _, item := range list {
		entry, _ := item.(map[string]any)
		name, _ := entry["name"].(string)
		offered = append(offered, name)
	}
	for _, name := range names {
		if slices.Contains(offered, name) {
			return name
		}
	}
	return ""
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// results returns the items of a type anywhere in a request.
func results(v any, of string) []map[string]any {
	var all []map[string]any
	switch x := v.(type) {
	case []any:
		for _, item := range x {
			all = append(all, results(item, of)...)
		}
	case map[string]any:
		if x["type"] == of {
			return []map[string]any{x}
		}
		for _, item := range x {
			all = append(all, results(item, of)...)
		}
	}
	return all
}

func event(w io.Writer, value map[string]any) {
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", value["type"], text(value))
}

func (m *model) messages(w http.ResponseWriter, request map[string]any) {
	name := tool(request, "Bash", "bash")
	if found := results(request["messages"], "tool_result"); len(found) > 0 {
		m.result, name = text(found), ""
	}
	content := map[string]any{"type": "text", "text": "done"}
	stop := "end_turn"
	input := map[string]any{"command": m.command, "description": "a step of the test"}
	if name != "" {
		m.asked, stop = true, "tool_use"
		content = map[string]any{"type": "tool_use", "id": "toolu_01AAAAAAAAAAAAAAAAAAAAAA", "name": name, "input": map[string]any{}}
	}
	message := map[string]any{
		"id": "msg_01AAAAAAAAAAAAAAAAAAAAAA", "type": "message", "role": "assistant", "model": request["model"],
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	}
	if request["stream"] != true {
		content["input"] = input
		message["content"], message["stop_reason"] = []any{content}, stop
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, text(message))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	delta := map[string]any{"type": "input_json_delta", "partial_json": text(input)}
	if name == "" {
		content["text"] = ""
		delta = map[string]any{"type": "text_delta", "text": "done"}
	}
	event(w, map[string]any{"type": "message_start", "message": message})
	event(w, map[string]any{"type": "content_block_start", "index": 0, "content_block": content})
	event(w, map[string]any{"type": "content_block_delta", "index": 0, "delta": delta})
	event(w, map[string]any{"type": "content_block_stop", "index": 0})
	event(w, map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 1}})
	event(w, map[string]any{"type": "message_stop"})
}

func (m *model) responses(w http.ResponseWriter, request map[string]any) {
	item := map[string]any{
		"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": "done", "annotations": []any{}}},
	}
	name := tool(request, "exec_command", "shell_command", "shell")
	if found := results(request["input"], "function_call_output"); len(found) > 0 {
		m.result, name = text(found), ""
	}
	if name != "" {
		m.asked = true
		arguments := map[string]any{"command": m.command}
		switch name {
		case "exec_command":
			arguments = map[string]any{"cmd": m.command}
		case "shell":
			arguments = map[string]any{"command": []string{"sh", "-c", m.command}}
		}
		item = map[string]any{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": text(arguments)}
	}
	response := map[string]any{
		"id": "resp_1", "object": "response", "status": "completed", "output": []any{item},
		"usage": map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event(w, map[string]any{"type": "response.created", "response": map[string]any{"id": "resp_1"}})
	event(w, map[string]any{"type": "response.output_item.done", "output_index": 0, "item": item})
	event(w, map[string]any{"type": "response.completed", "response": response})
}
