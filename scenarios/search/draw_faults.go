package search

import (
	"slices"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/spaces"
	"locksim/sim/trace"
)

// trouble is one action that may go wrong, or several that belong together, such as
// a crash and the restart.
type trouble struct {
	name string
	// like has an action of each kind and aim that steps may return.
	like []faults.Action
	// steps draws its actions.
	steps func(d *drawer) []step
	// repeats says when, and how often, it may occur.
	repeats repeats
}

func (t trouble) kinds() []string {
	var out []string
	for _, a := range t.like {
		out = append(out, a.Kind())
	}
	return out
}

// lackedBy reports whether one of its actions strikes a server, and cannot strike those of a kind.
func (t trouble) lackedBy(servers file.ServerCount) bool {
	return slices.ContainsFunc(t.like, func(a faults.Action) bool {
		form, _ := faults.Open(a)
		return slices.Contains(servers.Lacks, form.Name) && slices.ContainsFunc(form.Fields, func(f faults.Field) bool {
			name, ok := f.Holds.(faults.Name)
			return ok && trace.IsServer(*name.To)
		})
	})
}

type repeats int

const (
	often  repeats = iota
	seldom         // once in a schedule
	always         // once, and from the very beginning
)

// step is an action, its delay after the beginning of its trouble, and its length.
type step struct {
	action       faults.Action
	later, lasts time.Duration
}

// schedule draws the faults in the manner of a swarm: each run leaves out whole
// kinds of trouble, and gives the others very different weights, so that among many
// runs some have much of one kind, which the average of all kinds would never have.
func (d *drawer) schedule() {
	menu := d.possible()
	if d.manner.tilts && d.once(2) && allows(d.space, tilt) {
		d.sc.Faults = append(d.sc.Faults, d.tilted()...)
	}
	if len(menu) == 0 {
		return
	}
	s := &swarm{drawer: d, troubles: menu, weights: d.weigh(len(menu)), free: map[string]time.Duration{},
		nth: map[string]int{}}
	for range 1 + d.from.Below(d.space.MaxFaults) {
		if t, ok := s.next(); ok {
			d.sc.Faults = append(d.sc.Faults, s.trigger(t)...)
		}
	}
	d.spare()
}

// spare lets a server crash whose machine was to lose its power, and cannot in this program.
func (d *drawer) spare() {
	for i, f := range d.sc.Faults {
		crash, ok := f.Action.(faults.Crash)
		if ok && crash.Mode == faults.CrashPower && slices.ContainsFunc(d.sc.World.Servers, func(s file.ServerCount) bool {
			names := append(file.Numbered(s.Prefix, s.Count), s.Leader)
			return slices.Contains(s.Lacks, file.PowerLoss) && slices.Contains(names, crash.Process)
		}) {
			crash.Mode = faults.CrashProcess
			d.sc.Faults[i].Action = crash
		}
	}
}

// possible are the troubles that the space allows.
func (d *drawer) possible() []trouble {
	all := troubles(d.sc.World)
	if d.space.LeastReplicas > 0 {
		all = append(all, syncTroubles...)
	}
	all = slices.DeleteFunc(all, func(t trouble) bool {
		return !allows(d.space, t) || d.needsPower(t) || t.name == exhaustPool && d.space.NoPools
	})
	return append(all, d.formTroubles()...)
}

// allows reports whether each action of a trouble is of a class that may strike, with crashes of one mode, or
// each is of a kind that the space names.
func allows(s spaces.Space, t trouble) bool { return len(modes(s, t.like...)) > 0 }

// modes are the modes of crashes with which a space allows some actions that belong together: all of them for actions
// without a crash that it allows.
func modes(s spaces.Space, actions ...faults.Action) []faults.CrashMode {
	return slices.DeleteFunc(faults.CrashModes(), func(m faults.CrashMode) bool {
		var schedule []faults.Fault
		for _, a := range actions {
			if crash, ok := a.(faults.Crash); ok {
				crash.Mode = m
				a = crash
			}
			schedule = append(schedule, faults.Fault{Action: a})
		}
		ofClass := func(f faults.Fault) bool {
			return s.Faults == nil || slices.Contains(s.Faults, faults.ClassIn(schedule, f.Action))
		}
		named := func(f faults.Fault) bool { return slices.Contains(s.Kinds, f.Action.Kind()) }
		return !every(schedule, ofClass) && !every(schedule, named)
	})
}

// needsPower reports whether a trouble can only be a loss of power of a server, and some cannot lose it in this
// program.
func (d *drawer) needsPower(t trouble) bool {
	crashes := slices.ContainsFunc(t.like, func(a faults.Action) bool {
		crash, ok := a.(faults.Crash)
		return ok && trace.IsServer(crash.Process)
	})
	return crashes && !slices.Contains(modes(d.space, t.like...), faults.CrashProcess) &&
		slices.ContainsFunc(d.sc.World.Servers,
			func(s file.ServerCount) bool { return slices.Contains(s.Lacks, file.PowerLoss) })
}

