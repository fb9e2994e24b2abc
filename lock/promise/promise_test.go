package promise_test

import (
	"slices"
	"strings"
	"testing"

	"locksim/lock/promise"
)

// Each duty says what it is, and what a lock that breaks it does better, in whole sentences.
func TestEachDutyHasItsAdvice(t *testing.T) {
	seen := map[string]promise.Duty{}
	for _, d := range promise.Duties() {
		means, remedy, advice := d.Means(), d.Remedy(), d.Advice()
		if !strings.HasSuffix(means, ".") || !strings.HasPrefix(advice, `This breaks the duty "`+string(d)+`": `+means+
			" Remedy: ") ||
			!strings.HasSuffix(advice, "if your lock does not promise it.") {
			t.Errorf("%s means %q, with the advice %q", d, means, advice)
		}
		if len(remedy) < 20 || strings.ToUpper(remedy[:1]) != remedy[:1] || !strings.HasSuffix(advice, remedy[1:]) {
			t.Errorf("%s has the remedy %q, and the advice %q", d, remedy, advice)
		}
		if other, twice := seen[means]; twice {
			t.Errorf("%s and %s mean the same", d, other)
		}
		seen[means] = d
	}
	all := promise.Duties()
	if slices.Sort(all); len(slices.Compact(all)) != len(promise.Duties()) || len(all) < 11 {
		t.Errorf("the duties are %q", promise.Duties())
	}
	if d := promise.Duty("unknown"); d.Means() != "" || d.Remedy() != "" || d.Advice() != "" {
		t.Errorf("an unknown duty has the advice %q", d.Advice())
	}
}

// What is not asked is said in words, and only where it has a meaning for the lock.
func TestUnasked(t *testing.T) {
	const says, power = "whether a waiter that gives up says why", "what happens when the machine of a client loses " +
		"its power"
	plain, session := promise.OfLease(), promise.OfSession()
	for _, c := range []struct {
		name       string
		got        []string
		some, none []string
	}{
		{name: "a lease", got: plain.Unasked(promise.Asks{}), some: []string{says, promise.DutyTells.Question()},
			none: []string{power, promise.DutyRenews.Question(), promise.DutyTries.Question(), promise.DutyWakes.Question()}},
		{name: "a session", got: session.Unasked(promise.Asks{Held: true, Renews: true, Tries: true, Notifies: true}),
			some: []string{power + " (its session lasts until the server notices: TCP keepalive, idle_session_timeout)",
				promise.DutyWakes.Question()},
			none: []string{promise.DutyTells.Question()}},
		{name: "nothing about power", got: promise.Promise{Exclusion: []promise.Fault{promise.Pause}}.Unasked(promise.Asks{}),
			some: []string{power}},
	} {
		for _, q := range c.some {
			if !slices.Contains(c.got, q) {
				t.Errorf("%s: %q lacks %q", c.name, c.got, q)
			}
		}
		for _, q := range c.none {
			if slices.Contains(c.got, q) {
				t.Errorf("%s: %q has %q", c.name, c.got, q)
			}
		}
	}
	if p, _ := promise.Of("watchdog"); len(p.Unasked(promise.Asks{Renews: true, Tries: true, Notifies: true})) > 0 {
		t.Errorf("not asked of a watchdog: %q", p.Unasked(promise.Asks{Renews: true, Tries: true, Notifies: true}))
	}
	for _, d := range promise.Duties() {
		if q := d.Question(); !strings.HasPrefix(q, "whether ") && !strings.HasPrefix(q, "how ") ||
			strings.HasSuffix(q, ".") {
			t.Errorf("the question of %s is %q", d, q)
		}
	}
}
