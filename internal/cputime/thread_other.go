//go:build !unix

package cputime

import "time"

func thread() time.Duration { return 0 }
