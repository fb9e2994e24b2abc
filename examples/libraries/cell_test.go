package libraries

import (
	"context"
	"testing"
	"time"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios"
)

// keyFor is a lock with a key for some time, which Release leaves there. Its holder is told within 100 ms of the next one.
func keyFor(ttl time.Duration) scenarios.Lock {
	return scenarios.Lock{Name: "key-for-a-time", Lease: scenarios.LeaseHeld, Detection: 30 * time.Second, Promise: lock.LeasePromise(), New: func(e scenarios.Env) (lock.Locker, error) {
		client := scenarios.RedisClient(e, scenarios.Primary)
		return scenarios.LockerFunc(func(ctx context.Context, key string) (lock.Lease, error) {
			for {
				ok, err := client.SetNX(ctx, key, e.Identity(), ttl).Result()
				if err != nil {
					return nil, scenarios.Unanswered(err)
				}
				if ok {
					break
				}
				if err := e.Clock().Sleep(ctx, 20*time.Millisecond); err != nil {
					return nil, err
				}
			}
			ended, cancel := context.WithCancel(e.Context())
			lost := make(chan struct{})
			go func() {
				for e.Clock().Sleep(ended, 100*time.Millisecond) == nil {
					if has, err := client.Get(ended, key).Result(); err == nil && has != e.Identity() {
						close(lost)
						return
					}
				}
			}()
			return scenarios.NewLease(ctx, e, scenarios.Grant{Lost: lost, Unlock: func(context.Context) error { cancel(); return nil }}), nil
		}), nil
	}}
}

// Where nothing fails, and beyond the promise, two holders are two, however soon one of them is told.
func TestTwoHoldersAreTwo(t *testing.T) {
	for _, trouble := range []Trouble{{Name: "none"}, {Name: "server-crash", Faults: []lock.Fault{lock.FaultNodeCrash, lock.FaultNodePower}}} {
		c, err := playCell(Lock{Lock: keyFor(200 * time.Millisecond)}, trouble, 20, 1)
		if err != nil {
			t.Fatal(err)
		}
		p := c.Promise
		if p == nil {
			p = c.Beyond
		}
		if p.Labels["overlap"]+p.Labels["corrupted"] == 0 {
			t.Errorf("%s: no two holders in %d runs, %d of which tested the lock: %v %s", trouble.Name, p.Runs, p.Evidence, p.Labels, p.NoVerdict)
		}
		for _, f := range p.Failures {
			if f.Label == checker.Overlap && f.AsLive[fence.None] != checker.Corrupted && f.AsLive[fence.None] != checker.Overlap {
				t.Errorf("%s: %s is %v by what a live run is judged by", trouble.Name, f.What, f.AsLive)
			}
		}
	}
}

// A free lock that stays idle is a failure, and no live run can show it.
func TestIdleLockIsNotSeenLive(t *testing.T) {
	l := keyFor(15 * time.Second)
	l.Promise.FreeAfter = map[promise.Cause]lock.Term{promise.CauseOther: lock.TermTTL}
	c, err := playCell(Lock{Lock: l}, Trouble{Name: "none"}, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Promise.Failures) == 0 {
		t.Fatalf("no failure in %d runs, %d of which tested the lock: %s", c.Promise.Runs, c.Promise.Evidence, c.Promise.NoVerdict)
	}
	for _, f := range c.Promise.Failures {
		if f.Label == checker.Stuck && f.AsLive[fence.None] != checker.Safe {
			t.Errorf("%s is %v by what a live run is judged by: %v", f.What, f.AsLive, f.Reasons)
		}
	}
}
