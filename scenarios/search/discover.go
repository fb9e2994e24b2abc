package search

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// ErrNoFailover is in the error of a search with failovers for a lock that has no node which a replica could replace.
var ErrNoFailover = errors.New("does not follow a failover")

// Discover finds out from a run without faults what can be drawn for a lock: the
// length of its lease, the named points that it passes, whether it is reentrant,
// and the number of its nodes. Values that the space has already are kept. The
// faults are those of the space or, if it names none, those that the promise
// covers; for a lock that promises nothing, all.
//
// The error says what is wrong with the lock, the space or the promise: no run can
// be drawn then. A lock that breaks its promise even without faults is no error:
// the first runs that are drawn will show it.
func Discover(l subject.Lock, space spaces.Space) (spaces.Space, error) {
	if err := errors.Join(l.Validate(), Judgeable(l), space.Validate()); err != nil {
		return spaces.Space{}, err
	}
	space.Lock, space.Store = l.Kind(), l.Fence()
	d := discovery{equipped(space, l)}
	if err := d.discoverFaults(l); err != nil {
		return spaces.Space{}, err
	}
	calm, err := playCalm(l, d.Space)
	if err != nil {
		return spaces.Space{}, fmt.Errorf("lock %s, in a run without faults: %w", l.Name, err)
	}
	if err := d.discoverPools(l, calm); err != nil {
		return spaces.Space{}, err
	}
	if err := d.discoverReplicas(l); err != nil {
		return spaces.Space{}, err
	}
	if err := d.discoverWays(l, calm); err != nil {
		return spaces.Space{}, err
	}
	d.discoverSize(l)
	if d.Points == nil {
		d.Points = calm.points()
	}
	if err := d.suits(l); err != nil {
		return spaces.Space{}, err
	}
	d.Tries, d.Beside = calm.tries, l.Section.Run == nil
	if calm.owned && l.Section.Run == nil { // a section of its own has none within it
		d.Nested, d.OwnerPerRound = cmp.Or(d.Nested, 2), mintsUnderPromise(l)
	}
	if !l.FollowsSpec && d.TTL == (file.Range{}) {
		if d.TTL, err = calm.lease(); err != nil {
			return d.Space, err
		}
	}
	return d.Space, d.discoverSettings(l)
}

// discovery is a space to which is added what a lock shows.
type discovery struct{ spaces.Space }

// Judgeable refuses a lock whose name cannot be written in a scenario file, or
// whose promise about data needs tokens that it does not mint.
func Judgeable(l subject.Lock) error {
	if !file.IsWord(l.Name) {
		return fmt.Errorf("lock %q: make its Name one word, such as my-lock: scenario files contain it", l.Name)
	}
	if mode := l.JudgedMode(); mode.NeedsToken() && !l.Tokens {
		return fmt.Errorf("lock %s promises that the data is right in mode %s, which needs fencing tokens: set Tokens if "+
			"its leases carry some, or choose another mode", l.Name, mode)
	}
	return nil
}

// suits refuses what was chosen and has no meaning for a lock.
func (s *discovery) suits(l subject.Lock) error {
	switch {
	case s.Nodes != (spaces.Span{}) && !l.Quorum:
		return fmt.Errorf("lock %s is no lock over a quorum of any number of nodes: leave the nodes out", l.Name)
	case s.Nested > 0 && l.Section.Run != nil:
		return fmt.Errorf("lock %s has a Section of its own, which has no section within it: leave nested out", l.Name)
	}
	return nil
}

// mintsUnderPromise is true for a lock whose owners are drawn for each round: an owner
// that enters again after a lost release has its old token again, and no fence that
// compares tokens can distinguish the two sections. If the lock promises right data
// behind such a fence, the violation is known.
func mintsUnderPromise(l subject.Lock) bool { return l.Tokens && !l.PromisesNothing() }

// discoverFaults sets the classes of fault.
func (s *discovery) discoverFaults(l subject.Lock) error {
	if l.PromisesNothing() {
		return nil
	}
	if s.Faults == nil {
		s.Faults = append([]lock.Fault{}, l.Promise.Exclusion...)
	}
	return coversAll(l, s.Classes())
}

// discoverPools leaves out the exhaustion of pools for a lock whose clients have registered none: the fault would find
// nothing to strike. It is an error if nothing else can strike, or if it was named as a kind of fault.
func (s *discovery) discoverPools(l subject.Lock, calm *calmRun) error {
	if calm.pools || len(calm.run.History.Grants) == 0 || !slices.Contains(s.Classes(), lock.FaultPool) ||
		s.Redis == 0 && !slices.ContainsFunc(s.Servers, hasPools) {
		return nil
	}
	s.NoPools = true
	if len(s.Classes()) == 0 || slices.Contains(s.Kinds, exhaustPool) {
		return fmt.Errorf("lock %s registers no pool of connections, so that none can be exhausted: make its clients by "+
			"scenarios.RedisClient or the package of the server's kind, or leave the fault %s out", l.Name, lock.FaultPool)
	}
	return nil
}

