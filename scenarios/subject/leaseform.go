package subject

import (
	"errors"
	"fmt"

	"locksim/internal/prose"
	"locksim/scenarios/evidence"
)

// LeaseForm says how the end of a lease is known.
type LeaseForm = evidence.LeaseForm

// The forms.
const (
	// LeaseUntil is a lease whose Until is its end, on the holder's clock. An Until of the zero time is an error of the
	// run.
	LeaseUntil = evidence.LeaseUntil
	// LeaseCounted is a lease that does not tell its end, and that lasts for its TTL
	// from the call of Acquire, and from that of an Extend that succeeded. Its Until is not asked.
	LeaseCounted = evidence.LeaseCounted
	// LeaseHeld is a lease without an end: its holder has the lock until it releases
	// it or Lost is closed, such as the lock of a session or of a transaction. Its
	// Until is not asked. Two holders at once are no violation as long as the first
	// one is paused, does not reach the servers, or is told within the detection
	// bound of the lock ([Lock.Detection]). What it does meanwhile is what it believes, and may corrupt
	// the data. A holder that is told later is a violation even if no other client has
	// got the lock.
	LeaseHeld = evidence.LeaseHeld
)

func (l Lock) validateLease() error {
	switch l.Lease {
	case "", LeaseUntil, LeaseCounted, LeaseHeld:
	default:
		return fmt.Errorf("the Lease is %q: choose %s, %s or %s", l.Lease, LeaseUntil, LeaseCounted, LeaseHeld)
	}
	switch counted := l.Lease == LeaseCounted; {
	case l.LeaseTTL < 0 || l.LeaseTTL > 0 && !counted && l.Lease != LeaseHeld:
		return fmt.Errorf("the LeaseTTL is %v: give it, above 0, with the Lease %s or %s only", l.LeaseTTL, LeaseCounted,
			LeaseHeld)
	case counted && l.LeaseTTL == 0 && !l.FollowsSpec:
		return errors.New("the LeaseTTL is 0: say how long a lease lasts, or set FollowsSpec if it is the TTL of the " +
			"scenario")
	case l.Lease != LeaseHeld && l.Detection != 0 || l.Detection < 0:
		return fmt.Errorf("the Detection is %v: give it, above 0, with the Lease %s and only then", l.Detection, LeaseHeld)
	case l.Lease == LeaseHeld && l.Detection == 0 && !l.FollowsSpec:
		return errors.New("the Detection is 0: say how long a holder may take to learn of a loss, or set FollowsSpec if it " +
			"is the TTL of the scenario")
	}
	return nil
}

// DetectedWithin says what the detection bound of the lock is, as "5s"; "" if its leases have an end.
func (l Lock) DetectedWithin() string {
	switch {
	case l.Lease != LeaseHeld:
		return ""
	case l.Detection == 0:
		return "the TTL of a run"
	}
	return prose.Seconds(l.Detection)
}
