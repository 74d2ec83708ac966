// Package late compiles regular expressions when they are first used, and not when the program starts: most calls of
// the program need none of them, and all of them together took a tenth of its start.
package late

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the expression, which it compiles the first time. It panics if there is a
// mistake in it, as [regexp.MustCompile] does. Several goroutines may call it at once.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
