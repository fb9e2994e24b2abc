package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"locksim/faults"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// calmRun is a run of two clients without faults, in which messages take almost no
// time.
type calmRun struct {
	sc    *file.Scenario
	lock  subject.Lock
	run   *outcome.ModeRun
	owned bool // the lock has owners: it is reentrant
	tries bool // it can be asked without waiting
	pools bool // its clients have registered a pool of connections
}

// calmSeed is the seed of the run; any other is as good.
const calmSeed = 1

// playCalm plays the run. It is an error if no client was granted the lock.
func playCalm(l subject.Lock, space spaces.Space) (*calmRun, error) {
	c := &calmRun{sc: calmScenario(space)}
	c.lock = l.Cached()
	var owned, tries, pools atomic.Bool
	wrapped := c.lock
	wrapped.New = func(e subject.Env) (lock.Locker, error) {
		locker, err := makeLocker(c.lock, notingPools{e, &pools})
		if _, ok := locker.(lock.Owned); ok {
			owned.Store(true)
		}
		if _, ok := locker.(lock.Trier); ok {
			tries.Store(true)
		}
		return locker, err
	}
	o, err := play.Run(c.sc, wrapped, play.RunOptions{Seed: calmSeed, Modes: []fence.Mode{l.JudgedMode()}, Alone: true})
	if err != nil {
		return nil, err
	}
	c.run = &o.Modes[0]
	c.owned, c.tries, c.pools = owned.Load(), tries.Load(), pools.Load()
	if c.run.Verdict.Facts.Panics > 0 { // the first runs without faults will show it
		return c, nil
	}
	if err := c.granted(); err != nil || len(outcome.Violations(o, l.JudgedBy())) > 0 {
		return c, err
	}
	return c, c.named()
}

// notingPools is an environment that notes whether a pool is registered.
type notingPools struct {
	subject.Env
	registered *atomic.Bool
}

// AddPool registers a pool of connections.
func (e notingPools) AddPool(p faults.Pool) {
	e.registered.Store(true)
	if a, ok := e.Env.(interface{ AddPool(faults.Pool) }); ok {
		a.AddPool(p)
	}
}

// followsFailover reports whether the lock can be granted after a failover. The
// locks that come with locksim follow failovers.
func followsFailover(l subject.Lock, space spaces.Space) (bool, error) {
	if kinds.Reserved(l.Name) {
		return true, nil
	}
	sc := calmScenario(space)
	sc.World.Replicas = min(l.Replicas+1, file.MaxReplicas)
	sc.Faults = []faults.Fault{{Action: faults.Failover{To: "r0a"}}}
	o, err := play.Run(sc, l, play.RunOptions{Seed: calmSeed, Modes: []fence.Mode{l.JudgedMode()}, Alone: true})
	if errors.Is(err, play.ErrStays) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return len(o.Modes[0].History.Grants) > 0, nil
}

// followsProfile reports whether the clients of the lock have the profile of the scenario:
// stock ones greet the server, so that the run is another one. The locks that come with
// locksim follow it.
func (c *calmRun) followsProfile(l subject.Lock) (bool, error) {
	if kinds.Reserved(l.Name) {
		return true, nil
	}
	sc := c.sc.Clone()
	sc.Lock.Client = file.ClientStock
	o, err := play.Run(sc, l, play.RunOptions{Seed: calmSeed, Modes: []fence.Mode{c.run.Mode}, Alone: true})
	if err != nil {
		return false, err
	}
	return trace.Diff(c.run.Trace, o.Modes[0].Trace) != nil, nil
}

// makeLocker is New, with an error if New returns neither a lock nor an error.
func makeLocker(l subject.Lock, e subject.Env) (lock.Locker, error) {
	locker, err := l.New(e)
	if locker == nil && err == nil {
		return nil, errors.New("its New returned neither a lock nor an error")
	}
	return locker, err
}

// calmScenario is short, and as fast as the lock allows.
func calmScenario(space spaces.Space) *file.Scenario {
	space = space.WithDefaults()
	sc := file.Defaults()
	sc.Name = "calm"
	sc.World.Redis, sc.World.Servers, sc.World.Replicas = space.Redis, space.Servers, space.LeastReplicas
	sc.World.Clients, sc.World.Latency = 2, file.Range{Min: time.Microsecond, Max: time.Microsecond}
	sc.Lock.Kind, sc.Store, sc.Lock.TTL = space.Lock, space.Store, space.TTL.Max
	retry := max(space.TTL.Max/100, time.Millisecond)
	sc.Lock.Backoff = file.Range{Min: retry, Max: 4 * retry}
	sc.Workload.Rounds, sc.Workload.Hold, sc.Workload.Think = 2, 10*time.Millisecond, 10*time.Millisecond
	if space.Store != "" {
		sc.Workload.Kind = file.WorkloadLate
	}
	return sc
}

