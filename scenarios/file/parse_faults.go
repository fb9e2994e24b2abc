package file

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"locksim/faults"
	"locksim/lock/promise"
)

func readFaults(v value) []faults.Fault {
	var all []faults.Fault
	for _, element := range v.elements("- {at: 3s, crash: {process: c0}}") {
		all = append(all, readFault(element))
	}
	return all
}

// triggers are the keys of a fault that say when it strikes, and how often.
var triggers = []string{"when", "at", "after", "every", "times", "probability"}

func readFault(v value) faults.Fault {
	var kinds []string
	for _, k := range faults.Kinds() {
		kinds = append(kinds, k.Name)
	}
	misplaced(v, kinds)
	f := v.fields(slices.Concat(triggers, kinds)...)
	fault := faults.Fault{Pos: v.pos}
	_, repeats := f.get("every")
	if _, byEvent := f.get("when"); byEvent || !repeats {
		onlyOne(f, []string{"when", "at"}, "a trigger", "when: {client: c0, event: read}")
	}
	onlyOne(f, kinds, "an action", "pause: {process: c0, for: 15s}")
	f.group("when", func(v value) { fault.When = readEvent(v) })
	f.duration("at", &fault.At)
	f.positive("after", &fault.After, "leave after out to strike at the event itself")
	readRepeats(f, &fault)
	for _, k := range faults.Kinds() {
		f.group(k.Name, func(v value) { fault.Action = readAction(v, k) })
	}
	return fault
}

// readRepeats reads how often a fault strikes. One without a trigger strikes for the first time after the time between
// two strikes.
func readRepeats(f fields, fault *faults.Fault) {
	f.positive("every", &fault.Every, "leave every out to strike once")
	f.group("times", func(v value) {
		if v.whole(&fault.Times); fault.Times == 0 {
			v.p.fail(v.pos, "%s: a fault strikes 1 to %d times: leave times out to strike until every client has ended its "+
				"workload", v.name(), faults.MaxTimes)
		}
	})
	f.group("probability", func(v value) {
		if _, whole := v.node.(*ast.IntegerNode); !whole {
			v.want("a percentage from 1 to 99, such as 80")
			return
		}
		if v.whole(&fault.Probability); fault.Probability == 0 {
			v.p.fail(v.pos, "%s: 0 is out of range: give a percentage from 1 to 99, such as 80", v.name())
		}
	})
	if _, at := f.get("at"); !at && fault.When == nil {
		fault.At = fault.Every
	}
}

// misplaced refuses a key that has another place: the name of a class of faults, which is none
// of a kind, and a field of the action beside the action.
func misplaced(v value, kinds []string) {
	all := v.entries()
	for _, e := range all {
		if slices.Contains(triggers, e.key) || slices.Contains(kinds, e.key) {
			continue
		}
		var class []string
		for _, k := range faults.Kinds() {
			if slices.Contains(k.Classes(), promise.Fault(e.key)) {
				class = append(class, k.Name)
			}
			isField := slices.ContainsFunc(k.Fields, func(f faults.Field) bool { return f.Key == e.key })
			if isField && slices.ContainsFunc(all, func(a value) bool { return a.key == k.Name }) {
				v.p.fail(e.keyPos, "%s has the key %q beside %s, which it is a field of: write %[3]s: {%[2]s: …}", v.name(), e.key,
					k.Name)
			}
		}
		if len(class) > 0 {
			v.p.fail(e.keyPos, "%s has no key %q: that is a class of faults: write a kind of it: %s", v.name(), e.key,
				strings.Join(class, ", "))
		}
		fromElsewhere(v, e)
	}
}

// fromElsewhere refuses a key that is a word of another tool, and says what to write in its place.
func fromElsewhere(v, key value) {
	if word, ok := faults.FromElsewhere(key.key); ok {
		v.p.fail(key.keyPos, "%s has no key %q: %v", v.name(), key.key, word)
	}
}

// readAction fills in a form. A missing key has the same value as the default written
// out, which may depend on other keys.
func readAction(v value, form faults.Form) faults.Action {
	var keys []string
	for _, field := range form.Fields {
		keys = append(keys, field.Key)
	}
	for _, e := range v.entries() {
		switch {
		case slices.Contains(keys, e.key):
		case slices.Contains(triggers, e.key):
			v.p.fail(e.keyPos,
				"%s has no key %q: it says when the fault strikes, and stands beside %s: write {%[2]s: …, %[3]s: "+
					"{…}}", v.name(), e.key, form.Name)
		default:
			fromElsewhere(v, e)
		}
	}
	f := v.fields(keys...)
	for _, field := range form.Fields {
		if field.Needed() {
			f.need(field.Key, exampleOf(field))
		}
		f.group(field.Key, func(v value) { readField(v, field) })
	}
	form, _ = faults.Open(form.Action())
	form.Fill()
	return form.Action()
}

// exampleOf shows how to write a required field.
func exampleOf(field faults.Field) string {
	if n, ok := field.Holds.(faults.Count); ok {
		return field.Example() + ", in " + n.Units
	}
	return field.Example()
}

// readField reads the value of a field. An optional field gets its default when it
// is left out: an empty value is an error.
func readField(v value, field faults.Field) {
	switch to := field.Holds.(type) {
	case faults.Name:
		v.text(to.To)
	case faults.Names:
		*to.To = nil
		v.names(to.To)
	case faults.Word:
		v.text(to.To)
	case faults.Count:
		v.whole(to.To)
	case faults.Deviation:
		n := 0
		v.whole(&n)
		*to.To = int64(n)
	case faults.Length:
		v.duration(to.To)
	case faults.Offset:
		v.duration(to.To)
		return // a message may be late by 0s
	}
	if absent := field.Absent(); field.Text() == "" && absent != "" {
		v.p.fail(v.pos, "%s: the value is empty: write one such as %s, or leave %s out (default: %s)", v.name(),
			field.Example(), field.Key, absent)
	}
}

// onlyOne refuses a fault that has none of the keys, or more than one.
func onlyOne(f fields, keys []string, what, example string) {
	var chosen []value
	for _, e := range f.present {
		if slices.Contains(keys, e.key) {
			chosen = append(chosen, e)
		}
	}
	switch len(chosen) {
	case 0:
		f.p.fail(f.pos, "%s lacks %s: add one, such as %s", f.name(), what, example)
	case 1:
	default:
		f.p.fail(chosen[1].keyPos, "%s has %s and %s: a fault has one of them, so make two faults or leave one out",
			f.name(), chosen[0].key, chosen[1].key)
	}
}

func readEvent(v value) *faults.Event {
	e := &faults.Event{Nth: 1}
	f := v.fields("client", "event", "nth")
	f.need("client", "client: c0")
	f.need("event", "event: read")
	f.text("client", &e.Client)
	f.text("event", &e.Name)
	f.whole("nth", &e.Nth)
	return e
}
