package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios"
)

// myLock stands for a lock of your own: SET NX, and a DEL that does not check who
// owns the key.
type myLock struct{ client *redis.Client }

func (l myLock) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	for {
		ok, err := l.client.SetNX(ctx, resource, "locked", 10*time.Second).Result()
		if err != nil {
			return nil, err
		}
		if ok {
			return myLease{l, resource, time.Now().Add(10 * time.Second)}, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}

type myLease struct {
	lock     myLock
	resource string
	until    time.Time
}

func (myLease) Token() uint64            { return 0 }
func (l myLease) Until() time.Time       { return l.until }
func (myLease) Lost() <-chan struct{}    { return nil } // it gives no notice
func (myLease) Context() context.Context { return context.Background() }
func (l myLease) Release(ctx context.Context) error {
	return l.lock.client.Del(ctx, l.resource).Err()
}

// A lock of your own under random schedules, judged by a promise of its own. In
// a test file t is the test's; go test runs it, with rapid's flags.
func ExampleCheck() {
	var t *testing.T
	scenarios.Check(t, scenarios.Lock{
		Name: "mylock",
		New: func(e scenarios.Env) (lock.Locker, error) {
			return myLock{scenarios.RedisClient(e, scenarios.Primary)}, nil
		},
		Traits: scenarios.Traits{
			Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultPartition}},
		},
	}, scenarios.Options{Runs: 500})
}

// Schedules that the fuzzer of go test -fuzz draws.
func ExampleFuzz() {
	var f *testing.F
	scenarios.Fuzz(f, scenarios.Lock{
		Name: "mylock",
		New: func(e scenarios.Env) (lock.Locker, error) {
			return myLock{scenarios.RedisClient(e, scenarios.Primary)}, nil
		},
		Traits: scenarios.Traits{
			Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultPartition}},
		},
	}, scenarios.Options{Faults: []lock.Fault{lock.FaultPause}})
}

// A lock of your own under a scenario of the library.
func ExampleRun() {
	sc, err := scenarios.Load("gc-pause")
	if err != nil {
		log.Fatal(err)
	}
	mine := scenarios.Lock{Name: "mylock", New: func(e scenarios.Env) (lock.Locker, error) {
		return myLock{scenarios.RedisClient(e, scenarios.Primary)}, nil // a real *redis.Client, in the world
	}}
	outcome, err := scenarios.Run(sc, mine, scenarios.RunOptions{Seed: 1, Repeat: scenarios.Twice})
	if err != nil {
		log.Fatal(err)
	}
	for _, run := range outcome.Modes {
		fmt.Println(run.Mode, run.Verdict.Label)
	}
	// Output:
	// none corrupted
	// claim rescued
	// cas rescued
}

// What you do under your lock, in place of the section of each scenario: a pause after the
// check of the lease, which no check can prevent.
func ExampleSection() {
	sc, err := scenarios.Parse("shop.yaml", []byte(`
name: shop
faults:
  - when: {client: c0, event: checked}
    pause: {process: c0, for: 15s}
`))
	if err != nil {
		log.Fatal(err)
	}
	mine, err := scenarios.Kind("fenced")
	if err != nil {
		log.Fatal(err)
	}
	mine.Section = scenarios.Section{
		Writes: []string{"stock", "bill"},
		Run: func(_ context.Context, h scenarios.Holder) error {
			for _, register := range []string{"stock", "bill"} {
				if _, err := h.Read(register); err != nil {
					return err
				}
			}
			if err := h.Work(2 * time.Second); err != nil { // the payment
				return err
			}
			if err := h.Check(); err != nil { // do I still have the lock?
				return err
			}
			return errors.Join(h.Write("stock"), h.Write("bill"))
		},
	}
	outcome, err := scenarios.Run(sc, mine, scenarios.RunOptions{Seed: 1, Repeat: scenarios.Twice})
	if err != nil {
		log.Fatal(err)
	}
	for _, run := range outcome.Modes {
		fmt.Println(run.Mode, run.Verdict.Label)
	}
	// Output:
	// none corrupted
	// check rescued
	// seal rescued
}
