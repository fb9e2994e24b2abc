package faults

import (
	"math/rand/v2"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// How Linux sends again what was lost: first after its least retransmission timeout (TCP_RTO_MIN; the one that it
// measures is longer by a round trip), then after twice the time each, up to TCP_RTO_MAX (RFC 6298, section 5). There
// is no sooner sign of a loss, such as acknowledgements of later packets, where each side waits for an answer.
const (
	leastTimeout = 200 * time.Millisecond
	mostTimeout  = 2 * time.Minute
	mostResends  = 15 // tcp_retries2
)

// Resend is a toxic that loses chunks as a network does over which TCP runs: a lost chunk arrives late, the first time
// by 200 ms, and by twice as much more each time that it is lost again. The order on a connection is kept, so that what
// comes behind waits. When the toxic is removed it passes on at once what is still late.
//
// Linux gives a connection up when one packet was lost 16 times, after 924.6 seconds ("ip-sysctl", docs.kernel.org).
// Here it arrives then: what ends connections is another fault.
//
// It draws from the seed and the instant at which a chunk came: see [Jitter]. One Resend serves any number of
// connections at the same time.
type Resend struct {
	// Percent is how likely it is that a chunk is lost, each time that it is sent: 0 to 100.
	Percent int `json:"percent"`
	// Seed determines what is drawn.
	Seed uint64 `json:"seed"`
}

var (
	_ toxics.Toxic         = (*Resend)(nil)
	_ toxics.StatefulToxic = (*Resend)(nil)
	_ toxics.CleanupToxic  = (*Resend)(nil)
)

// NewState is a connection on which nothing is late.
func (*Resend) NewState() any { return new(late) }

// Pipe passes on what arrives, late if it was lost, until it is interrupted or the stream ends.
func (r *Resend) Pipe(stub *toxics.ToxicStub) {
	stateOf[late](r, stub).pass(stub, func(_ *stream.StreamChunk, now time.Time) time.Time {
		return now.Add(r.delay(now))
	})
}

// Cleanup passes on at once what is still late.
func (r *Resend) Cleanup(stub *toxics.ToxicStub) { stateOf[late](r, stub).release(stub) }

func (r *Resend) delay(now time.Time) (late time.Duration) {
	draw := rand.New(rand.NewPCG(r.Seed, uint64(now.UnixNano())))
	timeout := leastTimeout
	for range 1 + mostResends {
		if draw.IntN(100) >= r.Percent {
			break
		}
		late += timeout
		timeout = min(2*timeout, mostTimeout)
	}
	return late
}
