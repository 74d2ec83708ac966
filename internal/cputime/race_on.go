//go:build race

package cputime

// RaceDetector reports whether the race detector runs: no bound on time or memory holds then.
const RaceDetector = true
