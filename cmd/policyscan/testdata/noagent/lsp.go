package main

// What takes the place of ../../lsp.go in a program without a language server: see TestWithoutAgent in arch_test.go.

type editorCommand struct{}
