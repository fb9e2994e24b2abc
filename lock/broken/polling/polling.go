// Package polling has the right part of the specimens that ask for their lock again and again.
package polling

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"locksim/lock"
)

// Poller asks for a lock, with random delays between two tries. It is safe for concurrent use.
type Poller struct {
	clock   lock.Clock
	backoff lock.Backoff

	mu      sync.Mutex // guards the rest
	entropy io.Reader
	dice    *rand.Rand
}

// New returns a Poller that waits for as long as backoff says, by a clock, and draws those times from jitter, and the
// ids of owners from entropy, which may be nil if no owner is drawn.
func New(clock lock.Clock, backoff lock.Backoff, jitter rand.Source, entropy io.Reader) *Poller {
	return &Poller{clock: clock, backoff: backoff, entropy: entropy, dice: rand.New(jitter)}
}

// Acquire tries until a try is granted the lock, fails, or ctx ends. Without a lease and an error another client has
// the lock. The outcome of a try that fails counts as unknown: the error wraps [lock.ErrOutcomeUnknown].
func (p *Poller) Acquire(ctx context.Context, resource string, try func() (lock.Lease, error)) (lock.Lease, error) {
	for {
		l, err := try()
		switch {
		case err != nil:
			return nil, fmt.Errorf("acquire %s: %w: %w", resource, lock.ErrOutcomeUnknown, err)
		case l != nil:
			return l, nil
		}
		if err := p.clock.Sleep(ctx, p.delay()); err != nil {
			return nil, fmt.Errorf("acquire %s: gave up: %w", resource, err)
		}
	}
}

// Owner draws the id of an owner.
func (p *Poller) Owner() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var id [16]byte
	if _, err := io.ReadFull(p.entropy, id[:]); err != nil {
		return "", fmt.Errorf("make an owner id: %w", err)
	}
	return hex.EncodeToString(id[:]), nil
}

func (p *Poller) delay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.backoff
	return b.Min + time.Duration(p.dice.Int64N(int64(b.Max-b.Min)+1))
}
