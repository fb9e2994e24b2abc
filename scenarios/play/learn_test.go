package play_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// What is learnt of each lock that comes with locksim are the keys that it names.
func TestLearntKeysAreTheNamedOnes(t *testing.T) {
	others := map[string]struct {
		keys []string
		why  string
	}{
		// Its clients name the lock and not the count, which is deleted with it. Both say who has the lock.
		"broken/reentrant-two-keys": {keys: []string{"lock:{order}", "lock:{order}:count"}},
		// It names none: its key stays when the lease is over, which only the value tells.
		"broken/row-by-client-clock": {keys: []string{"lock:{order}"}},
		// Each of its clients can have the lock only once.
		"broken/wedged-after-release": {why: "this client has it already"},
	}
	for _, name := range append(kinds.Names(), kinds.Specimens()...) {
		l := testruns.Kind(t, name)
		of, err := play.Learn(l, file.Defaults(), "order")
		if err != nil {
			t.Fatal(err)
		}
		want := others[name]
		if _, other := others[name]; !other {
			want.keys = l.Keys("order")
		}
		if !slices.Equal(of.Keys, want.keys) || !strings.Contains(of.Why, want.why) || (of.Why == "") != (want.why == "") {
			t.Errorf("%s: %s; want %q %s", name, of, want.keys, want.why)
		}
	}
}

// attempt asks once for a key, and returns how to release it; nil if it is taken.
type attempt func(ctx context.Context, e subject.Env, c *redis.Client, key string) (release func(context.Context) error,
	err error)

// onRedis is a lock of a user on r0 that names no key, and asks until it has the lock.
func onRedis(name string, try attempt) subject.Lock {
	return subject.Lock{Name: name, Traits: subject.Traits{FollowsSpec: true},
		New: func(e subject.Env) (lock.Locker, error) {
			c := subject.RedisClient(e, "r0")
			return altered{acquire: func(ctx context.Context, resource string) (lock.Lease, error) {
				for {
					until := e.Clock().Now().Add(e.Spec().TTL)
					release, err := try(ctx, e, c, "my:"+resource)
					switch {
					case err != nil:
						return nil, err
					case release != nil:
						return userLease{until, release}, nil
					}
					if err := e.Clock().Sleep(ctx, e.Spec().Backoff.Min); err != nil {
						return nil, err
					}
				}
			}}, nil
		}}
}

type userLease struct {
	until   time.Time
	release func(context.Context) error
}

func (userLease) Token() uint64                       { return 0 }
func (l userLease) Until() time.Time                  { return l.until }
func (userLease) Lost() <-chan struct{}               { return nil }
func (userLease) Context() context.Context            { return context.Background() }
func (l userLease) Release(ctx context.Context) error { return l.release(ctx) }

// taking takes a key, and then does something else. The release deletes all the keys.
func taking(also func(ctx context.Context, e subject.Env, c *redis.Client, key string) error, more ...string) attempt {
	return func(ctx context.Context, e subject.Env, c *redis.Client, key string) (func(context.Context) error, error) {
		ok, err := c.SetNX(ctx, key, e.Name(), e.Spec().TTL).Result()
		if !ok || err != nil {
			return nil, err
		}
		keys := []string{key}
		for _, suffix := range more {
			keys = append(keys, key+suffix)
		}
		return func(ctx context.Context) error { return c.Del(ctx, keys...).Err() }, also(ctx, e, c, key)
	}
}

func nothing(context.Context, subject.Env, *redis.Client, string) error { return nil }

// keptBy is an attempt whose release does something else.
func keptBy(release func(ctx context.Context, e subject.Env, c *redis.Client, key string) error) attempt {
	return func(ctx context.Context, e subject.Env, c *redis.Client, key string) (func(context.Context) error, error) {
		free, err := taking(nothing)(ctx, e, c, key)
		if free == nil || err != nil {
			return nil, err
		}
		return func(ctx context.Context) error { return release(ctx, e, c, key) }, nil
	}
}

