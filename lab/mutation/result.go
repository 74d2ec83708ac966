package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A result is what is used of the document that gremlins writes.
type result struct {
	Files []struct {
		Name      string   `json:"file_name"`
		Mutations []change `json:"mutations"`
	} `json:"files"`
}

type change struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func readResult(name string) (*result, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := &result{}
	return r, json.Unmarshal(text, r)
}

// retry runs the tests of a room with each mutant that lived without a reason, if those are wanted, or was wrongly taken
// for one that they do not reach, and writes into the result which of them they notice.
func retry(room, name string, lived bool, reasons map[string]bool, limit time.Duration) error {
	r, err := readResult(name)
	if err != nil {
		return err
	}
	mutants, err := mutantsOf(room, r)
	if err != nil {
		return err
	}
	reached, err := reachOf(room)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, m := range mutants {
		_, known := reasons[m.key()]
		switch file := reached[filepath.Base(m.file)]; {
		case m.status == "LIVED" && lived && !known:
		case m.status == "NOT COVERED" && file != nil && file.has(place{m.of.Line, m.of.Column}):
		default:
			continue
		}
		status, err := m.test(room, dir, limit)
		if err != nil {
			return fmt.Errorf("%s: %w", m.at, err)
		}
		fmt.Println(status, m.at)
		m.of.Status = status
		text, err := json.Marshal(r) // each time: it can take hours, and be ended
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// test runs the tests of the room, with the mutant in place of the file.
func (m mutant) test(room, scratch string, limit time.Duration) (string, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[m.of.Line-1] = m.whole + "\n"
	source, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	changed, list := filepath.Join(scratch, "mutant.go"), filepath.Join(scratch, "overlay.json")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(changed, []byte(strings.Join(lines, "")), 0o666), os.WriteFile(list, overlay, 0o666)); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*limit)
	defer cancel()
	args := []string{"test", "-overlay", list, "-count=1", "-vet=off", "-failfast", "-timeout", limit.String()}
	out, err := exec.CommandContext(ctx, "go", append(args, testsOf(room)...)...).CombinedOutput()
	switch {
	case err == nil:
		return "LIVED", nil
	case strings.Contains(string(out), "panic: test timed out"):
		return "TIMED OUT", nil
	case strings.Contains(string(out), "[build failed]"):
		return "", fmt.Errorf("it is no Go:\n%s", out)
	}
	return "KILLED", nil
}
