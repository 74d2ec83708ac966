//go:build !slow

package needle

// slow is for comparisons: with the build tag of that name every needle is looked for by bytes.Contains.
const slow = false
