package zklock

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"locksim/lock"
)

// Options configure a [Lock]. SessionTimeout is required.
type Options struct {
	// SessionTimeout is that of the connection's session, as the servers have granted it.
	SessionTimeout time.Duration

	// Interval is the time from the sending of one successful renewal to that of the next. 0 means a sixth of
	// SessionTimeout.
	Interval time.Duration

	// Retry is the time from the sending of a failed renewal to that of the next, and the timeout of one. It is also the
	// time between two tries of anything else that has failed because there is no connection. 0 means half of Interval.
	Retry time.Duration

	// Margin is how long before the earliest end of the session the holder is notified: see [lock.WatchdogOptions]. 0
	// means a tenth of SessionTimeout.
	Margin time.Duration

	// Tick is that of the servers: their tickTime. 0 means two seconds, ZooKeeper's default.
	Tick time.Duration

	// MaxHold bounds a lease, counted from the return of Acquire (F71). 0 means no limit.
	MaxHold time.Duration

	// ReleaseTimeout bounds a release and the clean-up after a failed Acquire, both of which go on when the caller's
	// context has ended (F29), and are then continued in the background. 0 means [lock.DefaultReleaseTimeout].
	ReleaseTimeout time.Duration

	// Prefix is the node under which those of the resources are. Locks with the same prefix on the same ZooKeeper exclude
	// each other. "" means [DefaultPrefix].
	Prefix string

	// ACL is the access control list of the nodes. nil lets everybody do everything.
	ACL []zk.ACL

	// Dialer is that of the connection, if it has one of this package.
	Dialer *Dialer

	// Clock is the source of time. nil means the machine's clock.
	Clock lock.Clock

	// Entropy is the source of the ids in the names of nodes, 16 bytes for each; with two equal ids one client could take
	// the other's node for its own. It need not be safe for concurrent use. nil means crypto/rand.
	Entropy io.Reader
}

// DefaultPrefix is the node under which those of the resources are.
const DefaultPrefix = "/locks"

// Validate returns an error that names every invalid field, or nil. [New] calls it.
func (o Options) Validate() error {
	var errs []error
	if o.SessionTimeout <= 0 {
		errs = append(errs, fmt.Errorf("SessionTimeout %v is not positive: give the one that the servers have granted to "+
			"the connection", o.SessionTimeout))
	}
	if o.ReleaseTimeout < 0 {
		errs = append(errs, fmt.Errorf("ReleaseTimeout %v is negative", o.ReleaseTimeout))
	}
	if p := o.Prefix; p != "" && (!strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") || strings.Contains(p, "//")) {
		errs = append(errs, fmt.Errorf("prefix %q is no path of a node: it begins with a slash, and ends with none", p))
	}
	if o.Tick < 0 {
		errs = append(errs, fmt.Errorf("tick %v is negative", o.Tick))
	}
	switch full := o.withDefaults(); {
	case len(errs) > 0:
	case full.Interval+full.Margin >= full.lease():
		errs = append(errs, fmt.Errorf("SessionTimeout %v leaves no time for a renewal: a lease counts from half a tick of "+
			"%v and two Intervals of %v before, and Margin is %v; give a longer one, or the Tick of your servers",
			o.SessionTimeout, full.Tick, full.Interval, full.Margin))
	default:
		errs = append(errs, o.watchdog().Validate())
	}
	return errors.Join(errs...)
}

// withDefaults returns the options with the zero fields filled in, except MaxHold.
func (o Options) withDefaults() Options {
	if o.Interval == 0 {
		o.Interval = o.SessionTimeout / 6
	}
	if o.Retry == 0 {
		o.Retry = max(o.Interval/2, 1)
	}
	if o.Margin == 0 {
		o.Margin = o.SessionTimeout / 10
	}
	if o.Tick == 0 {
		o.Tick = 2 * time.Second
	}
	if o.ReleaseTimeout == 0 {
		o.ReleaseTimeout = lock.DefaultReleaseTimeout
	}
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	if o.ACL == nil {
		o.ACL = zk.WorldACL(zk.PermAll)
	}
	if o.Clock == nil {
		o.Clock = lock.SystemClock()
	}
	if o.Entropy == nil {
		o.Entropy = defaultEntropy()
	}
	return o
}

// report is how long a server may keep from the leader that it has heard of a session: half a tick, and something for
// clocks of different speed.
func (o Options) report() time.Duration { return o.Tick/2 + o.Tick/20 }

// pause is the time between two renewals at least.
func (o Options) pause() time.Duration { return o.report() / 4 }

// lease is how long the holder can be sure of its session after the sending of a renewal: it is sure of what it knew
// three renewals, or two and a report, before.
func (o Options) lease() time.Duration { return o.SessionTimeout - o.report() - 2*o.Interval }

// watchdog are the options of the renewals of a holder.
func (o Options) watchdog() lock.WatchdogOptions {
	o = o.withDefaults()
	return lock.WatchdogOptions{
		TTL: o.lease(), Interval: o.Interval, Retry: o.Retry, Margin: o.Margin, MaxHold: o.MaxHold, Clock: o.Clock,
	}
}
