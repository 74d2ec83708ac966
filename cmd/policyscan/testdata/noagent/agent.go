package main

// What takes the place of ../../agent.go in a program that knows no tool calls: see
// TestWithoutAgent in arch_test.go.

type (
	evalCommand     struct{}
	agentHooks      struct{}
	agentInstalls   struct{}
	agentUninstalls struct{}
	callsFlag       struct{}
	scenariosFlag   struct{}
)

func runHook([]string, streams) (int, bool) { return 0, false }
func dialectNames() []string                { return nil }

func (callsFlag) takes(string) bool      { return false }
func (callsFlag) given() bool            { return false }
func (callsFlag) validate(streams) error { return nil }

func (scenariosFlag) given() bool                                   { return false }
func (scenariosFlag) check(bool) error                              { return nil }
func (scenariosFlag) judge(streams, *bundleArg, bool) (bool, error) { return true, nil }
