package play_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// A claim lasts as long as renewals move its end: a holder that works for
// longer than the TTL has one claim until it releases.
func TestRenewalsMoveTheClaim(t *testing.T) {
	sc := testruns.Parse(t, `
name: long-hold
lock: {ttl: 10s}
workload: {rounds: 1, hold: 35s, stagger: 1s}
`)
	m := testruns.Play(t, sc, testruns.Kind(t, "watchdog"),
		play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
	if m.Verdict.Label != checker.Safe || len(m.History.Grants) != 2 {
		t.Fatalf("%s with %d grants, want safe with 2", m.Verdict.Label, len(m.History.Grants))
	}
	for _, g := range m.History.Grants {
		if claim := g.Claim(); claim.End != g.Released {
			t.Errorf("the claim of %s ended at step %d by %q, want its release at step %d", g.Client, claim.End, claim.Ended,
				g.Released)
		}
	}
}

// A client that waits for a lock which no client can get any more gives up in the
// end, and the verdict is stuck: not an error of the harness.
func TestStuckIsAVerdict(t *testing.T) {
	crash := "name: crash\nlock: {ttl: 5s}\nworkload: {rounds: 2, stagger: 1s}\nfaults:\n" +
		"  - when: {client: c0, event: %s, nth: 1}\n    crash: {process: c0}\n"
	for _, c := range []struct {
		lock, event string
		want        checker.Label
	}{
		{"broken/setnx-then-expire", "locked", checker.Stuck}, // SETNX is done, EXPIRE is not
		{"single", faults.EventGranted, checker.Safe},
	} {
		sc := testruns.Parse(t, fmt.Sprintf(crash, c.event))
		m := testruns.Play(t, sc, testruns.Kind(t, c.lock),
			play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
		if m.Verdict.Label != c.want || !m.FaultsFired[0] {
			t.Errorf("%s: %s, fault struck %v, want %s: %v", c.lock, m.Verdict.Label, m.FaultsFired[0], c.want,
				m.Verdict.Reasons)
		}
	}
}

// slowToReturn is a lock whose Acquire returns two seconds after it has the lock.
type slowToReturn struct {
	lock.Locker
	clock lock.Clock
}

func (l slowToReturn) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, resource)
	if err == nil {
		_ = l.clock.Sleep(ctx, 2*time.Second)
	}
	return lease, err
}

// A lock that takes time to be sure of its grant says so, or is stuck meanwhile.
func TestGrantTime(t *testing.T) {
	for took, want := range map[time.Duration]checker.Label{0: checker.Stuck, time.Second: checker.Stuck,
		2 * time.Second: checker.Safe} {
		l := testruns.Kind(t, "single")
		inner := l.New
		l.New = func(e subject.Env) (lock.Locker, error) {
			locker, err := inner(e)
			return slowToReturn{locker, e.Clock()}, err
		}
		l.GrantTime = took
		sc := testruns.Parse(t, "name: slow\nworld: {clients: 1}\nlock: {ttl: 10s}\nworkload: {rounds: 2}\n")
		m := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
		if m.Verdict.Label != want {
			t.Errorf("GrantTime %v: %s, want %s: %v", took, m.Verdict.Label, want, m.Verdict.Reasons)
		}
	}
}

// joining is a fair lock whose TryAcquire joins the queue when the lock is taken, and does not leave it.
type joining struct {
	*lock.Fair
	node *redis.Client
	n    int
}

var joinQueue = redis.NewScript(`
	local now = redis.call('TIME')[1] * 1000
	redis.call('ZADD', KEYS[1], now, ARGV[1])
	return redis.call('ZADD', KEYS[2], now + 10000, ARGV[1])`)

func (j *joining) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := j.Fair.TryAcquire(ctx, resource)
	if errors.Is(err, lock.ErrTaken) {
		j.n++
		err = errors.Join(err, joinQueue.Run(ctx, j.node, j.QueueKeys(resource),
			fmt.Sprint(j.node.Options().Addr, "-", j.n)).Err())
	}
	return lease, err
}

