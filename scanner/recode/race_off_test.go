//go:build !race

package recode

const raceDetector = false