// discoverReplicas sets the number of replicas that can be promoted. There are none
// for a lock that stays with r0 when another node is the primary: a failover would
// show nothing else about it.
func (s *discovery) discoverReplicas(l subject.Lock) error {
	asked := slices.Contains(s.Faults, lock.FaultFailover)
	if s.Replicas > s.LeastReplicas || s.Faults != nil && !asked {
		return nil
	}
	if s.Redis == 0 && asked && !clustered(file.World{Servers: s.Servers}) {
		return fmt.Errorf("lock %s %w: it has no Redis node, whose replica could take over; leave failovers out", l.Name,
			ErrNoFailover)
	}
	if s.Redis == 0 {
		return nil
	}
	follows, err := followsFailover(l, s.Space)
	switch {
	case err != nil:
		return fmt.Errorf("lock %s, in a run with a failover: %w", l.Name, err)
	case follows && l.Replicas > 0: // a failover leaves as many as it needs
		s.LeastReplicas = min(l.Replicas+1, file.MaxReplicas)
		s.Replicas = s.LeastReplicas
	case follows:
		s.Replicas = 2
	case asked:
		return fmt.Errorf("lock %s %w: let it dial its first node by the name %q, which is scenarios.Primary, or leave "+
			"failovers out", l.Name, ErrNoFailover, subject.Primary)
	case l.Replicas > 0: // its replicas are there, and no failover is drawn
		s.Faults = slices.DeleteFunc(lock.Faults(), func(f lock.Fault) bool { return f == lock.FaultFailover })
	}
	return nil
}

// discoverSize sets the numbers of clients and rounds. A run of a lock on many
// nodes costs several times as much as one on a single node: within a promise,
// where only many runs are evidence, its worlds are smaller than others.
func (s *discovery) discoverSize(l subject.Lock) {
	if l.Quorum && l.FollowsSpec && s.Nodes == (spaces.Span{}) {
		s.Nodes = spaces.Span{Min: 1, Max: 7}
	}
	if l.PromisesNothing() || l.Nodes() < 3 {
		return
	}
	if s.Clients == (spaces.Span{}) {
		s.Clients, s.Crowd = spaces.Span{Min: 2, Max: 3}, cmp.Or(s.Crowd, spaces.LargeCrowd)
	}
	if s.Rounds == (spaces.Span{}) {
		s.Rounds = fewRounds
	}
}

// fewRounds are the rounds of a lock on many nodes.
var fewRounds = spaces.Span{Min: 1, Max: 3}

// coversAll returns an error for a class that is not in the lock's promise: no
// result under such a fault would be a violation.
func coversAll(l subject.Lock, classes []lock.Fault) error {
	for _, class := range classes {
		if !slices.Contains(l.Promise.Exclusion, class) {
			return fmt.Errorf("the promise of lock %s does not cover the fault %s: choose from %s, or judge it without its "+
				"promise",
				l.Name, class, prose.Commas(l.Promise.Exclusion))
		}
	}
	return nil
}

// discoverWays sets how the lock waits and how its clients are configured, if the
// lock can be made in several ways. Under a promise the defaults of go-redis are drawn
// seldom: their retries and long waits hide other mistakes.
func (s *discovery) discoverWays(l subject.Lock, calm *calmRun) error {
	if s.Waits == nil && (l.Waits || l.Nodes() <= 1 && slices.Contains(kinds.Names(), l.Name)) {
		s.Waits = []file.WaitMode{file.WaitPoll, file.WaitNotify}
	}
	if s.Profiles != nil {
		return nil
	}
	switch follows, err := calm.followsProfile(l); {
	case err != nil:
		return fmt.Errorf("lock %s, in a run without faults and with stock clients: %w", l.Name, err)
	case follows && l.PromisesNothing():
		s.Profiles = []file.ClientProfile{file.ClientQuiet, file.ClientStock}
	default:
		s.Stock = follows
	}
	return nil
}

// points are the named points that the clients have passed, in the order of their
// first occurrence.
func (c *calmRun) points() []string {
	var out []string
	for _, e := range c.run.Trace.Events {
		m, ok := e.What.(trace.Mark)
		if !ok || m.Step != trace.Point || e.Actor == trace.Probe || slices.Contains(out, m.Label) {
			continue
		}
		if (faults.Event{Client: "c0", Name: m.Label, Nth: 1}).Validate() == nil {
			out = append(out, m.Label)
		}
	}
	return out
}
