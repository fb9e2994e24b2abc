package evidence

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// ErrDamaged is wrapped by the errors of [Record.Validate] and [Terms.Validate]: no driver writes such a record.
var ErrDamaged = errors.New("damaged record")

// damaged is an error about a place in a record.
func damaged(place, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrDamaged, place, fmt.Sprintf(format, args...))
}

// Validate says what in a record of a scenario no driver writes, so that [History] can be made of one that was stored:
// the first such place, or nil. What a history must have besides is for [checker.Judge] to say.
func (rec *Record) Validate(sc *file.Scenario) error {
	v := validation{events: len(rec.Timeline.At)}
	v.timeline(&rec.Timeline)
	v.positions("record", reflect.ValueOf(rec))
	v.check(rec.Over >= 0 && rec.Over <= v.events, "over", "event %d, and the run has %d", rec.Over, v.events)
	v.faults(rec.Faults, sc)
	v.servers("servers", rec.Servers)
	for i := range rec.Clients {
		v.client(fmt.Sprintf("clients[%d]", i), &rec.Clients[i])
	}
	v.changes(rec)
	for i, d := range rec.Decisions {
		v.check(d.At >= 1, fmt.Sprintf("decisions[%d].at", i), "the decision has no position")
	}
	v.check(rec.Probe.Bound >= 0, "probe.bound", "it asked for %v", rec.Probe.Bound)
	return v.first
}

// validation is what is known of a record while it is looked at, and the first thing that is wrong in it.
type validation struct {
	events int
	first  error
}

func (v *validation) check(holds bool, place, format string, args ...any) {
	if !holds && v.first == nil {
		v.first = damaged(place, format, args...)
	}
}

// positions looks at all positions in a value: each is that of an event, or 0 for none.
func (v *validation) positions(place string, of reflect.Value) {
	switch {
	case v.first != nil:
	case of.Type() == reflect.TypeFor[checker.Pos]():
		v.check(of.Int() >= 0 && of.Int() <= int64(v.events), place, "position %d, and the run has %d events", of.Int(),
			v.events)
	case of.Kind() == reflect.Pointer:
		if !of.IsNil() {
			v.positions(place, of.Elem())
		}
	case of.Kind() == reflect.Slice:
		if kind := of.Type().Elem().Kind(); kind != reflect.Struct && kind != reflect.Int {
			return // most of a record: instants and names
		}
		for i := range of.Len() {
			v.positions(fmt.Sprintf("%s[%d]", place, i), of.Index(i))
		}
	case of.Kind() == reflect.Struct:
		for i := range of.NumField() {
			field := of.Type().Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			switch {
			case field.Anonymous:
				v.positions(place, of.Field(i))
			case place == "record":
				v.positions(name, of.Field(i))
			default:
				v.positions(place+"."+name, of.Field(i))
			}
		}
	}
}

// timeline looks at the instants, which never go back, and at the order of what happened.
func (v *validation) timeline(t *Timeline) {
	for i, at := range t.At {
		v.check(at >= 0 && (i == 0 || at >= t.At[i-1]), fmt.Sprintf("timeline.at[%d]", i), "the instant %v is before the "+
			"one before it, or before the run", at)
	}
	v.check(t.Within == nil || len(t.Within) == len(t.At), "timeline.within", "there are %d, for %d events", len(t.Within),
		len(t.At))
	for i, within := range t.Within {
		v.check(within >= 0, fmt.Sprintf("timeline.within[%d]", i), "%v is not 0 or more", within)
	}
	ordered(v, "timeline.messages", t.Messages, func(m Message) checker.Pos { return m.At })
	ordered(v, "timeline.refusals", t.Refusals, func(f Refusal) checker.Pos { return f.At })
	ordered(v, "timeline.requests", t.Requests, func(r Request) checker.Pos { return r.At })
	ordered(v, "timeline.ends", t.Ends, func(e End) checker.Pos { return e.At })
	ordered(v, "timeline.starts", t.Starts, func(s Start) checker.Pos { return s.At })
	ordered(v, "timeline.promotions", t.Promotions, func(p Promotion) checker.Pos { return p.At })
}

// ordered looks at the positions of a list: each has one, and none is before the one before it.
func ordered[T any](v *validation, place string, all []T, at func(T) checker.Pos) {
	last := checker.Pos(1)
	for i, x := range all {
		v.check(at(x) >= last, fmt.Sprintf("%s[%d].n", place, i), "position %d comes after position %d", at(x), last)
		last = at(x)
	}
}

