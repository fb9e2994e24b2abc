package scenarios

import (
	"slices"

	"locksim/faults"
)

func readFaults(v value) []faults.Fault {
	var all []faults.Fault
	for _, element := range v.elements("- {at: 3s, crash: {process: c0}}") {
		all = append(all, readFault(element))
	}
	return all
}

// actions are the keys of a fault that say what happens, with their readers.
var actions = []struct {
	key  string
	read func(value) faults.Action
}{
	{"pause", readPause},
	{"crash", readCrash},
	{"partition", readPartition},
}

func readFault(v value) faults.Fault {
	known := []string{"when", "at"}
	for _, a := range actions {
		known = append(known, a.key)
	}
	f := v.fields(known...)
	fault := faults.Fault{Pos: v.pos}
	onlyOne(f, []string{"when", "at"}, "a trigger", "when: {client: c0, event: read}")
	onlyOne(f, known[2:], "an action", "pause: {process: c0, for: 15s}")
	f.group("when", func(v value) { fault.When = readEvent(v) })
	f.duration("at", &fault.At)
	for _, a := range actions {
		f.group(a.key, func(v value) { fault.Action = a.read(v) })
	}
	return fault
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

func readPause(v value) faults.Action {
	var pause faults.Pause
	f := v.fields("process", "for")
	f.need("process", "process: c0")
	f.need("for", "for: 15s")
	f.text("process", &pause.Process)
	f.duration("for", &pause.For)
	return pause
}

func readCrash(v value) faults.Action {
	crash := faults.Crash{Mode: faults.CrashProcess}
	f := v.fields("process", "mode")
	f.need("process", "process: c0")
	f.text("process", &crash.Process)
	f.text("mode", (*string)(&crash.Mode))
	return crash
}

func readPartition(v value) faults.Action {
	cut := faults.Partition{Bytes: faults.BytesHold, Direction: faults.DirectionBoth}
	f := v.fields("between", "and", "for", "bytes", "direction")
	f.need("between", "between: [c0]")
	f.names("between", &cut.Between)
	f.names("and", &cut.And)
	f.lasting("for", &cut.For, "leave for out to cut until the end of the workload")
	f.text("bytes", (*string)(&cut.Bytes))
	f.text("direction", (*string)(&cut.Direction))
	return cut
}