// join adds a client to those who ask, where it stays until it releases.
func join(ctx context.Context, e subject.Env, c *redis.Client, key string) error {
	return c.ZAddNX(ctx, key+":queue", redis.Z{Score: float64(e.Clock().Now().UnixMicro()), Member: e.Name()}).Err()
}

func leave(ctx context.Context, e subject.Env, c *redis.Client, key string) error {
	return c.ZRem(ctx, key+":queue", e.Name()).Err()
}

// learnable are locks of users, and what is learnt of each.
var learnable = map[string]struct {
	try  attempt
	want string
}{
	"one key": {taking(nothing), "the lock’s key was learnt: my:order"},
	"none that stays": {func(ctx context.Context, e subject.Env, c *redis.Client, key string) (func(context.Context) error,
		error) {
		release, err := taking(nothing)(ctx, e, c, key)
		if err == nil && release != nil {
			err = release(ctx)
		}
		return func(context.Context) error { return nil }, err
	}, "no key was learnt: Acquire sets nothing that it leaves"},
	"a counter besides": {taking(func(ctx context.Context, _ subject.Env, c *redis.Client, key string) error {
		return c.Incr(ctx, key+":token").Err()
	}), "the lock’s key was learnt: my:order"},
	"the owner besides": {taking(func(ctx context.Context, e subject.Env, c *redis.Client, key string) error {
		return c.HSet(ctx, key+":owner", "name", e.Name()).Err()
	}, ":owner"), "the lock’s keys were learnt: my:order, my:order:owner"},
	"a queue besides": {func(ctx context.Context, e subject.Env, c *redis.Client, key string) (func(context.Context) error,
		error) {
		if err := join(ctx, e, c, key); err != nil {
			return nil, err
		}
		free, err := taking(nothing)(ctx, e, c, key)
		if free == nil || err != nil {
			return nil, err
		}
		return func(ctx context.Context) error { return errors.Join(leave(ctx, e, c, key), free(ctx)) }, nil
	}, "the lock’s key was learnt: my:order"},
	"a queue alone": {func(ctx context.Context, e subject.Env, c *redis.Client, key string) (func(context.Context) error,
		error) {
		if err := join(ctx, e, c, key); err != nil {
			return nil, err
		}
		first, err := c.ZRange(ctx, key+":queue", 0, 0).Result()
		if err != nil || first[0] != e.Name() {
			return nil, err
		}
		return func(ctx context.Context) error { return leave(ctx, e, c, key) }, nil
	}, "no key was learnt: my:order:queue does not say who has the lock, since not only its holder sets and deletes it"},
	"handed over": {func(ctx context.Context, e subject.Env, c *redis.Client, key string) (func(context.Context) error,
		error) {
		free := func(ctx context.Context) error {
			next, err := c.ZPopMin(ctx, key+":queue").Result()
			if err != nil || len(next) == 0 {
				return errors.Join(err, c.Del(ctx, key).Err())
			}
			return c.Set(ctx, key, next[0].Member, e.Spec().TTL).Err()
		}
		switch has, err := c.Get(ctx, key).Result(); {
		case has == e.Name():
			return free, nil
		case errors.Is(err, redis.Nil):
			return free, c.Set(ctx, key, e.Name(), e.Spec().TTL).Err()
		case err != nil:
			return nil, err
		}
		return nil, join(ctx, e, c, key)
	}, "no key was learnt: my:order does not say who has the lock, since not only its holder sets and deletes it"},
	"kept until its TTL": {keptBy(nothing), "no key was learnt: Acquire sets my:order, and Release leaves it"},
	"kept for a moment": {keptBy(func(ctx context.Context, _ subject.Env, c *redis.Client, key string) error {
		return c.PExpire(ctx, key, time.Millisecond).Err()
	}), "no key was learnt: Acquire sets my:order, and Release leaves it"},
	"released by its value": {keptBy(func(ctx context.Context, _ subject.Env, c *redis.Client, key string) error {
		return errors.Join(c.Set(ctx, key, "free", time.Millisecond).Err(), c.Set(ctx, key+":by", "me", 0).Err())
	}), "no key was learnt: Acquire sets my:order, and Release leaves it"},
	"nothing on the server": {func(context.Context, subject.Env, *redis.Client, string) (func(context.Context) error,
		error) {
		return func(context.Context) error { return nil }, nil
	}, "no key was learnt: Acquire sets nothing"},
	"a key for each client": {func(ctx context.Context, e subject.Env, c *redis.Client,
		key string) (func(context.Context) error, error) {
		return taking(nothing)(ctx, e, c, key+":"+e.Name())
	}, "no key was learnt: Acquire sets keys whose names differ from client to client, such as my:order:c0"},
	"never granted": {func(context.Context, subject.Env, *redis.Client, string) (func(context.Context) error, error) {
		return nil, errNotNow
	}, "no key was learnt: two clients, one after another, could not acquire and release the lock: c0, which was alone, " +
		"was not granted the lock: not now"},
	"a panic": {func(context.Context, subject.Env, *redis.Client, string) (func(context.Context) error, error) {
		panic("oh")
	}, "no key was learnt: two clients, one after another, could not acquire and release the lock: c0 panicked: oh"},
	"the end of a goroutine": {func(context.Context, subject.Env, *redis.Client, string) (func(context.Context) error,
		error) {
		runtime.Goexit()
		return nil, nil
	}, "no key was learnt: two clients, one after another, could not acquire and release the lock: c0: runtime.Goexit " +
		"was called, as FailNow and Fatal of a testing.T do: the goroutine ends without a return"},
}

