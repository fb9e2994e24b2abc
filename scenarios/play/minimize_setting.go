package play

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
)

// plainChanges take the peculiarities out of a setting, one each.
var plainChanges = []func(*Scenario){
	func(s *Scenario) { s.World.Latency = Range{time.Millisecond, time.Millisecond} },
	func(s *Scenario) { s.World.Replicas, s.World.Lag = 0, Range{} },
	oneReplica,
	func(s *Scenario) { s.World.Lag = Range{} },
	func(s *Scenario) { s.World.Persistence = PersistNone },
	func(s *Scenario) { s.World.Snapshot = time.Minute },
	func(s *Scenario) { s.Lock.Backoff = Range{100 * time.Millisecond, 100 * time.Millisecond} },
	func(s *Scenario) { s.Lock.Client = ClientQuiet },
	func(s *Scenario) { s.Lock.Wait = WaitPoll },
	func(s *Scenario) { s.Lock.Owner = OwnerFresh },
	func(s *Scenario) { s.Workload.Kind = WorkloadRegister },
	func(s *Scenario) { s.Workload.Nested = 0 },
	func(s *Scenario) { s.Workload.Nested = min(s.Workload.Nested, 1) },
	func(s *Scenario) { s.Workload.Request = 0 },
	func(s *Scenario) { s.Workload.Timeout = 0 },
	func(s *Scenario) { s.Workload.Release = ReleaseLast },
	func(s *Scenario) { s.Workload.ChecksUntil = checker.CareNever },
	func(s *Scenario) { s.Workload.Stagger = 0 },
}

// plainSetting makes the world, the lock and the workload as plain as they get.
func (m *minimizer) plainSetting() {
	m.fewerNodes()
	for _, change := range plainChanges {
		m.attempt(change)
	}
	m.constant(func(s *Scenario) *Range { return &s.World.Latency })
	m.constant(func(s *Scenario) *Range { return &s.World.Lag })
	m.constant(func(s *Scenario) *Range { return &s.Lock.Backoff })
}

// oneReplica leaves one replica, to which a failover goes.
func oneReplica(s *Scenario) {
	s.World.Replicas = min(s.World.Replicas, 1)
	for i, f := range s.Faults {
		if failover, ok := f.Action.(faults.Failover); ok {
			failover.To = faults.FirstReplica
			s.Faults[i].Action = failover
		}
	}
}

// fewerNodes takes away Redis nodes, where there are more than the lock needs.
// Those that the faults name come first.
func (m *minimizer) fewerNodes() {
	m.attempt(nodesByRole)
	for redis := 1; redis < m.best.World.Redis; redis++ {
		fewer := func(s *Scenario) { s.World.Redis = redis }
		c := m.best.Clone()
		if fewer(c); len(c.RedisNodes()) < len(m.best.RedisNodes()) && m.attempt(fewer) {
			return
		}
	}
}

// nodesByRole calls the nodes that the faults name r0, r1, …, in the order in
// which they are named.
func nodesByRole(s *Scenario) {
	all := s.RedisNodes()
	order := inOrder(s.Faults, all)
	for i, f := range s.Faults {
		s.Faults[i], _ = renamed(f, func(name string) string {
			if at := slices.Index(order, name); at >= 0 {
				return all[at]
			}
			return name
		})
	}
}

// constant makes one value of a range: one of its ends.
func (m *minimizer) constant(of func(*Scenario) *Range) {
	now := *of(m.best)
	for _, d := range []time.Duration{now.Min, now.Max} {
		if now.Min != now.Max && m.attempt(func(s *Scenario) { *of(s) = Range{d, d} }) {
			return
		}
	}
}
