package main

import (
	"errors"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/setup"
)

// hookCmd has the hooks that run policyscan: subcommands that run, install and uninstall them,
// one for each kind of hook.
type hookCmd struct {
	agentHooks `embed:""`

	PreReceive hookPreReceiveCmd `cmd:"" help:"Run as git's pre-receive hook: check what a push brings."`

	Install   hookInstallCmd   `cmd:"" help:"Install a hook of git, or the hook of an agent."`
	Uninstall hookUninstallCmd `cmd:"" help:"Remove git's pre-commit hook, or the hook of an agent."`
}

type hookInstallCmd struct {
	Git hookInstallGitCmd `cmd:"" help:"Write git's pre-commit hook, which checks what is staged."`

	PreReceive hookInstallPreReceiveCmd `cmd:"" help:"Write the pre-receive hook of a server's repository."`

	agentInstalls `embed:""`
}

type hookUninstallCmd struct {
	Git hookUninstallGitCmd `cmd:"" help:"Remove git's pre-commit hook, if it is as policyscan wrote it."`

	agentUninstalls `embed:""`
}

type hookInstallGitCmd struct {
	Print bool `help:"Print the hook instead of writing it."`
}

func (c *hookInstallGitCmd) Run(std streams) error {
	if c.Print {
		return print(std.out, "%s", setup.HookText)
	}
	hook, err := setup.FindHook(gitEnvironment())
	if err != nil {
		return err
	}
	if err := installed(std, &hook, "before each commit, and makes no commit"); err != nil {
		return err
	}
	var none *document.Error
	if _, err := rules.Discover(hook.Root); errors.As(err, &none) && none.Code == document.CodeMissing &&
		run.SparseBundle(hook.Root, err) == nil {
		return print(std.out, "there is no bundle yet, and no commit passes without one; next: policyscan init\n")
	}
	return nil
}

// installed writes a hook, and says when git runs it and what git does if it fails.
func installed(std streams, hook *setup.Hook, when string) error {
	already, err := hook.Install()
	if err != nil {
		return err
	}
	done := "wrote"
	if already {
		done = "already there:"
	}
	return print(std.out, "%s %s\ngit runs it %s if it fails\n", done, safe(disk.Shown(hook.File)), when)
}

type hookUninstallGitCmd struct{}

// Run removes the hook, if it is unchanged.
func (c *hookUninstallGitCmd) Run(std streams) error {
	hook, err := setup.FindHook(gitEnvironment())
	if err != nil {
		return err
	}
	was, err := hook.Remove()
	if err != nil {
		return err
	}
	done := "there is no"
	if was {
		done = "removed"
	}
	return print(std.out, "%s %s\n", done, safe(disk.Shown(hook.File)))
}
