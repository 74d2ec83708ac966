//go:build race

package recode

// raceDetector: what has one goroutine and takes long is done in part, or not at all.
const raceDetector = true
