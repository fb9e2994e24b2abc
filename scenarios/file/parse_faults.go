package file

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
	{"restart", readRestart},
	{"slow", readSlow},
	{"kill_worker", readKillWorker},
	{"exhaust_pool", readExhaustPool},
	{"clock_jump", readClockJump},
	{"clock_drift", readClockDrift},
	{"clock_freeze", readClockFreeze},
	{"latency", readLatency},
	{"bandwidth", readBandwidth},
	{"slice", readSlice},
	{"slow_close", readSlowClose},
	{"lose_reply", readLoseReply},
	{"delay_message", readDelayMessage},
	{"partition", readPartition},
	{"reset", readReset},
	{"refuse", readRefuse},
	{"stall", readStall},
	{"failover", readFailover},
	{"evict", readEvict},
	{"flush", readFlush},
	{"read_only", readReadOnly},
}

// triggers are the keys of a fault that say when.
var triggers = []string{"when", "at", "after"}

func readFault(v value) faults.Fault {
	var kinds []string
	for _, a := range actions {
		kinds = append(kinds, a.key)
	}
	f := v.fields(slices.Concat(triggers, kinds)...)
	fault := faults.Fault{Pos: v.pos}
	onlyOne(f, []string{"when", "at"}, "a trigger", "when: {client: c0, event: read}")
	onlyOne(f, kinds, "an action", "pause: {process: c0, for: 15s}")
	f.group("when", func(v value) { fault.When = readEvent(v) })
	f.duration("at", &fault.At)
	f.lasting("after", &fault.After, "leave after out to strike at the event itself")
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
