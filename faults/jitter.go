package faults

import (
	"math/rand/v2"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Jitter is a toxic that passes everything on late, the end of the stream as
// well, each chunk by a time drawn from the seed. The order on a connection is
// kept: a chunk that would overtake waits for the one before it. When it is
// removed it passes on at once what is still late.
//
// Toxiproxy's own latency toxic draws from the global source of random numbers,
// which nobody can repeat. Jitter draws each time from the seed and the instant
// at which the chunk came, so it does not matter either which of several
// connections is served first. It keeps as much as it is given, without a
// limit. One Jitter serves any number of connections at the same time.
type Jitter struct {
	// Add is by how much every chunk is late at least. JSON has nanoseconds.
	Add time.Duration `json:"add"`
	// Spread is by how much more it may be late, both ends included.
	Spread time.Duration `json:"spread"`
	// Seed determines the times that are drawn.
	Seed uint64 `json:"seed"`
}

var (
	_ toxics.Toxic         = (*Jitter)(nil)
	_ toxics.StatefulToxic = (*Jitter)(nil)
	_ toxics.CleanupToxic  = (*Jitter)(nil)
)

// NewState is a connection on which nothing is late.
func (*Jitter) NewState() any { return new(late) }

// Pipe passes on late what arrives, until it is interrupted or the stream ends.
func (j *Jitter) Pipe(stub *toxics.ToxicStub) {
	stateOf[late](j, stub).pass(stub, func(_ *stream.StreamChunk, now time.Time) time.Time {
		return now.Add(j.delay(now))
	})
}

// Cleanup passes on at once what is still late.
func (j *Jitter) Cleanup(stub *toxics.ToxicStub) { stateOf[late](j, stub).release(stub) }

func (j *Jitter) delay(now time.Time) time.Duration {
	if j.Spread <= 0 {
		return j.Add
	}
	draw := rand.New(rand.NewPCG(j.Seed, uint64(now.UnixNano())))
	return j.Add + time.Duration(draw.Uint64N(uint64(j.Spread)+1))
}
