package sim

import "time"

// Do runs f as an event of the world. Call it on a goroutine of a process.
func (w *World) Do(f func()) {
	done := make(chan struct{})
	t := w.time
	t.outbox.post(entry{where: "test", rank: rankNode, commit: func() {
		t.queue.add(t.now()+1, func() { f(); close(done) })
	}})
	<-done
}

// RunIn is Run with another function to open a bubble, and a short frozen
// limit.
func RunIn(open func(f func()), body func(*World) error) (*Result, error) {
	cfg := Config{Limits: Limits{Frozen: 100 * time.Millisecond}}
	return (&bubble{cfg: cfg.withDefaults(), body: body, open: open}).runWatched()
}
