package faults

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Lose is a toxic that loses the next chunks, so many over all connections. The
// connection that one was on ends there, as if its peer had gone away in the
// middle of an answer: nothing after it arrives. All other chunks pass. Chunks
// that come on several connections in one and the same instant are lost
// together, and count once.
//
// Toxiproxy's limit_data toxic counts the bytes of each connection from its
// beginning, and so it strikes every new connection again.
//
// One Lose serves any number of connections at the same time; it must not be
// copied.
type Lose struct {
	// Count is how many chunks are lost.
	Count int `json:"count"`
	// Skip is how many chunks pass before the first of them, over all connections.
	Skip int `json:"skip,omitempty"`

	skipped, spent allowance
}

var _ toxics.Toxic = (*Lose)(nil)

// Pipe passes on what arrives, until it is interrupted or the stream ends. After
// a loss it drains its input, so that no sender waits.
func (l *Lose) Pipe(stub *toxics.ToxicStub) {
	for {
		chunk, interrupted := receive(stub, false)
		switch {
		case interrupted:
			return
		case chunk == nil:
			stub.Close()
			return
		case len(chunk.Data) > 0 && !l.skipped.take(time.Now(), l.Skip) && l.spent.take(time.Now(), l.Count):
			stub.Close()
			for range stub.Input { // to its end
			}
			return
		}
		stub.Output <- chunk
	}
}
