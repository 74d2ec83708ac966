//go:build !race

package match

// raceDetector: memory and time are not what they are without it.
const raceDetector = false
