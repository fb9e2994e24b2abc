package faults

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// late is what a toxic has taken from one connection and has yet to pass on: in
// order, each piece when it is due. It takes as much as it is given, without a
// limit.
type late struct {
	waiting []piece
	ended   bool // the sender has closed
}

// piece is a chunk, or the end of the stream if there is none.
type piece struct {
	chunk *stream.StreamChunk
	due   time.Time
}

// pass takes from the stub and passes on what is due, until it is interrupted or
// the end has been passed on. What is still late then stays. due says when a
// chunk that has just come, or the end, may go on.
func (l *late) pass(stub *toxics.ToxicStub, due func(chunk *stream.StreamChunk, now time.Time) time.Time) {
	for {
		wait := l.passDue(stub)
		if stub.Closed() {
			return
		}
		chunk, interrupted, came := l.next(stub, wait)
		if interrupted {
			return
		}
		if came {
			l.take(chunk, due(chunk, time.Now()))
		}
	}
}

// passDue passes on what is due, and returns how long the next piece has to
// wait, or 0 when there is none.
func (l *late) passDue(stub *toxics.ToxicStub) (wait time.Duration) {
	for len(l.waiting) > 0 {
		if wait = time.Until(l.waiting[0].due); wait > 0 {
			return wait
		}
		l.passOne(stub, func(chunk *stream.StreamChunk) { stub.Output <- chunk })
	}
	return 0
}

// next waits for a chunk, for an interrupt, or for so long if that is not 0.
func (l *late) next(stub *toxics.ToxicStub, wait time.Duration) (chunk *stream.StreamChunk, interrupted, came bool) {
	input := stub.Input
	if l.ended {
		input = nil // it would be ready for ever
	}
	var over <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-stub.Interrupt:
		return nil, true, false
	case chunk = <-input:
		return chunk, false, true
	case <-over:
		return nil, false, false
	}
}

// take puts a chunk, or the end, behind what is waiting. Nothing overtakes: what
// is due earlier than the one before it waits for that one.
func (l *late) take(chunk *stream.StreamChunk, due time.Time) {
	l.waiting = append(l.waiting, piece{chunk, due})
	l.ended = l.ended || chunk == nil
}

func (l *late) passOne(stub *toxics.ToxicStub, pass func(*stream.StreamChunk)) {
	next := l.waiting[0]
	l.waiting = l.waiting[1:]
	if next.chunk == nil {
		if !stub.Closed() {
			stub.Close()
		}
		return
	}
	pass(next.chunk)
}

// release passes on everything at once.
func (l *late) release(stub *toxics.ToxicStub) {
	for len(l.waiting) > 0 {
		l.passOne(stub, func(chunk *stream.StreamChunk) { handOver(stub, chunk) })
	}
}
