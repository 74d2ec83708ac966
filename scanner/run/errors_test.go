package run

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// TestErrors: each kind of error has its code, however it is wrapped.
func TestErrors(t *testing.T) {
	known := &verdict.Error{Code: code.Empty, File: "a", Message: "m"}
	mistake := &document.Error{Code: document.CodeKey, File: "rules/boundaries.yml", Line: 3, Found: "f", Fix: "x"}
	another := &document.Error{Code: document.CodeValue, Found: "g", Fix: "y"}
	of := func(e error) verdict.Error { return verdict.Error{Code: e.(*document.Error).Code, Message: e.Error()} }
	for name, c := range map[string]struct {
		err  error
		want []verdict.Error
	}{
		"a verdict's":     {known, []verdict.Error{*known}},
		"mistakes":        {document.Errors{mistake, another}, []verdict.Error{of(mistake), of(another)}},
		"a mistake":       {mistake, []verdict.Error{of(mistake)}},
		"an interruption": {&InterruptedError{code.Timeout, "m"}, []verdict.Error{{Code: code.Timeout, Message: "m"}}},
		"a repository's":  {tree.RepoError(known), []verdict.Error{*known}},
	} {
		for _, err := range []error{c.err, fmt.Errorf("wrapped: %w", c.err)} {
			if got := Errors(err); !slices.Equal(got, c.want) {
				t.Errorf("%s: got %+v, want %+v", name, got, c.want)
			}
		}
	}
	if got := Errors(errors.New("m")); !slices.Equal(got, []verdict.Error{{Code: code.Usage, Message: "m"}}) {
		t.Errorf("%+v", got)
	}
}

// TestOfRepo: an error of a repository has the more exact code of two, and a message without a local path.
func TestOfRepo(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("w: %w", err) }
	for _, c := range []struct {
		err           error
		code, message string
	}{
		{wrap(repo.ErrHash), code.ObjectHash, wrap(repo.ErrHash).Error() + "; run git fsck"},
		{wrap(repo.ErrUnknown), code.BaseMissing, wrap(repo.ErrUnknown).Error()},
		{errors.Join(repo.ErrCorrupt, repo.ErrLimit), code.Limit, errors.Join(repo.ErrCorrupt, repo.ErrLimit).Error()},
		{
			&fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrPermission},
			code.Read, "the repository cannot be read: permission denied",
		},
	} {
		if got := Errors(tree.RepoError(c.err)); len(got) != 1 || got[0].Code != c.code || got[0].Message != c.message {
			t.Errorf("%v: got %+v, want %s: %s", c.err, got, c.code, c.message)
		}
	}
	if got := Errors(tree.RepoError(wrap(&repo.ShallowError{}))); got[0].Code != code.Shallow {
		t.Errorf("%+v", got)
	}
}

// TestVerdict: a run that failed before scanning is an incomplete FAIL, with its errors in order.
func TestVerdict(t *testing.T) {
	v := Verdict("1.0", verdict.Scope{Mode: "full"}, document.Errors{{Code: document.CodeValue},
		{Code: document.CodeKey}})
	if v.Verdict != verdict.Fail || v.Complete || v.Scope.Mode != "full" ||
		len(v.Errors) != 2 || v.Errors[0].Code != document.CodeKey {
		t.Errorf("%+v", v)
	}
}

// TestCodesOfBundles: verdict/code recognises the codes of a bundle's mistakes without importing rules/document.
func TestCodesOfBundles(t *testing.T) {
	for file, ofBundle := range map[string]bool{
		"../../rules/document/errors.go": true, "../../verdict/code/code.go": false,
	} {
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		codes := 0
		ast.Inspect(syntax, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(text, "E_") {
				codes++
				if code.OfBundle(text) != ofBundle {
					t.Errorf("%s: whether %s is of a bundle should be %v", file, text, ofBundle)
				}
			}
			return true
		})
		if codes < 13 {
			t.Errorf("%s: %d codes", file, codes)
		}
	}
	if code.NoRules != document.CodeNoRules {
		t.Errorf("%s and %s are the same code", code.NoRules, document.CodeNoRules)
	}
}
