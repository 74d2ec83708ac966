//go:build slow

package needle

const slow = true
