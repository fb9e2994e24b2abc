package file

import (
	"fmt"
	"strings"

	"locksim/scenarios/kinds"
)

// Needed is what an [Entry] says of a key that may not be left out.
const Needed = "it must be there"

// Entry is a key of a scenario file, as a person reads of it.
type Entry struct {
	// Group is "world", "lock" or "workload", or "" for a key of the file itself.
	Group, Name string
	// Doc says what the key means.
	Doc string
	// Domain says what it may be, and Absent what holds where it is left out.
	Domain, Absent string
}

// Reference is every key of a scenario file: those of the file, then group by group those that have a form of their own
// and the rows of [Keys]. Faults are in package faults.
func Reference() []Entry {
	all := []Entry{
		{"", "name", "The short name. No other key is needed.", "up to 64 lower-case letters, digits and hyphens",
			Needed},
		{"", "title", "One line about what happens.", "a text", "empty"},
		{"", "why", "What the scenario shows, and who described it first.", "a text", "empty"},
		{"", "catalogue", "The failure modes that it shows: see `locksim list --catalogue`.", "a list such as `[F11]`",
			"empty"},
		{"", "world", "The clients, servers and network.", "the keys of the group", "the defaults of the group"},
		{"", "lock", "The lock under test.", "the keys of the group", "the defaults of the group"},
		{"", "store", "The fence that is itself under test, in place of the store `s0`, which is assumed to be right.",
			"one of the fences of `locksim list`, or one of the program's own", "none"},
		{"", "workload", "What each client does.", "the keys of the group", "the defaults of the group"},
		{"", "faults", "The faults, and when they strike.", fmt.Sprintf("a list of at most %d", MaxFaults), "none"},
		{"", "locks", "Which locks the scenario is about.", "a list of locks and groups", "the one of `lock.kind`"},
		{"", "expect", "The worst label that any seed from 1 to 20 may show.", "labels by lock and mode",
			"nothing is expected"},
		{"world", "redis", "How many Redis nodes `r0`, `r1`, … there are. A lock that needs more gets more.",
			fmt.Sprintf("a number from 0 to %d", MaxRedis), "`1`; `0` in a world with another kind of servers"},
	}
	for _, k := range kinds.Servers() {
		all = append(all, Entry{"world", k.Name, fmt.Sprintf("How many servers `%s0`, `%[1]s1`, … of this kind there are. A "+
			"lock that needs more gets more.", k.Prefix), fmt.Sprintf("a number from 0 to %d", MaxServers), "`0`"})
	}
	all = append(all, entries("world")...)
	all = append(all, Entry{"lock", "kind", "Which lock. `broken/…` is a specimen.",
		"one of `locksim list`, or one of the program's own", code(Defaults().Lock.Kind)})
	all = append(all, entries("lock")...)
	all = append(all, Entry{"lock", "settings", "What the lock calls by names of its own, such as `renew_deadline`, as a " +
		"length of time or a whole number: see [Settings](#settings).", "keys that the lock has", "the lock's own"})
	all = append(all, entries("workload")...)
	return append(all, Entry{"workload", "section", "What a section does, step by step, in place of what `kind` says.",
		fmt.Sprintf("a list of at most %d steps", MaxSteps), "that of `kind`"})
}

// entries are the rows of a group.
func entries(group string) (all []Entry) {
	byDefault := Defaults()
	for _, k := range keysOf(group) {
		all = append(all, Entry{k.Group, k.Name, k.Doc, k.Value.domain(), k.Value.absent(byDefault)})
	}
	return all
}

func code(text string) string { return "`" + text + "`" }

func (v Number) domain() string {
	least := v.Least
	if v.Unset != "" {
		least = 1
	}
	return fmt.Sprintf("a number from %d to %d", least, v.Most)
}

func (v Number) absent(byDefault *Scenario) string {
	if _, meaning, ok := strings.Cut(v.Unset, " for "); ok {
		return meaning
	}
	return code(fmt.Sprint(*v.Of(byDefault)))
}

func (v Length) domain() string {
	switch {
	case v.Limit():
		return "a limit"
	case v.Divides > 0:
		return "a length of time that divides " + v.Divides.String()
	case v.Whole:
		return "a length of time, in whole milliseconds"
	}
	return "a length of time"
}

func (v Length) absent(byDefault *Scenario) string {
	if v.Limit() {
		return "no limit"
	}
	text := v.Of(byDefault).String()
	if minutes, whole := strings.CutSuffix(text, "m0s"); whole {
		text = minutes + "m"
	}
	return code(text)
}

func (Span) domain() string { return "a range" }

func (v Span) absent(byDefault *Scenario) string { return code(v.Of(byDefault).String()) }

func (Flag) domain() string { return "`true` or `false`" }

func (v Flag) absent(byDefault *Scenario) string { return code(fmt.Sprint(*v.Of(byDefault))) }

func (v Word) domain() string { return code(strings.Join(v.Words, "`, `")) }

func (v Word) absent(*Scenario) string { return code(v.Words[0]) }

func (Names) domain() string { return fmt.Sprintf("1 to %d names", MaxResource) }

func (v Names) absent(byDefault *Scenario) string { return code(listed(*v.Of(byDefault))) }
