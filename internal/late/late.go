// Package late compiles regular expressions at their first use, not when the program starts: most calls of the
// program need no regular expression, and compiling all of them took a tenth of its start.
package late

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the expression, compiled at the first call. It panics on a mistake in it, as
// [regexp.MustCompile] does. Several goroutines may call it at once.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
