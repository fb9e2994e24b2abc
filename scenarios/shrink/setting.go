package shrink

import (
	"slices"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
)

// jointChanges each reset settings of which one has no meaning without the other.
var jointChanges = []func(*file.Scenario){
	func(s *file.Scenario) { s.World.Replicas, s.World.Lag = 0, file.Range{} },
	oneReplica,
	func(s *file.Scenario) { s.Workload.Section = nil },
	func(s *file.Scenario) {
		w := &s.Workload
		w.Kind, w.Look, w.Ticks, w.Stop, w.Stock, w.Take = file.WorkloadRegister, file.LookTwice, 0, 0, 0, 0
	},
	func(s *file.Scenario) { s.Workload.Deadline = false }, // a context that is cancelled may have what its deadline had
	func(s *file.Scenario) { s.Workload.Request, s.Workload.Deadline = 0, false },
}

// plainSetting makes the world, the lock and the workload as plain as possible.
func (m *minimizer) plainSetting() {
	m.fewerNodes()
	for _, change := range jointChanges {
		m.attempt(change)
	}
	for i := len(m.best.Lock.Settings) - 1; i >= 0; i-- {
		m.attempt(func(s *file.Scenario) { s.Lock.Settings = slices.Delete(slices.Clone(s.Lock.Settings), i, i+1) })
	}
	for _, k := range file.Keys() {
		for _, change := range k.Value.Plainer() {
			m.attempt(change)
		}
	}
	for _, k := range file.Keys() {
		if v, ok := k.Value.(file.Span); ok {
			m.constant(v.Of)
		}
	}
}

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