// Learn is what is learnt of the keys of a lock in these worlds: see [play.Learn].
func Learn(l subject.Lock, s spaces.Space) (play.Learnt, error) {
	sc := calmScenario(s)
	return play.Learn(l, sc, sc.Workload.Resources[0])
}

// granted returns an error if no client was granted the lock, with the lock's own error.
func (c *calmRun) granted() error {
	if len(c.run.History.Grants) > 0 {
		return nil
	}
	for _, e := range c.run.Trace.Events {
		if m, ok := e.What.(trace.Mark); ok && m.Step == trace.NotGranted {
			return fmt.Errorf("no client was granted it: after %v, %s got the error: %s%s", e.At.Round(time.Millisecond),
				e.Actor, trace.Readable(m.Problem), c.unreplicated())
		}
	}
	return errors.New("no client was granted it: Acquire never returned" + c.unreplicated())
}

// unreplicated is advice for a lock that waits for replicas which it does not say that it needs.
func (c *calmRun) unreplicated() string {
	if c.lock.Replicas > 0 || !slices.ContainsFunc(c.run.Trace.Events, func(e trace.Event) bool {
		x, ok := e.What.(trace.Exec)
		return ok && x.Request != nil && strings.HasPrefix(strings.ToUpper(string(x.Request.AppendText(nil))), "WAIT ")
	}) {
		return ""
	}
	return "; it waits for replicas by WAIT, and there are none: say how many it needs in its Replicas"
}

// named returns an error if the clients had the lock, and none of the keys that the lock names: what the servers record
// would be judged as if no client ever had it.
func (c *calmRun) named() error {
	if c.lock.Keys == nil || len(c.run.History.Holdings) > 0 {
		return nil
	}
	g := c.run.History.Grants[0]
	keys := c.lock.Keys(string(g.Resource))
	if len(keys) == 0 {
		return nil
	}
	return fmt.Errorf("no client had a key that its Keys name: %s was granted %s, and never set %q: let Keys return the "+
		"keys that are there while the lock is held, or leave it out",
		g.Client, g.Resource, keys[0])
}

// lease is the lifetime of the lock without renewal: of its first lease or, if that has no end, what the lock says of
// it, or that of the keys that are on the nodes then.
func (c *calmRun) lease() (file.Range, error) {
	if len(c.run.History.Grants) == 0 {
		ttl := file.Defaults().Lock.TTL
		return file.Range{Min: ttl, Max: ttl}, nil
	}
	state, err := play.Inspect(c.sc, c.lock, calmSeed, c.run.Mode, c.firstGrant())
	if err != nil {
		return file.Range{}, err
	}
	ttl := longestLeft(state)
	if !sensible(ttl) {
		ttl = c.lock.Terms().LeaseTTL
	}
	if !sensible(ttl) {
		ttl = longestKey(state)
	}
	if !sensible(ttl) {
		ttl = file.Defaults().Lock.TTL
	}
	ttl = (ttl + time.Millisecond - 1).Truncate(time.Millisecond)
	return file.Range{Min: ttl, Max: ttl}, nil
}

func (c *calmRun) firstGrant() int {
	for _, e := range c.run.Trace.Events {
		if m, ok := e.What.(trace.Mark); ok && m.Step == trace.Granted {
			return e.N
		}
	}
	return 0
}

// sensible reports whether a lease is within the limits of a space.
func sensible(ttl time.Duration) bool { return ttl >= shortestLease && ttl <= longestLease }

const (
	shortestLease = 10 * time.Millisecond
	longestLease  = time.Hour
)

func longestLeft(s *outcome.State) time.Duration {
	var longest time.Duration
	for _, c := range s.Clients {
		longest = max(longest, c.Left)
	}
	return longest
}

func longestKey(s *outcome.State) time.Duration {
	var longest time.Duration
	for _, n := range s.Nodes {
		for _, k := range n.Keys {
			longest = max(longest, k.TTL)
		}
	}
	return longest
}
