package faults

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Delay is a toxic that delays one chunk, once, and with it all that comes
// behind it on its connection, the end of the stream as well: everything passes
// on in order when the time is over. Connections without that chunk are not
// touched, so they overtake it. Chunks that come on several connections in one
// and the same instant count as one. When it is removed it passes on at
// once what is still late.
//
// It keeps as much as it is given, without a limit. One Delay serves any number
// of connections at the same time; it must not be copied.
type Delay struct {
	// By is for how long the chunk is held. JSON has nanoseconds.
	By time.Duration `json:"by"`
	// Skip is how many chunks pass before it, over all connections.
	Skip int `json:"skip,omitempty"`

	skipped, spent allowance
}

var (
	_ toxics.Toxic         = (*Delay)(nil)
	_ toxics.StatefulToxic = (*Delay)(nil)
	_ toxics.CleanupToxic  = (*Delay)(nil)
)

// delayed is what a Delay knows of one connection.
type delayed struct {
	late
	until time.Time // nothing passes before; zero if the chunk was not here
}

// NewState is a connection on which nothing is late.
func (*Delay) NewState() any { return new(delayed) }

// Pipe passes on what arrives, late if the chunk is among it, until it is
// interrupted or the stream ends.
func (d *Delay) Pipe(stub *toxics.ToxicStub) {
	state := stateOf[delayed](d, stub)
	state.pass(stub, func(chunk *stream.StreamChunk, now time.Time) time.Time {
		if chunk != nil && len(chunk.Data) > 0 && !d.skipped.take(now, d.Skip) && d.spent.take(now, 1) {
			state.until = now.Add(d.By)
		}
		if state.until.Before(now) {
			return now
		}
		return state.until
	})
}

// Cleanup passes on at once what is still late.
func (d *Delay) Cleanup(stub *toxics.ToxicStub) { stateOf[delayed](d, stub).release(stub) }
