package lock

import (
	"errors"
	"fmt"
	"time"

	"locksim/lock/promise"
)

// The values that a zero field of [RedlockOptions] stands for, where they are constants.
const (
	// DefaultDriftFactor is the allowance of the Redis documentation's reference implementation. The
	// clock of a healthy machine drifts by a hundredth of it.
	DefaultDriftFactor = promise.DriftAllowance / 1e6

	// DefaultDriftConstant is the reference implementation's allowance for Redis, which expires keys to
	// the millisecond: one for rounding on each side.
	DefaultDriftConstant = 2 * time.Millisecond

	// DefaultMaxExtensions lets a lease of [DefaultTTL] with a [Watchdog] last for almost an hour.
	DefaultMaxExtensions = 1000
)

// DefaultNodeTimeout is the NodeTimeout of [RedlockOptions] that 0 stands for with this TTL: a hundredth of it, but at
// least 50 ms, which is barely enough for a round trip around the globe and ample within a continent, and at most a tenth
// of it.
func DefaultNodeTimeout(ttl time.Duration) time.Duration {
	return promise.NodeTimeout(ttl)
}

// RedlockOptions configure a [Redlock] or a [RedlockFenced]. The zero value is ready for use.
type RedlockOptions struct {
	// Options are those of every lock. Waiting must be WaitPoll: no single node knows when a majority is free.
	// ReleaseTimeout applies to each node, and 0 means four times NodeTimeout: a release also waits for nodes that are
	// down, and has to reach slow ones over a new connection.
	Options

	// NodeTimeout is how long one node may take to answer. It should be far below the TTL: the wait for a node that is
	// down reduces the validity of the lease. 0 means [DefaultNodeTimeout].
	//
	// It bounds requests only with the client's ContextTimeoutEnabled; otherwise ReadTimeout does.
	NodeTimeout time.Duration

	// DriftFactor and DriftConstant define by how much a lease ends before the nodes' keys may: DriftFactor times the
	// TTL plus DriftConstant. The factor bounds the relative difference in speed of the clocks of client and nodes. 0
	// means [DefaultDriftFactor] and [DefaultDriftConstant].
	DriftFactor   float64
	DriftConstant time.Duration

	// MaxExtensions is how many times a lease can be extended: without a limit, a stuck holder that renews would
	// exclude all others forever (F71). 0 means [DefaultMaxExtensions].
	MaxExtensions int
}

// Validate returns an error that names every invalid field, or nil. [NewRedlock] and [NewRedlockFenced] call it.
func (o RedlockOptions) Validate() error {
	errs := []error{o.Options.Validate()}
	if o.Waiting == WaitNotify {
		errs = append(errs, errors.New("Waiting is WaitNotify: no node of a Redlock knows when the lock is free, use WaitPoll"))
	}
	if o.NodeTimeout < 0 {
		errs = append(errs, fmt.Errorf("NodeTimeout %v is negative", o.NodeTimeout))
	}
	if !(o.DriftFactor >= 0 && o.DriftFactor < 1) {
		errs = append(errs, fmt.Errorf("DriftFactor %v is not a share of the TTL, from 0 to below 1", o.DriftFactor))
	}
	if o.DriftConstant < 0 {
		errs = append(errs, fmt.Errorf("DriftConstant %v is negative", o.DriftConstant))
	}
	if o.MaxExtensions < 0 {
		errs = append(errs, fmt.Errorf("MaxExtensions %d is negative", o.MaxExtensions))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if full := o.withDefaults(); full.NodeTimeout >= full.validity() {
		return fmt.Errorf("NodeTimeout %v leaves nothing of a TTL of %v, of which drift takes %v: use a longer TTL",
			full.NodeTimeout, full.TTL, full.drift())
	}
	return nil
}

// withDefaults returns valid options with every zero field filled in, except Jitter.
func (o RedlockOptions) withDefaults() RedlockOptions {
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	if o.NodeTimeout == 0 {
		o.NodeTimeout = DefaultNodeTimeout(o.TTL)
	}
	if o.DriftFactor == 0 {
		o.DriftFactor = DefaultDriftFactor
	}
	if o.DriftConstant == 0 {
		o.DriftConstant = DefaultDriftConstant
	}
	if o.MaxExtensions == 0 {
		o.MaxExtensions = DefaultMaxExtensions
	}
	if o.ReleaseTimeout == 0 {
		o.ReleaseTimeout = promise.NodeReleases * o.NodeTimeout
	}
	o.Options = o.Options.withDefaults()
	return o
}

// drift is the allowance for clocks of different speed.
func (o RedlockOptions) drift() time.Duration {
	return time.Duration(float64(o.TTL)*o.DriftFactor) + o.DriftConstant
}

// validity is how long a lease lasts, counted from the sending of the requests.
func (o RedlockOptions) validity() time.Duration { return o.TTL - o.drift() }
