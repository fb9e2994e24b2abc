package shrink

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/scenarios/file"
)

// plainChanges each reset one setting to its plain value.
var plainChanges = []func(*file.Scenario){
	func(s *file.Scenario) { s.World.Latency = file.Range{Min: time.Millisecond, Max: time.Millisecond} },
	func(s *file.Scenario) { s.World.Replicas, s.World.Lag = 0, file.Range{} },
	oneReplica,
	func(s *file.Scenario) { s.World.Lag = file.Range{} },
	func(s *file.Scenario) { s.World.Persistence = file.PersistNone },
	func(s *file.Scenario) { s.World.Snapshot = time.Minute },
	func(s *file.Scenario) {
		s.Lock.Backoff = file.Range{Min: 100 * time.Millisecond, Max: 100 * time.Millisecond}
	},
	func(s *file.Scenario) { s.Lock.Client = file.ClientQuiet },
	func(s *file.Scenario) { s.Lock.Wait = file.WaitPoll },
	func(s *file.Scenario) { s.Lock.Owner = file.OwnerFresh },
	func(s *file.Scenario) { s.Workload.Section = nil },
	func(s *file.Scenario) { s.Workload.Kind, s.Workload.Look = file.WorkloadRegister, file.LookTwice },
	func(s *file.Scenario) { s.Workload.Nested = 0 },
	func(s *file.Scenario) { s.Workload.Nested = min(s.Workload.Nested, 1) },
	func(s *file.Scenario) { s.Workload.Deadline = false },
	func(s *file.Scenario) { s.Workload.Request, s.Workload.Deadline = 0, false },
	func(s *file.Scenario) { s.Workload.AcquireWithin = 0 },
	func(s *file.Scenario) { s.Workload.ExtendWithin = 0 },
	func(s *file.Scenario) { s.Workload.ReleaseWithin = 0 },
	func(s *file.Scenario) { s.Workload.Data = file.DataStore },
	func(s *file.Scenario) { s.Workload.Tries = false },
	func(s *file.Scenario) { s.Workload.Extend = 0 },
	func(s *file.Scenario) { s.Workload.Extend = min(s.Workload.Extend, 1) },
	func(s *file.Scenario) { s.Workload.Resources = file.Defaults().Workload.Resources },
	func(s *file.Scenario) { s.Workload.Resources = slices.Clone(s.Workload.Resources[:1]) },
	func(s *file.Scenario) { s.World.Skew = 0 },
	func(s *file.Scenario) { s.Lock.Nodes = 0 },
	func(s *file.Scenario) { s.Workload.Timeout = 0 },
	func(s *file.Scenario) { s.Workload.Release = file.ReleaseLast },
	func(s *file.Scenario) { s.Workload.ChecksUntil = checker.CareNever },
	func(s *file.Scenario) { s.Workload.Stagger = 0 },
}

// plainSetting makes the world, the lock and the workload as plain as possible.
func (m *minimizer) plainSetting() {
	m.fewerNodes()
	for _, change := range plainChanges {
		m.attempt(change)
	}
	m.constant(func(s *file.Scenario) *file.Range { return &s.World.Latency })
	m.constant(func(s *file.Scenario) *file.Range { return &s.World.Lag })
	m.constant(func(s *file.Scenario) *file.Range { return &s.Lock.Backoff })
}

// oneReplica leaves one replica, to which a failover goes.
func oneReplica(s *file.Scenario) {
	s.World.Replicas = min(s.World.Replicas, 1)
	for i, f := range s.Faults {
		for _, p := range partsOf[faults.Name](f.Action) {
			if p.holds.Role.Has(faults.Family) {
				change(i, p.field, func(n faults.Name) { *n.To = n.Default })(s)
			}
		}
	}
}

// fewerNodes removes Redis nodes, if there are more than the lock needs. The nodes
// that the faults name come first.
func (m *minimizer) fewerNodes() {
	m.attempt(nodesByRole)
	for redis := 1; redis < m.best.World.Redis; redis++ {
		fewer := func(s *file.Scenario) { s.World.Redis = redis }
		c := m.best.Clone()
		if fewer(c); len(c.RedisNodes()) < len(m.best.RedisNodes()) && m.attempt(fewer) {
			return
		}
	}
}

// nodesByRole renames the nodes that the faults name to r0, r1, …, in the order in
// which they are named.
func nodesByRole(s *file.Scenario) {
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
func (m *minimizer) constant(of func(*file.Scenario) *file.Range) {
	now := *of(m.best)
	for _, d := range []time.Duration{now.Min, now.Max} {
		if now.Min != now.Max && m.attempt(func(s *file.Scenario) { *of(s) = file.Range{Min: d, Max: d} }) {
			return
		}
	}
}