// A try that leaves its place in the queue behind keeps all clients out for as long as it goes on, its own too. That
// each of them gives up in the end excuses nothing.
func TestTriesThatJoinTheQueue(t *testing.T) {
	sc, _ := testruns.Load(t, "try-then-unlock")
	for joins, want := range map[bool]checker.Label{true: checker.Stuck, false: checker.Safe} {
		l := testruns.Kind(t, "fair")
		if inner := l.New; joins {
			l.New = func(e subject.Env) (lock.Locker, error) {
				locker, err := inner(e)
				if err != nil {
					return nil, err
				}
				return &joining{locker.(*lock.Fair), subject.RedisClient(e, "r0"), 0}, nil
			}
		}
		m := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
		if m.Verdict.Label != want {
			t.Errorf("it joins %v: %s, want %s: %v", joins, m.Verdict.Label, want, m.Verdict.Reasons)
		}
	}
}

// forEver is a lock that in one call does something that never ends, once the lock has been had twice.
func forEver(call string, never func(e subject.Env)) subject.Lock {
	grants := new(int)
	return testlocks.UserLock("for-ever", func(e subject.Env, l lock.Locker) lock.Locker {
		if testlocks.IsRunStart(e) {
			*grants = 0
		}
		return acquirer(func(ctx context.Context, resource string) (lock.Lease, error) {
			if call == "acquire" && *grants == 2 && e.Name() != trace.Probe {
				never(e)
			}
			lease, err := l.Acquire(ctx, resource)
			if err != nil {
				return nil, err
			}
			if *grants++; call == "release" && *grants == 2 {
				return releases{lease, func() { never(e) }}, nil
			}
			return lease, nil
		})
	})
}

type releases struct {
	lock.Lease
	never func()
}

func (l releases) Release(ctx context.Context) error {
	l.never()
	return l.Lease.Release(ctx)
}

// A client that waits or loops for ever, whatever becomes of its context, has a verdict, which says who and in what.
func TestForEver(t *testing.T) {
	waits := func(subject.Env) { <-make(chan struct{}) }
	polls := func(e subject.Env) {
		for {
			_ = e.Clock().Sleep(context.Background(), time.Second)
		}
	}
	spins := func(e subject.Env) {
		for {
			_ = e.Clock().Sleep(context.Background(), 0)
		}
	}
	sc := testruns.Parse(t, "name: for-ever\nlock: {ttl: 3s}\nworkload: {rounds: 2, stagger: 1s}\n")
	for _, c := range []struct {
		call  string
		never func(subject.Env)
		says  string
		want  checker.Label
	}{
		{"acquire", waits, "c0 asked for order at step [0-9]+ and waits for ever: .* later it has no answer, although the " +
			"network is whole", checker.Stuck},
		{"acquire", polls, "c0 asked for order at step [0-9]+ and waits for ever", checker.Stuck},
		{"release", waits, "c1 called Release of order at step [0-9]+ and waits for ever", checker.Hung},
		{"acquire", spins, "c0 loops without a pause, or asks for ever: .* of 500000 events within a second", checker.Stuck},
		{"release", spins, "c1 loops without a pause, or asks for ever", checker.Stuck},
	} {
		for _, m := range testruns.Play(t, sc, forEver(c.call, c.never),
			play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes {
			var why []string
			for _, r := range m.Verdict.Reasons {
				why = append(why, r.Text)
			}
			if text := strings.Join(why, "\n"); m.Verdict.Label != c.want || !m.Hung ||
				!regexp.MustCompile(c.says).MatchString(text) {
				t.Errorf("%s, mode %s: %s, want %s by %q:\n%s", c.call, m.Mode, m.Verdict.Label, c.want, c.says, text)
			}
		}
	}
}
