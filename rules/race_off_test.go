//go:build !race

package rules

// raceEnabled says that times are of no use.
const raceEnabled = false
