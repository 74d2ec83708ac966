//go:build race

package scanner

// raceDetector: memory and time are not what they are without it.
const raceDetector = true
