//go:build race

package rules

// raceDetector says that times are of no use.
const raceDetector = true
