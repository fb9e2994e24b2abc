package lock

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis is what a lock needs of a go-redis client. *redis.Client, *redis.ClusterClient and
// redis.UniversalClient have it. See the package documentation for the client's options.
type Redis interface {
	redis.Scripter
	SetNX(ctx context.Context, key string, value any, expiration time.Duration) *redis.BoolCmd
}

// engine is the common part of the kinds of lock on one node: all but their requests.
type engine struct {
	*core
	redis Redis
	requests
}

// requests are the requests of a kind of lock to its node. newEngine sets those of a kind whose key holds its owner id,
// all but grant.
type requests struct {
	grant    grant
	renew    func(ctx context.Context, c claim) (held bool, err error)     // for a full TTL
	release  func(ctx context.Context, c claim) (released bool, err error) // of a grant and of an entry in a queue
	queueTTL time.Duration                                                 // how long a silent waiter stays in the queue; 0: no queue
	channel  func(c claim) string                                          // tells a claim that the lock is free
}

// core is the common part of all locks, on one node or several: options, owner ids, and delays.
type core struct {
	opt Options

	mu  sync.Mutex // guards opt.Entropy and dice
	rng *rand.Rand
}

// grant asks the node for the lock once. granted is false while another claim holds it; token is 0 for locks that mint
// none.
type grant func(ctx context.Context, c claim) (token uint64, granted bool, err error)

// claim identifies an owner and the lock that it requests or holds. Each Acquire has a new id (F31).
type claim struct {
	resource, key string

	id    string // of this grant
	owner string // may enter again while it is held: the id, or the argument of As
	once  bool   // it does not wait, and does not join a queue
}

func newEngine(client Redis, o Options, g grant) (*engine, error) {
	if client == nil {
		return nil, errors.New("no Redis client")
	}
	c, err := newCore(o)
	if err != nil {
		return nil, err
	}
	if err := c.opt.Waiting.check(client); err != nil {
		return nil, err
	}
	return &engine{core: c, redis: client, requests: requests{
		grant:   g,
		renew:   func(ctx context.Context, k claim) (bool, error) { return extendKey(ctx, client, k, c.opt.TTL) },
		release: func(ctx context.Context, k claim) (bool, error) { return deleteKey(ctx, client, k) },
		channel: releasedChannel,
	}}, nil
}

func newCore(o Options) (*core, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	if o.Jitter == nil {
		seed, err := readEntropy(o.Entropy)
		if err != nil {
			return nil, fmt.Errorf("seed the jitter: %w", err)
		}
		o.Jitter = newJitter(seed)
	}
	return &core{opt: o, rng: rand.New(o.Jitter)}, nil
}

// claim creates a claim on a resource, with a new id.
func (e *core) claim(resource string) (claim, error) {
	if err := checkResource(resource); err != nil {
		return claim{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	id, err := readEntropy(e.opt.Entropy)
	if err != nil {
		return claim{}, fmt.Errorf("make an owner id: %w", err)
	}
	c := claim{resource: resource, key: lockKey(e.opt.KeyPrefix, resource), id: hex.EncodeToString(id[:])}
	c.owner = c.id
	return c, nil
}

// wait sleeps before the nth retry. It returns an error if ctx has ended, also in the same instant.
func (e *core) wait(ctx context.Context, n int) error { return e.sleep(ctx, e.delay(n)) }

// sleep waits for d, or until ctx ends, also in the same instant: then it returns an error.
func (e *core) sleep(ctx context.Context, d time.Duration) error {
	if err := e.opt.Clock.Sleep(ctx, d); err != nil {
		return err
	}
	return ended(ctx)
}

// delay draws the delay before the nth retry.
func (e *core) delay(n int) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.opt.Backoff.delay(n, e.rng)
}

// clock and the two methods after it make an engine a granter.
func (e *core) clock() Clock { return e.opt.Clock }

// extend renews the claim's key if it is still the claim's.
func (e *engine) extend(ctx context.Context, c claim) (until time.Time, held bool, err error) {
	sent := e.opt.Clock.Now()
	held, err = e.renew(ctx, c)
	return sent.Add(e.opt.TTL), held, err
}

// delete removes what the claim has on the node, also after the end of ctx (F29).
func (e *engine) delete(ctx context.Context, c claim) (deleted bool, err error) {
	ctx, cancel := detached(ctx, e.opt.ReleaseTimeout)
	defer cancel()
	return e.release(ctx, c)
}

// readEntropy reads 128 bits.
func readEntropy(r io.Reader) (bits [16]byte, err error) {
	_, err = io.ReadFull(r, bits[:])
	return bits, err
}

// newJitter creates the default source of jitter.
func newJitter(seed [16]byte) rand.Source {
	return rand.NewPCG(binary.BigEndian.Uint64(seed[:8]), binary.BigEndian.Uint64(seed[8:]))
}