// crash draws the crash of a process, by a mode that the space allows.
func (d *drawer) crash(process string) faults.Crash {
	return faults.Crash{Process: process, Mode: pick(d, modes(d.space, faults.Crash{Process: process})...)}
}

func every[T any](list []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(list, func(x T) bool { return !holds(x) })
}

// weigh draws the weights of n kinds of trouble, of which one at least is positive.
func (d *drawer) weigh(n int) []int {
	weights := make([]int, n)
	if d.manner.kinds > 0 {
		for range 1 + d.from.Below(d.manner.kinds) {
			weights[d.from.Below(n)] = 1
		}
		return weights
	}
	for i := range weights {
		weights[i] = pick(d, 0, 1, 0, 4, 0, 16)
	}
	if sum(weights) == 0 {
		weights[d.from.Below(n)] = 1
	}
	return weights
}

func sum(list []int) int {
	total := 0
	for _, n := range list {
		total += n
	}
	return total
}

// swarm draws the triggers of troubles.
type swarm struct {
	*drawer
	troubles []trouble
	weights  []int
	free     map[string]time.Duration // the time from which a trouble may occur again
	nth      map[string]int           // the last round of which an event triggers it
}

// next draws a trouble by weight; ok is false if none is left.
func (s *swarm) next() (t trouble, ok bool) {
	total := sum(s.weights)
	if total == 0 {
		return trouble{}, false
	}
	n := s.from.Below(total)
	i := 0
	for ; n >= s.weights[i]; i++ {
		n -= s.weights[i]
	}
	t = s.troubles[i]
	if t.repeats != often {
		s.weights[i] = 0
	}
	return t, true
}

// trigger draws the trigger of a trouble: a time, an event of a client, or the
// beginning of the run.
func (s *swarm) trigger(t trouble) []faults.Fault {
	s.victim = ""
	steps := t.steps(s.drawer)
	if t.repeats == always {
		var out []faults.Fault
		for _, step := range steps {
			out = append(out, faults.Fault{Action: step.action})
		}
		return out
	}
	if s.from.Below(s.manner.times+1) > 0 && s.nth[t.name] < s.sc.Workload.Rounds {
		return s.atEvent(t, steps)
	}
	return s.atTime(t, steps)
}

// stable is the time without a trouble of a kind after the last of that kind has
// ended, so that its damage can show, or heal.
func (s *swarm) stable() time.Duration { return s.part(50) }

// atTime draws a time for a trouble within the sum of the sections' lengths, or
// after the last of its kind.
func (s *swarm) atTime(t trouble, steps []step) []faults.Fault {
	const places = 40
	w := s.sc.Workload
	sections := w.Hold * time.Duration(w.Rounds*s.sc.World.Clients)
	at := (sections * time.Duration(s.from.Below(places)) / places).Truncate(time.Millisecond)
	at = max(at, s.free[t.name])
	s.free[t.name] = at + span(steps) + s.stable()
	var out []faults.Fault
	for _, step := range steps {
		out = append(out, faults.Fault{At: at + step.later, Action: step.action})
	}
	return out
}

// span is how long the steps take.
func span(steps []step) time.Duration {
	var longest time.Duration
	for _, s := range steps {
		longest = max(longest, s.later+s.lasts)
	}
	return longest
}

// atEvent draws an event for a trouble, in a later round than the last of its kind:
// mostly one of the client that it strikes, where it does most harm.
func (s *swarm) atEvent(t trouble, steps []step) []faults.Fault {
	nth := s.nth[t.name] + 1
	nth += s.from.Below(s.sc.Workload.Rounds - nth + 1)
	s.nth[t.name] = nth
	client := s.victim
	if client == "" || s.once(3) {
		client = s.client()
	}
	event := faults.Event{Client: client, Name: s.moment(), Nth: nth}
	after := s.delay(event)
	var out []faults.Fault
	for _, step := range steps {
		e := event
		out = append(out, faults.Fault{When: &e, After: after + step.later, Action: step.action})
	}
	return out
}

// moment draws an event: one that every client passes or, as often, a named point,
// since the author of the lock chose these.
func (s *swarm) moment() string {
	if len(s.space.Points) > 0 && s.once(2) {
		return pick(s.drawer, s.space.Points...)
	}
	return pick(s.drawer, faults.Events()...)
}

// delay draws the delay of a trouble after an event: none if the event is a named
// point, at which a client can be struck although no time passes there.
func (s *swarm) delay(e faults.Event) time.Duration {
	if slices.Contains(s.space.Points, e.Name) {
		return 0
	}
	if percent := pick(s.drawer, s.manner.delays...); percent > 0 {
		return s.part(percent)
	}
	return 0
}
