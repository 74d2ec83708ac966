//go:build slow

package glob

const slow = true
