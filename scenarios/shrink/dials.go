package shrink

import (
	"slices"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
)

// dial is a length of time in a scenario, or a number that is reduced in the same
// way. A signed value, such as the jump of a clock, keeps its sign.
type dial struct {
	of     func(*file.Scenario) time.Duration
	turn   func(*file.Scenario, time.Duration)
	least  time.Duration // the smallest value that is tried, besides 0
	zero   zero
	scales scales
}

// zero is what a time of 0 means.
type zero int

const (
	shortest zero = iota
	endless
)

// scales says whether a dial is scaled with the TTL of the lock.
type scales int

const (
	withTTL scales = iota
	independent
)

// faultDials are the times of the schedule: how long, how late, and when.
func faultDials(s *file.Scenario) []dial {
	var all []dial
	for i, f := range s.Faults {
		all = append(all, fieldDials(i, f.Action)...)
		all = append(all, settingDial(func(s *file.Scenario) *time.Duration { return &s.Faults[i].At }),
			settingDial(func(s *file.Scenario) *time.Duration { return &s.Faults[i].After }))
	}
	return all
}

// workDials are the times of the workload, and of the replication.
func workDials(s *file.Scenario) []dial {
	return append(keyDials(s, "world", "lag"), keyDials(s, "workload")...)
}

// setDials are the times of the network and of the lock, except its TTL.
func setDials(s *file.Scenario) []dial {
	return append(keyDials(s, "lock", "backoff"), keyDials(s, "world", "latency")...)
}

// keyDials are the dials of the keys of a group, or of those that are named.
func keyDials(s *file.Scenario, group string, names ...string) []dial {
	var all []dial
	for _, k := range file.Keys() {
		if k.Group != group || len(names) > 0 && !slices.Contains(names, k.Name) {
			continue
		}
		switch v := k.Value.(type) {
		case file.Length:
			d := settingDial(v.Of)
			if v.Limit() {
				d.zero = endless
			}
			all = append(all, d)
		case file.Span:
			all = append(all, rangeDials(s, v.Of)...)
		}
	}
	return all
}

func backoffDials(s *file.Scenario) []dial {
	return rangeDials(s, func(s *file.Scenario) *file.Range { return &s.Lock.Backoff })
}

func settingDial(at func(*file.Scenario) *time.Duration) dial {
	return dial{
		of:    func(s *file.Scenario) time.Duration { return *at(s) },
		turn:  func(s *file.Scenario, to time.Duration) { *at(s) = to },
		least: time.Millisecond,
	}
}

// rangeDials are the ends of a range, or one dial for both if they are equal.
func rangeDials(s *file.Scenario, at func(*file.Scenario) *file.Range) []dial {
	from := settingDial(func(s *file.Scenario) *time.Duration { return &at(s).Min })
	to := settingDial(func(s *file.Scenario) *time.Duration { return &at(s).Max })
	if at(s).Min != at(s).Max {
		return []dial{to, from}
	}
	from.turn = func(s *file.Scenario, d time.Duration) { *at(s) = file.Range{Min: d, Max: d} }
	return []dial{from}
}

// fieldDials are the times of the action of a fault, and after them the numbers
// that are reduced in the same way.
func fieldDials(i int, action faults.Action) []dial {
	var times, others []dial
	form, _ := faults.Open(action)
	for j, field := range form.Fields {
		if amount(field.Holds) == nil {
			continue
		}
		value := func(s *file.Scenario) int64 {
			form, _ := faults.Open(s.Faults[i].Action)
			return *amount(form.Fields[j].Holds)
		}
		d := dial{
			least: time.Millisecond,
			of:    func(s *file.Scenario) time.Duration { return time.Duration(max(value(s), -value(s))) },
			turn: func(s *file.Scenario, to time.Duration) {
				if value(s) < 0 {
					to = -to
				}
				change(i, j, func(h faults.Holding) { *amount(h) = int64(to) })(s)
			},
		}
		switch field.Holds.(type) {
		case faults.Length:
			d.zero = endless
			times = append(times, d)
		case faults.Offset:
			times = append(times, d)
		case faults.Deviation:
			d.least, d.scales = 1, independent
			others = append(others, d)
		}
	}
	return append(times, others...)
}

// amount is the value of a field that is a time, or a number that is the milder the
// smaller it is; nil for all other fields.
func amount(h faults.Holding) *int64 {
	switch h := h.(type) {
	case faults.Length:
		return (*int64)(h.To)
	case faults.Offset:
		return (*int64)(h.To)
	case faults.Deviation:
		return h.To
	}
	return nil
}
