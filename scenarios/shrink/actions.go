package shrink

import (
	"slices"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// plainFaults makes each fault as plain as it gets: words are the defaults,
// which a file leaves out, a count is 1, and one process stands on each side of
// a cut.
func (m *minimizer) plainFaults() {
	for i := range m.best.Faults {
		action := func() faults.Action { return m.best.Faults[i].Action }
		for _, field := range choicesOf(action()) {
			m.attempt(setField(i, field, ""))
		}
		for _, field := range fieldsOf[int](action()) {
			m.attempt(setField(i, field, 0)) // the default, 1, where there is one
		}
		for _, field := range fieldsOf[[]string](action()) {
			m.fewerNames(i, field)
		}
	}
}

// setField gives a field of the action of a fault another value.
func setField(i int, field string, v any) func(*file.Scenario) {
	return func(s *file.Scenario) { s.Faults[i].Action = withField(s.Faults[i].Action, field, v) }
}

// fewerNames looks for one name that will do for a list, or takes away what it
// can.
func (m *minimizer) fewerNames(i int, field string) {
	names := fieldOf[[]string](m.best.Faults[i].Action, field)
	for _, name := range m.insteadOf(names, field) {
		if m.attempt(setField(i, field, name)) {
			return
		}
	}
	for j := len(names) - 1; j >= 0 && len(names) > 2; j-- {
		if fewer := slices.Delete(slices.Clone(names), j, j+1); m.attempt(setField(i, field, fewer)) {
			names = fewer
		}
	}
}

// insteadOf are lists that are simpler than one. Nobody at all stands for
// everybody: that is simple where it says who hears of a new primary, and one
// process is simpler where it says who is cut off.
func (m *minimizer) insteadOf(names []string, field string) [][]string {
	var lists [][]string
	switch {
	case field == "Clients" && len(names) > 0:
		lists = append(lists, nil)
	case field == "And" && len(names) == 0:
		names = append(m.best.RedisNodes(), trace.Store)
	}
	if len(names) > 1 {
		for _, name := range names {
			lists = append(lists, []string{name})
		}
	}
	return lists
}