func TestLearnt(t *testing.T) {
	for name, c := range learnable {
		l := onRedis("mine", c.try).Cached()
		for range 2 { // the second one is remembered
			of, err := play.Learn(l, file.Defaults(), "order")
			if err != nil {
				t.Fatal(err)
			}
			if of.String() != c.want {
				t.Errorf("%s: %q, want %q", name, of, c.want)
			}
		}
	}
	passing, err := play.Learn(onRedis("mine", learnable["none that stays"].try), file.Defaults(), "order")
	if err != nil || !slices.Equal(passing.Fleeting, []string{"my:order"}) {
		t.Errorf("%q, %v", passing.Fleeting, err)
	}
	of, err := play.Learn(onRedis("mine", learnable["one key"].try), file.Defaults(), "order 2")
	if err != nil || of.String() != `the lock’s key was learnt: "my:order 2"` {
		t.Errorf("%s, %v", of, err)
	}
}

// A run with learnt keys is that of a lock without keys, event by event, and knows who had the lock as one does whose
// lock names them.
func TestLearntKeysChangeNoTrace(t *testing.T) {
	all, err := redislocks.Library(nil)
	if err != nil {
		t.Fatal(err)
	}
	learns := onRedis("mine", taking(nothing))
	names, blind := learns, learns
	names.Keys = func(resource string) []string { return []string{"my:" + resource} }
	blind.Keys = func(string) []string { return nil }
	expired, played := 0, 0
	for i, sc := range all {
		if i%3 > 0 && os.Getenv("LOCKSIM_SOAK") != "1" {
			continue
		}
		run := func(l subject.Lock) *outcome.ModeRun {
			o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Alone: true})
			if err != nil {
				return nil
			}
			return &o.Modes[0]
		}
		a, b, c := run(learns), run(blind), run(names)
		if a == nil || b == nil || c == nil {
			if a != nil || b != nil || c != nil {
				t.Errorf("%s: only some of the locks can be played", sc.Name)
			}
			continue
		}
		played++
		if a.TraceHash != b.TraceHash || a.Virtual != b.Virtual {
			t.Errorf("%s: the trace of a lock whose keys are learnt differs", sc.Name)
		}
		if c.TraceHash != b.TraceHash {
			expired++
		}
		type holding struct{ client, from string }
		held := func(m *outcome.ModeRun) (all []holding) {
			for _, h := range m.History.Holdings {
				all = append(all, holding{h.Client, m.Trace.Events[h.From-1].Text()})
			}
			return all
		}
		x, y := held(a), held(c)
		if len(x) != len(y) {
			t.Errorf("%s: holdings %v, want %v", sc.Name, x, y)
			continue
		}
		if len(x) > 0 && (len(a.KeyChanges) == 0 || len(b.KeyChanges) > 0) {
			t.Errorf("%s: %d changes of keys that were learnt, and %d of unknown ones", sc.Name, len(a.KeyChanges),
				len(b.KeyChanges))
		}
		for i := range x {
			if x[i].client != y[i].client || x[i].from != y[i].from {
				t.Errorf("%s: holding %v, want %v", sc.Name, x[i], y[i])
			}
		}
	}
	if played < 25 || expired < 3 {
		t.Errorf("%d scenarios were played, in %d of them a key expired", played, expired)
	}
}

