package sim

import (
	"slices"
	"testing"
)

// The positions below the functions of a stack are paths, which are relative in a program that is built with -trimpath.
func TestFrames(t *testing.T) {
	const head, tail = "goroutine 7 [sync.Mutex.Lock]:\n",
		"created by locksim/sim.run in goroutine 1\n\tlocksim/sim/run.go:9 +0x1"
	want := []string{"sync.(*Mutex).Lock", "example.org/lock.(*Mutex).next"}
	for _, folder := range []string{"/src/", ""} {
		text := head + "sync.(*Mutex).Lock(...)\n\t" + folder + "sync/mutex.go:46\nexample.org/lock.(*Mutex).next(0x1)\n\t" +
			folder +
			"example.org/lock/mutex.go:12 +0x25\n" + tail
		if got := frames(goroutine{text: text}); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
