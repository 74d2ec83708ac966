package main

import (
	"context"

	"github.com/policyscan/policyscan/editor"
)

// Only this file knows the language server: without editor/, testdata/noagent/lsp.go replaces it.

type editorCommand struct {
	LSP lspCmd `cmd:"" name:"lsp" help:"Run as a language server, which an editor starts."`
}

type lspCmd struct {
	Policy []string `placeholder:"DIR" sep:"none" help:"@lsp_policy"`
}

// Run serves the editor on standard input and output until it exits.
func (c *lspCmd) Run(std streams) error {
	ctx, _, stop := interruptible(0)
	defer stop()
	err := editor.Serve(ctx, std.in, std.out, editor.Options{Version: version(), Policies: policyNames(c.Policy)})
	if err != nil && context.Cause(ctx) == nil {
		return exitError{exitViolation, err}
	}
	return err
}
