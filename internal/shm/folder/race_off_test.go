//go:build !race

package folder

const raceDetector = false
