package workers

import "runtime"

// With adaptivestackstart=1 the first stack of a goroutine is as large as the stacks that the last collection has seen
// are on average, as a power of two. A client's command takes between 4 and 8 KB of stack, and in a lock over several
// servers each has a goroutine of its own; but most of those that a collection sees are small, so that the stacks of
// the others would grow, and be copied, twice. Goroutines that wait with such a stack move the average.
const (
	parked     = 64
	parkedSize = 13 << 9 // with what the runtime adds it stays below 8 KB
)

// settleStacks makes the first stack of a goroutine 8 KB, in a process that [Run] has started, until undo is called.
func settleStacks() (undo func()) {
	over := make(chan struct{})
	for range parked {
		go park(over)
	}
	runtime.Gosched() // each has its stack now, or soon
	runtime.GC()
	return func() { close(over) }
}

// park waits with a large stack.
//
//go:noinline
func park(over chan struct{}) {
	var room [parkedSize]byte
	touch(&room)
	<-over
	touch(&room)
}

//go:noinline
func touch(room *[parkedSize]byte) { room[0]++ }