// A learnt key that remains after a release that succeeded was left behind. One is no violation that a failed release
// has left, or that has no TTL and keeps no client out.
func TestLearntKeyThatRemains(t *testing.T) {
	// late is a release of a lock that was held for longer than it takes to learn its key.
	late := func(then error) attempt {
		return func(ctx context.Context, e subject.Env, c *redis.Client, key string) (func(context.Context) error, error) {
			free, err := taking(nothing)(ctx, e, c, key)
			if free == nil || err != nil {
				return nil, err
			}
			began := e.Clock().Now()
			return func(ctx context.Context) error {
				if e.Clock().Now().Sub(began) > time.Second {
					return then
				}
				return free(ctx)
			}, nil
		}
	}
	endInValue := func(ctx context.Context, e subject.Env, c *redis.Client, key string) (func(context.Context) error,
		error) {
		end, err := c.Get(ctx, key).Int64()
		if err != nil && !errors.Is(err, redis.Nil) || err == nil && e.Clock().Now().UnixMilli() <= end {
			return nil, nil //nolint:nilerr // it asks again
		}
		return func(ctx context.Context) error { return c.Del(ctx, key).Err() },
			c.Set(ctx, key, e.Clock().Now().Add(e.Spec().TTL).UnixMilli(), 0).Err()
	}
	// The key is one of two: a set of those who have the lock has no TTL, and keeps no client out.
	withBasket := taking(func(ctx context.Context, e subject.Env, c *redis.Client, key string) error {
		return c.SAdd(ctx, key+":all", e.Name()).Err()
	}, ":all")
	const crash = "lock: {ttl: 1s}\nfaults: [{when: {client: c1, event: granted, nth: 1}, crash: {process: c1}}]\n"
	for name, c := range map[string]struct {
		try    attempt
		faults string
		want   checker.Liveness
	}{
		"released":              {taking(nothing), "", checker.LivenessOK},
		"left":                  {late(nil), "", checker.LivenessLeaked},
		"left, and said so":     {late(errors.New("no")), "", checker.LivenessOK},
		"left, not said it had": {late(lock.ErrNotHeld), "", checker.LivenessOK},
		"no TTL":                {endInValue, crash, checker.LivenessOK},
		"no TTL, for longer":    {endInValue, strings.Replace(crash, "1s", "10s", 1), checker.LivenessOK},
		"no TTL, and no lock":   {withBasket, crash, checker.LivenessOK},
	} {
		sc := testruns.Parse(t, "name: remains\nworkload: {stagger: 15s}\n"+c.faults)
		run := testruns.Play(t, sc, onRedis("mine", c.try),
			play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
		if v := run.Verdict; v.Facts.Liveness != c.want || len(run.History.Holdings) != 2 {
			t.Errorf("%s: %s, want %s: %v, holdings %v", name, v.Facts.Liveness, c.want, v.Reasons, run.History.Holdings)
		}
	}
}
