package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/verdict"
)

// behindRemote says that a base is a local branch that lacks commits of the remote-tracking branch of its name, and
// what to do; "" if it is not.
func behindRemote(r *repo.Repository, base string) (string, error) {
	branch := strings.TrimPrefix(strings.TrimPrefix(base, "refs/"), "heads/")
	local, err := r.Ref("refs/heads/" + branch)
	if err != nil {
		return "", nil // no local branch, as the base was found
	}
	if named, err := r.Commit(base); err != nil || named != local {
		return "", nil // another ref of that name
	}
	for _, remote := range r.Remotes() {
		tip, err := r.Ref(tracking(remote, branch))
		if errors.Is(err, repo.ErrUnknown) || errors.Is(err, repo.ErrSyntax) {
			continue
		}
		if err != nil {
			return "", err
		}
		lacks := "cannot be compared with"
		switch compared, err := r.Relate(tip, local); {
		case err == nil && compared.Behind == 0:
			continue
		case err == nil && compared.Behind > 0:
			lacks = fmt.Sprintf("lacks %d commits of", compared.Behind)
			if compared.Behind == 1 {
				lacks = "lacks 1 commit of"
			}
		}
		return fmt.Sprintf("the local branch %[1]s %[2]s %[3]s/%[1]s; compare with that: --diff-base %[3]s/%[1]s",
			verdict.Visible(branch), lacks, remote), nil
	}
	return "", nil
}
