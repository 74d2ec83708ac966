//go:build linux

// Package bench measures policyscan against its peers and writes docs/performance.md. There
// is no code in it: make bench runs its test, which without -measure does nothing.
//
//	policies_test.go  the bundles and the patterns, from a seed
//	corpora_test.go   the trees, the histories and the peers
//	rows_test.go      what is measured against what
//	measure_test.go   how
//	page_test.go      what becomes of it
package bench

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var (
	measuring = flag.Bool("measure", false, "measure, which takes an hour, and write ../performance.md")
	folder    = flag.String("corpora", filepath.Join(os.TempDir(), "policyscan-bench"), "where the trees and the peers are, or are put")
	azurerm   = flag.String("azurerm", "", "a git directory of hashicorp/terraform-provider-azurerm; else it is cloned")
	rails     = flag.String("rails", "", "a git directory of rails/rails; else it is cloned")
	only      = flag.String("rows", "", "measure only the rows whose names hold this text, or compare verdicts only (verdicts), and write nothing")
	runs      = flag.Int("runs", 11, "how often each of two commands is run")
)

func TestPerformance(t *testing.T) {
	if !*measuring {
		t.Skip("it takes an hour; see make bench")
	}
	w := prepare(t)
	var results []result
	for _, r := range rows(w) {
		if !r.wanted() {
			continue
		}
		res := r.run(t)
		t.Log(res)
		results = append(results, res)
	}
	if *only == "" || *only == "verdicts" {
		sameAsSlow(t, w)
	}
	if *only == "" {
		writePage(t, w, results)
	}
}
