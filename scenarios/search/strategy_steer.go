package search

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/spaces"
)

// nearness is the slack by which a run came nearest to a violation, in TTLs.
func nearness(t *Trial) (s checker.Slack, distance float64, ok bool) {
	ttl := float64(t.Scenario.Lock.TTL)
	for _, x := range t.Outcome.Modes[0].Verdict.Slack {
		d := float64(x.Value-x.Kind.Least()) / ttl
		switch x.Kind {
		case checker.SlackLease, checker.SlackNotice, checker.SlackWait:
		case checker.SlackExpiry, checker.SlackVotes:
			if !x.Broken() { // it is only how long a request was under way, or the usual majority
				continue
			}
		default: // small in every run
			continue
		}
		if !ok || d < distance {
			s, distance, ok = x, d, true
		}
	}
	return s, distance, ok
}

// vary changes a scenario that came near a violation by one step or two. It returns nil if the result is no scenario
// that the space allows.
func vary(from spaces.Choices, s strategy, space spaces.Space, near nearest) *file.Scenario {
	d := &drawer{from: from, space: space.WithDefaults(), sc: near.scenario.Clone(), manner: seams}
	for range 1 + d.from.Below(2) {
		s.vary(d, near.slack)
	}
	if d.sc.Validate() != nil || !d.allowed() {
		return nil
	}
	return d.sc
}

// allowed reports whether the space allows each fault of the scenario.
func (d *drawer) allowed() bool {
	return !slices.ContainsFunc(d.sc.Faults, func(f faults.Fault) bool {
		return d.space.Faults != nil && !slices.Contains(d.space.Faults, faults.ClassIn(d.sc.Faults, f.Action)) &&
			!slices.Contains(d.space.Kinds, f.Action.Kind())
	})
}

// steer changes one length or instant of a scenario, by a small step, by the slack itself, or by a jump to where
// something of a lock ends. Where the nodes end a lease before its holder, the clients that wait ask often enough to be
// granted the lock meanwhile. Falsification guided by robustness, and hybrid corner-random search, do so for control
// systems.
func steer(d *drawer, near checker.Slack) {
	l := &d.sc.Lock
	if near.Kind == checker.SlackExpiry && near.Broken() && d.once(2) {
		gap := max(time.Duration(-near.Value)/3, l.TTL/500, time.Millisecond)
		l.Backoff = file.Range{Min: gap, Max: gap}
		return
	}
	knobs := d.knobs()
	k := pick(d, knobs...)
	slack := time.Duration(near.Value)
	if near.Kind.Counts() {
		slack = d.part(1)
	}
	switch d.from.Below(4) {
	case 0:
		k.set(*k.to + pick(d, slack, -slack, slack+time.Millisecond, -slack-time.Millisecond))
	case 1:
		k.set(*k.to + pick(d, time.Millisecond, -time.Millisecond, d.part(1), -d.part(1), d.part(5), -d.part(5)))
	case 2:
		k.set(pick(d, d.part(100), d.part(100)-time.Millisecond, d.part(100)+time.Millisecond, d.part(50), d.part(10)))
	case 3:
		k.set(pick(d, k.least, k.least+time.Millisecond))
	}
	l.Backoff.Max = max(l.Backoff.Max, l.Backoff.Min)
	if k.fault != nil {
		k.fault.Action = k.form.Action()
	}
}

// knob is a length or an instant of a scenario.
type knob struct {
	to    *time.Duration
	least time.Duration
	fault *faults.Fault // whose action has it, by this form; nil for none
	form  faults.Form
}

func (k knob) set(to time.Duration) { *k.to = max(to.Truncate(time.Microsecond), k.least) }

// knobs are all of them: those of the workload that it has, and those of the faults.
func (d *drawer) knobs() []knob {
	w, l := &d.sc.Workload, &d.sc.Lock
	const ms = time.Millisecond
	out := []knob{{to: &w.Hold, least: ms}, {to: &w.Think, least: ms}, {to: &w.Stagger}, {to: &l.Backoff.Min, least: ms}}
	for _, to := range []*time.Duration{&w.Timeout, &w.Request, &w.AcquireWithin, &w.ExtendWithin, &w.ReleaseWithin} {
		if *to > 0 {
			out = append(out, knob{to: to, least: ms})
		}
	}
	for i := range d.sc.Faults {
		f := &d.sc.Faults[i]
		form, _ := faults.Open(f.Action)
		switch f.Action.(type) {
		case faults.Crash, faults.Restart: // a process crashes before it restarts
			continue
		}
		if f.When != nil {
			out = append(out, knob{to: &f.After})
		} else {
			out = append(out, knob{to: &f.At})
		}
		for _, field := range form.Fields {
			switch h := field.Holds.(type) {
			case faults.Length:
				if *h.To > 0 {
					out = append(out, knob{h.To, ms, f, form})
				}
			case faults.Offset:
				if *h.To > 0 && h.Unit == 0 {
					out = append(out, knob{h.To, ms, f, form})
				}
			}
		}
	}
	return out
}
