package main

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// onSignal calls end when the program is asked to stop: by Ctrl-C, by a CI system
// that cancels a job, by a terminal that closes. A second signal ends it at once.
func onSignal(end func(name string)) (caught func() int, stop func()) {
	names := map[os.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}
	var number atomic.Int64
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		select {
		case sig := <-signals:
			signal.Stop(signals) // the next one ends the program at once
			if n, ok := sig.(syscall.Signal); ok {
				number.Store(int64(n))
			}
			end(names[sig])
		case <-done:
		}
	}()
	return func() int { return int(number.Load()) }, func() {
		signal.Stop(signals)
		close(done)
	}
}
