package search_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/internal/testlocks"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// silentLocker is a lock whose leases have no known end.
type silentLocker struct{ lock.Locker }

type silentLease struct{ lock.Lease }

func (silentLease) Until() time.Time { return time.Time{} }

func (l silentLocker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return silentLease{lease}, nil
}

func discovered(t *testing.T, l subject.Lock, space spaces.Space) spaces.Space {
	t.Helper()
	space, err := search.Discover(l, space)
	if err != nil {
		t.Fatal(err)
	}
	return space
}

// The TTL comes from the lease, or else from the lock's key.
func TestDiscoverTheTTL(t *testing.T) {
	exactly := file.Range{Min: testlocks.TTL, Max: testlocks.TTL}
	silent := testlocks.UserLock("theirs", func(_ subject.Env, l lock.Locker) lock.Locker { return silentLocker{l} })
	silent.Lease, silent.Detection = subject.LeaseHeld, time.Second
	given := file.Range{Min: time.Second, Max: 2 * time.Second}
	for name, c := range map[string]struct {
		l           subject.Lock
		space, want file.Range
	}{
		"lease": {testlocks.Correct("theirs"), file.Range{}, exactly},
		"key":   {silent, file.Range{}, exactly},
		"given": {testlocks.Correct("theirs"), given, given},
		"ours":  {ours(t, "single"), file.Range{}, file.Range{}},
	} {
		if got := discovered(t, c.l, spaces.Space{TTL: c.space}).TTL; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// ours is a lock that comes with locksim.
func ours(t testing.TB, name string) subject.Lock {
	t.Helper()
	l, err := redislocks.Kind(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The behaviour of a lock decides what is drawn for it.
func TestDiscover(t *testing.T) {
	pointed := testlocks.UserLock("pointed", func(e subject.Env, l lock.Locker) lock.Locker { return pointedLocker{l, e} })
	everything := func(name string) subject.Lock {
		l := ours(t, name)
		l.Promise = lock.Promise{}
		return l
	}
	for name, c := range map[string]struct {
		l    subject.Lock
		want spaces.Space
	}{
		"own points": {pointed, spaces.Space{Lock: "pointed", Redis: 1, Beside: true,
			Points: []string{"asked", "got-it"}, Replicas: 2, TTL: file.Range{Min: testlocks.TTL, Max: testlocks.TTL}}},
		"three nodes": {testlocks.Quorum("quorum"), spaces.Space{Lock: "quorum", Redis: 3, Beside: true, Replicas: 2,
			Tries: true, TTL: file.Range{Min: 9 * time.Second, Max: 10 * time.Second}}},
		"promise": {ours(t, "single"), spaces.Space{Lock: "single", Redis: 1, Beside: true,
			Faults: ours(t, "single").Promise.Exclusion, Waits: bothWays, Stock: true, Tries: true}},
		"reentrant": {ours(t, "reentrant"), spaces.Space{Lock: "reentrant", Redis: 1, Beside: true, Nested: 2,
			Faults: ours(t, "reentrant").Promise.Exclusion, Waits: bothWays, Stock: true, Tries: true}},
		"reentrant-fenced": {ours(t, "reentrant-fenced"), spaces.Space{Lock: "reentrant-fenced", Redis: 1, Beside: true,
			Nested: 2, OwnerPerRound: true, Faults: ours(t, "reentrant-fenced").Promise.Exclusion, Waits: bothWays, Stock: true,
			Tries: true}},
		"everything": {everything("single"), spaces.Space{Lock: "single", Redis: 1, Beside: true, Replicas: 2,
			Waits: bothWays, Profiles: bothProfiles, Tries: true}},
		"specimen": {ours(t, "broken/get-then-del"), spaces.Space{Lock: "broken/get-then-del", Redis: 1, Beside: true,
			Replicas: 2, Points: []string{"compared"}, Profiles: bothProfiles}},
	} {
		t.Run(name, func(t *testing.T) {
			got := discovered(t, c.l, spaces.Space{})
			if ttl := c.want.TTL; ttl.Min <= got.TTL.Min && got.TTL.Max <= ttl.Max {
				got.TTL = ttl
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

var (
	bothWays     = []file.WaitMode{file.WaitPoll, file.WaitNotify}
	bothProfiles = []file.ClientProfile{file.ClientQuiet, file.ClientStock}
)

// A lock of a user's own gets stock clients if its clients have the profile of the scenario:
// seldom under a promise, and otherwise in half of the scenarios. A profile that was chosen
// stays.
func TestDiscoverProfiles(t *testing.T) {
	follows := testlocks.Correct("theirs")
	follows.New = func(e subject.Env) (lock.Locker, error) {
		return lock.NewSingle(subject.RedisClient(e, subject.Primary), testlocks.Options(e))
	}
	promised := follows.Promise
	for name, c := range map[string]struct {
		l        subject.Lock
		promise  lock.Promise
		chosen   []file.ClientProfile
		profiles []file.ClientProfile
		stock    bool
	}{
		"under a promise":   {follows, promised, nil, nil, true},
		"without a promise": {follows, lock.Promise{}, nil, bothProfiles, false},
		"chosen":            {follows, promised, bothProfiles[:1], bothProfiles[:1], false},
		"its own client":    {testlocks.Correct("theirs"), promised, nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.l.Promise = c.promise
			got := discovered(t, c.l, spaces.Space{Profiles: c.chosen})
			if !slices.Equal(got.Profiles, c.profiles) || got.Stock != c.stock {
				t.Errorf("profiles %v and stock %v, want %v and %v", got.Profiles, got.Stock, c.profiles, c.stock)
			}
		})
	}
}

// pointedLocker passes its own points, one of them with a name that no scenario can
// have.
type pointedLocker struct {
	lock.Locker
	e subject.Env
}

func (l pointedLocker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	for _, label := range []string{"asked", "not a name"} {
		if err := l.e.Point(label); err != nil {
			return nil, err
		}
	}
	lease, err := l.Locker.Acquire(ctx, resource)
	return lease, errors.Join(err, l.e.Point("got-it"))
}

// No failovers are drawn for a lock that stays with r0: it could never be granted
// again. Discover advises a caller that asks for them.
func TestDiscoverFailovers(t *testing.T) {
	stays := testlocks.UserLock("stays", nil)
	stays.New = func(e subject.Env) (lock.Locker, error) {
		return lock.NewSingle(redisclient.New(e, "r0"), testlocks.Options(e))
	}
	if got := discovered(t, stays, spaces.Space{}); got.Replicas != 0 {
		t.Errorf("%d replicas", got.Replicas)
	}
	asked := spaces.Space{Faults: []lock.Fault{lock.FaultFailover}}
	if _, err := search.Discover(stays, asked); err == nil {
		t.Error("no error")
	} else {
		if want := `lock stays does not follow a failover: let it dial its first node by the name "primary"`; !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	follows := testlocks.Correct("follows")
	follows.Promise = lock.Promise{}
	if got := discovered(t, follows, asked); got.Replicas != 2 {
		t.Errorf("%d replicas", got.Replicas)
	}
}

// A promise without faults is judged without faults, and not under all of them.
func TestDiscoverAPromiseWithoutFaults(t *testing.T) {
	l := testlocks.Correct("theirs")
	l.Promise = lock.Promise{Data: "claim"}
	if got := discovered(t, l, spaces.Space{}).Faults; got == nil || len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// A lock that cannot be judged is refused, with advice.
func TestDiscoverRefuses(t *testing.T) {
	refusing := errors.New("the door is shut")
	never := testlocks.UserLock("never",
		func(subject.Env, lock.Locker) lock.Locker { return lockerFunc(func() error { return refusing }) })
	nothing := testlocks.UserLock("nothing", func(subject.Env, lock.Locker) lock.Locker { return nil })
	unmade := testlocks.Correct("unmade")
	unmade.New = func(subject.Env) (lock.Locker, error) { return nil, refusing }
	sealed := testlocks.Correct("sealed")
	sealed.Promise.Data = "seal"
	farAway := testlocks.Correct("far-away")
	farAway.New = func(e subject.Env) (lock.Locker, error) {
		return lock.NewSingle(redisclient.New(e, "r1"), testlocks.Options(e))
	}
	misnamed := testlocks.Correct("misnamed")
	misnamed.Keys = func(resource string) []string { return []string{"mutex:" + resource} }
	hasty := testlocks.Correct("hasty")
	hasty.Promise.Duties, hasty.Promise.ReturnsWithin = []promise.Duty{promise.DutyReturns}, ""
	soon := testlocks.Correct("soon")
	soon.Promise.ReturnsWithin = "soon"
	for _, c := range []struct {
		l    subject.Lock
		want string
	}{
		{misnamed, `lock misnamed, in a run without faults: no client had a key that its Keys name: c\d was granted order, and never set "mutex:order": let Keys return`},
		{hasty, `the promise has the duty "returns", and no ReturnsWithin`},
		{soon, `the promise returns within "soon": choose from ttl \+`},
		{never, `lock never, in a run without faults: no client was granted it: after 3ms, c\d got the error: the door is shut`},
		{nothing, `its New returned neither a lock nor an error`},
		{unmade, `the lock of c0 cannot be made: the door is shut`},
		{sealed, `promises that the data is right in mode seal, which needs fencing tokens: set Tokens`},
		{farAway, `no client was granted it: .* no server listens at "r1"`},
	} {
		t.Run(c.l.Name, func(t *testing.T) {
			_, err := search.Discover(c.l, spaces.Space{})
			if err == nil {
				t.Fatal("no error")
			}
			if !regexp.MustCompile(c.want).MatchString(err.Error()) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// lockerFunc is a lock whose Acquire fails.
type lockerFunc func() error

func (f lockerFunc) Acquire(context.Context, string) (lock.Lease, error) { return nil, f() }

// Scenarios can be drawn from the discovered space of every lock that comes with
// locksim.
func TestDiscoverEveryLock(t *testing.T) {
	for _, name := range slices.Concat(kinds.Names(), kinds.Specimens()) {
		space := discovered(t, ours(t, name), spaces.Space{})
		if err := space.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What was chosen is refused where it has no meaning for the lock; the owners of a lock
// that mints tokens are drawn for each round also where nested sections were chosen.
func TestDiscoverKeepsWhatWasChosen(t *testing.T) {
	for _, s := range []spaces.Space{{Nodes: spaces.Span{Min: 1, Max: 3}}} {
		if _, err := search.Discover(ours(t, "single"), s); err == nil || !strings.Contains(err.Error(), "leave") {
			t.Errorf("%+v for single: %v", s, err)
		}
	}
	if got := discovered(t, ours(t, "reentrant-fenced"), spaces.Space{Nested: 1}); got.Nested != 1 || !got.OwnerPerRound {
		t.Errorf("nested %d, an owner per round %v", got.Nested, got.OwnerPerRound)
	}
}

// poolless is a lock whose client does not tell the world of its pool, as one of another library.
func poolless() subject.Lock {
	l := testlocks.Correct("poolless")
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) { return inner(struct{ subject.Env }{e}) }
	return l
}

// Pools are exhausted only if the lock has registered one: else the fault would end the run without a verdict.
func TestPoolsAreDiscovered(t *testing.T) {
	exhausts := func(l subject.Lock) (drawn bool) {
		space := discovered(t, l, spaces.Space{})
		for seed := range uint64(150) {
			drawn = drawn || slices.ContainsFunc(search.Draw(spaces.Seeded(seed), space).Faults, func(f faults.Fault) bool {
				return f.Action.Kind() == faults.ExhaustPool{}.Kind()
			})
		}
		return drawn && slices.Contains(space.Classes(), lock.FaultPool)
	}
	for _, c := range []struct {
		l    subject.Lock
		want bool
	}{{testlocks.Correct("pooled"), true}, {poolless(), false}, {poolless().DutiesAlone(), false}} {
		if got := exhausts(c.l); got != c.want {
			t.Errorf("%s: its pool is exhausted: %t", c.l.Name, got)
		}
	}
	for _, asked := range []spaces.Space{{Faults: []lock.Fault{lock.FaultPool}},
		{Kinds: []string{"exhaust_pool"}, Faults: []lock.Fault{}}} {
		if _, err := search.Discover(poolless(), asked); err == nil ||
			!strings.Contains(err.Error(), "registers no pool of connections") {
			t.Errorf("asked for %v %v: %v", asked.Faults, asked.Kinds, err)
		}
	}
}
