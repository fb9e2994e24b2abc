package shrink

import (
	"slices"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// retrigger looks for the plainest trigger of each fault: the first time that the
// client which it strikes passes an event, rather than a time, a later round or
// some time after an event. An event still occurs when the rest of the scenario has
// changed.
func (m *minimizer) retrigger() {
	for i := 0; i < len(m.best.Faults); i++ {
		switch f := m.best.Faults[i]; {
		case followed(m.best, i) >= 0: // it moves with the crash
		case f.When == nil:
			m.atAnEvent(i)
		default:
			m.byStruckClient(i)
			m.earlier(i)
			atOnce(m, i)
		}
	}
}

// atAnEvent tries an event instead of a time.
func (m *minimizer) atAnEvent(i int) {
	for nth := 1; nth <= min(m.best.Workload.Rounds, 3); nth++ {
		for _, client := range m.triggerClients(i) {
			if m.anyEvent(i, client, nth) {
				return
			}
		}
	}
}

// triggerClients are the clients whose events may trigger a fault: those that it
// strikes or, if it strikes none, the first few.
func (m *minimizer) triggerClients(i int) []string {
	const few = 3
	all := m.best.Clients()
	struck := slices.DeleteFunc(namesIn(faults.Fault{Action: m.best.Faults[i].Action}),
		func(name string) bool { return !trace.IsClient(name) })
	if len(struck) > 0 {
		all = struck
	}
	return all[:min(few, len(all))]
}

// byStruckClient tries the same event of a client that the fault strikes, if its
// event is another client's.
func (m *minimizer) byStruckClient(i int) {
	f := m.best.Faults[i]
	clients := m.triggerClients(i)
	if slices.Contains(clients, f.When.Client) {
		return
	}
	for _, client := range clients {
		event := *f.When
		event.Client = client
		if m.attempt(strikeAt(i, event, f.After)) {
			return
		}
	}
}

// anyEvent tries the driver's events of a round, one after another.
func (m *minimizer) anyEvent(i int, client string, nth int) bool {
	return slices.ContainsFunc(faults.Events(), func(event string) bool {
		return m.attempt(strikeAt(i, faults.Event{Client: client, Name: event, Nth: nth}, 0))
	})
}

func (m *minimizer) earlier(i int) {
	const few = 4
	f := m.best.Faults[i]
	for nth := 1; nth < min(f.When.Nth, few); nth++ {
		event := *f.When
		event.Nth = nth
		if m.attempt(strikeAt(i, event, f.After)) {
			return
		}
	}
}

// atOnce tries to strike without a delay: at the same event, or at another of the
// same round.
func atOnce(m *minimizer, i int) {
	f := m.best.Faults[i]
	if f.After > 0 && !m.attempt(strikeAt(i, *f.When, 0)) {
		m.anyEvent(i, f.When.Client, f.When.Nth)
	}
}

// strikeAt makes a fault strike at a time after an event, and moves the restart of
// a process that it crashes by the same amount.
func strikeAt(i int, event faults.Event, after time.Duration) func(*file.Scenario) {
	return func(s *file.Scenario) {
		moving := []int{i}
		for j := range s.Faults {
			if followed(s, j) == i {
				moving = append(moving, j)
			}
		}
		first := s.Faults[i]
		for _, j := range moving {
			f, e := &s.Faults[j], event
			f.When, f.At, f.After = &e, 0, after+f.At+f.After-first.At-first.After
		}
	}
}

// followed is the index of the crash, or of the request to end, that a restart follows, if both have the same
// event as their trigger, or times; -1 for all others.
func followed(s *file.Scenario, i int) int {
	restart, ok := s.Faults[i].Action.(faults.Restart)
	if !ok {
		return -1
	}
	return slices.IndexFunc(s.Faults, func(f faults.Fault) bool {
		ends := false
		switch a := f.Action.(type) {
		case faults.Crash:
			ends = a.Process == restart.Process
		case faults.Terminate:
			ends = a.Process == restart.Process
		}
		return ends && sameEvent(f.When, s.Faults[i].When) && f.At+f.After <= s.Faults[i].At+s.Faults[i].After
	})
}

func sameEvent(a, b *faults.Event) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
