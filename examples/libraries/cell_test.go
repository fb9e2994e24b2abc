package libraries

import (
	"context"
	"testing"
	"time"

	"locksim/lock"
	"locksim/scenarios"
)

// passedOn is a lock that lets the next client in after 200 ms, and tells its holder of that 100 ms later at most.
func passedOn() scenarios.Lock {
	return scenarios.Lock{Name: "passed-on", Lease: scenarios.LeaseHeld, Detection: 30 * time.Second, Promise: lock.LeasePromise(), New: func(e scenarios.Env) (lock.Locker, error) {
		client := scenarios.RedisClient(e, scenarios.Primary)
		return scenarios.LockerFunc(func(ctx context.Context, key string) (lock.Lease, error) {
			for {
				ok, err := client.SetNX(ctx, key, e.Identity(), 200*time.Millisecond).Result()
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
	for _, trouble := range []Trouble{{Name: "none"}, {Name: "server-crash", Faults: []lock.Fault{lock.FaultNodeCrash}}} {
		c, err := playCell(Lock{Lock: passedOn()}, trouble, 20, 1)
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
	}
}
