package cputime

import (
	"runtime"
	"testing"
	"time"
)

// TestOf: what waits takes no processor time, and what computes takes some.
func TestOf(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the system does not tell")
	}
	if took := Of(func() { time.Sleep(50 * time.Millisecond) }); took > 25*time.Millisecond {
		t.Errorf("to wait takes %v", took)
	}
	sum := 0
	took := Of(func() {
		for i := range 200_000_000 {
			sum ^= i
		}
	})
	if took < time.Millisecond {
		t.Errorf("to compute %d takes %v", sum, took)
	}
}
