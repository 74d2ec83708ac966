package protocol

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestTurns: each agent's payloads at the beginning of a session and the end of a turn, as read, or why they are
// refused; and the answers that send it back or not. -update writes both.
func TestTurns(t *testing.T) {
	const name = "testdata/turns.txtar"
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		a, kind, _ := strings.Cut(f.Name, " ")
		agent := Named(a)
		if kind == "answers" {
			continue
		}
		var b, answers bytes.Buffer
		for line := range strings.Lines(string(f.Data)) {
			payload, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			e, err := agent.ReadTurn([]byte(payload))
			text, failed := json.Marshal(e)
			if failed != nil {
				t.Fatal(failed)
			}
			if err != nil {
				text = []byte(err.Error())
			}
			b.WriteString(payload + "\t" + string(text) + "\n")
		}
		for _, d := range [][2]string{{"", ""}, {"fix <it> & \"more\"", ""}, {"", "a note"}, {"fix it", "a note"}, {" ", " "}} {
			document, shown := agent.AnswerTurn(d[0], d[1])
			answers.Write(document)
			if !shown {
				answers.WriteString("not shown: " + d[1] + "\n")
			}
		}
		got.Files = append(got.Files, txtar.File{Name: f.Name, Data: b.Bytes()}, txtar.File{Name: f.Name + " answers", Data: answers.Bytes()})
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" && !*update {
		t.Error(diff)
	}
	if len(got.Files) != 2*len(Agents()) {
		t.Errorf("%d files", len(got.Files))
	}
}
