package main

// hookCmd has the hooks that run policyscan: subcommands that run, install and uninstall them,
// one for each kind of hook.
type hookCmd struct {
	agentHooks `embed:""`

	Install   hookInstallCmd   `cmd:"" help:"Install git's pre-commit hook, or the hook of an agent."`
	Uninstall hookUninstallCmd `cmd:"" help:"Remove git's pre-commit hook, or the hook of an agent."`
}

type hookInstallCmd struct {
	Git hookInstallGitCmd `cmd:"" help:"Write git's pre-commit hook, which checks what is staged."`

	agentInstalls `embed:""`
}

type hookUninstallCmd struct {
	Git hookUninstallGitCmd `cmd:"" help:"Remove git's pre-commit hook, if it is as policyscan wrote it."`

	agentUninstalls `embed:""`
}
