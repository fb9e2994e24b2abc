package sim

import "time"

// Do runs f as an event of the world, for a test's goroutine in a process.
func (w *World) Do(f func()) {
	done := make(chan struct{})
	t := w.time
	t.out.post(entry{where: "test", rank: rankNode, commit: func() {
		t.queue.add(t.now()+1, func() { f(); close(done) })
	}})
	<-done
}

// RunIn is Run with another way to open a bubble, and little patience.
func RunIn(open func(f func()), body func(*World) error) (*Result, error) {
	cfg := Config{Limits: Limits{Frozen: 100 * time.Millisecond}}
	return (&bubble{cfg: cfg.withDefaults(), body: body, open: open}).guarded()
}