// faults looks at what became of the faults: each of the scenario has an entry.
func (v *validation) faults(all []Fault, sc *file.Scenario) {
	v.check(len(all) == len(sc.Faults), "faults", "there are %d, and the scenario has %d", len(all), len(sc.Faults))
	for i, f := range all {
		last := time.Duration(0)
		for _, s := range append([]Strike{f.Strike}, f.Again...) {
			v.check(s.Struck >= last && slices.IsSorted(s.Felt), fmt.Sprintf("faults[%d]", i), "its instants go back, or are "+
				"before the run")
			last = s.Struck
		}
	}
}

func (v *validation) servers(place string, all trace.Servers) {
	for i, s := range all {
		first, _ := all.Find(s.Name)
		v.check(s.Name != "" && first == s, fmt.Sprintf("%s[%d].name", place, i), "%q is empty, or the name of another "+
			"server", s.Name)
	}
}

func (v *validation) client(place string, c *Client) {
	v.check(c.Name != "", place+".name", "the client has no name")
	for i := range c.Grants {
		g, place := &c.Grants[i], fmt.Sprintf("%s.grants[%d]", place, i)
		v.check(g.Client == c.Name, place+".client", "%q is another client than %q", g.Client, c.Name)
		v.check(g.Invoked >= 1 && g.Granted >= g.Invoked, place+".granted", "position %d, and it was asked for at %d",
			g.Granted, g.Invoked)
		v.check(!g.Unfinished || len(g.Ops) > 0, place+".unfinished", "there is no operation")
	}
	for i, a := range c.Attempts {
		v.check(a.Client == c.Name, fmt.Sprintf("%s.attempts[%d].client", place, i), "%q is another client than %q", a.Client,
			c.Name)
		v.check(a.Invoked >= 1, fmt.Sprintf("%s.attempts[%d].invoked", place, i), "the attempt has no position")
	}
}

// changes looks at the changes of keys, which are in order. The last may be one of a server that records no event,
// after the last event.
func (v *validation) changes(rec *Record) {
	last := 0
	for i, c := range rec.Changes {
		place := fmt.Sprintf("changes[%d]", i)
		v.check(c.Step >= last && c.Step <= v.events+1, place+".step", "step %d comes after step %d, and the run has %d",
			c.Step, last, v.events)
		v.check(c.Change != 0, place+".change", "it is missing")
		last = c.Step
	}
	v.check(rec.ChangesBefore >= 0 && rec.ChangesBefore <= len(rec.Changes), "changes_before", "%d of %d",
		rec.ChangesBefore, len(rec.Changes))
}

// Validate says what in the terms no lock has, or nil.
func (t *Terms) Validate() error {
	v := validation{}
	words(&v, "promise.exclusion", t.Promise.Exclusion, promise.Faults())
	words(&v, "promise.duties", t.Promise.Duties, promise.Duties())
	terms := append(promise.Terms(), "")
	words(&v, "promise.free_within", []promise.Term{t.Promise.FreeWithin}, terms)
	words(&v, "promise.returns_within", []promise.Term{t.Promise.ReturnsWithin}, terms)
	causes := slices.Sorted(maps.Keys(t.Promise.FreeAfter))
	words(&v, "promise.free_after", causes, promise.Causes())
	for _, cause := range causes {
		words(&v, "promise.free_after."+string(cause), []promise.Term{t.Promise.FreeAfter[cause]}, terms)
	}
	if t.Promise.Data != "" {
		_, err := fence.ParseMode(t.Promise.Data)
		v.check(err == nil, "promise.data", "%v", err)
	}
	words(&v, "lease", []LeaseForm{t.Lease}, []LeaseForm{"", LeaseUntil, LeaseCounted, LeaseHeld})
	within(&v, "nodes", t.Nodes, mostNodes)
	within(&v, "voters", t.Voters, mostNodes)
	within(&v, "replicas", t.Replicas, mostNodes)
	within(&v, "messages", t.Messages, mostMessages)
	within(&v, "detection", t.Detection, longest)
	within(&v, "lease_ttl", t.LeaseTTL, longest)
	within(&v, "settles", t.Settles, longest)
	within(&v, "late", t.Late, longest)
	within(&v, "pause", t.Pause, longest)
	within(&v, "grant_time", t.GrantTime, longest)
	return v.first
}

// Limits far above those of any lock, below which sums of times and products do not overflow.
const (
	mostNodes    = 1_000
	mostMessages = 1_000_000
	longest      = 1_000 * time.Hour
)

// within looks at a number of the terms.
func within[T ~int | ~int64](v *validation, place string, n, most T) {
	v.check(n >= 0 && n <= most, place, "%v is not between 0 and %v", n, most)
}

// words looks at words: each is one of those that there are.
func words[T ~string](v *validation, place string, all, known []T) {
	for _, w := range all {
		v.check(slices.Contains(known, w), place, "%q is none of %q", w, known)
	}
}
