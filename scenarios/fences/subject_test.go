package fences_test

import (
	"errors"
	"strings"
	"testing"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/fences"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// A fence is found by its name, alone and with a lock beside it, and what makes no sense is refused.
func TestFindSubject(t *testing.T) {
	unordered := subject.Lock{Name: "unordered", Traits: subject.Traits{Tokens: true,
		Promise: lock.Promise{Exclusion: lock.Faults(), TokensUnordered: true}},
		New: func(subject.Env) (lock.Locker, error) { return nil, nil }}
	elsewhere := subject.Lock{Name: "elsewhere", Traits: subject.Traits{Tokens: true,
		Promise: lock.Promise{Exclusion: []lock.Fault{lock.FaultFlush}}}, New: unordered.New}
	extra := append(fences.Own(), unordered, elsewhere)
	for _, tc := range []struct{ kind, store, name, err string }{
		{subject.Ledger, "redis-check", "redis-check", ""},
		{"fenced", "redis-check", "fenced+redis-check", ""},
		{"fenced+redis-check", "redis-check", "fenced+redis-check", ""},
		{"redis-check", "redis-check", "redis-check", ""},
		{"fenced", "", "fenced", ""},
		{"unordered", "redis-strict", "unordered+redis-strict", ""},
		{"unordered", "redis-check", "", "promises no order of its tokens"},
		{"elsewhere", "redis-check", "", "no fault under which both"},
		{"single", "redis-check", "", "mints no tokens"},
		{"redis-seal", "redis-check", "", "is a store, and mints no tokens"},
		{"fenced", "redis-chek", "", "did you mean redis-check?"},
		{"fence", "redis-check", "", "there is no lock"},
	} {
		l, err := redislocks.FindSubject(tc.kind, tc.store, extra)
		switch {
		case tc.err == "" && err != nil:
			t.Errorf("%s and %s: %v", tc.kind, tc.store, err)
		case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
			t.Errorf("%s and %s: the error %v has not %q", tc.kind, tc.store, err, tc.err)
		case l.Name != tc.name && tc.err == "":
			t.Errorf("%s and %s are %s, want %s", tc.kind, tc.store, l.Name, tc.name)
		}
	}
	if l, err := redislocks.Find("fenced+redis-seal", extra); err != nil || l.Kind() != "fenced" ||
		l.Fence() != "redis-seal" {
		t.Errorf("fenced+redis-seal is %s with %s (%v)", l.Kind(), l.Fence(), err)
	}
	if _, err := redislocks.Find("single+redis-seal", extra); err == nil || errors.Is(err, subject.ErrUnknownLock) {
		t.Errorf("single+redis-seal: %v", err)
	}
}

// A scenario that names a fence is played with it alone, and keeps its name when it is written.
func TestStoreOfAScenario(t *testing.T) {
	const text = "name: late\nlock: {kind: ledger}\nstore: redis-check\nworkload: {kind: late, rounds: 3}\n"
	sc, err := file.Parse("late.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	written, err := file.Format(sc)
	if err != nil || !strings.Contains(string(written), "\nstore: redis-check\n") ||
		!strings.Contains(string(written), "kind: late") {
		t.Errorf("written as\n%s (%v)", written, err)
	}
	if _, err := play.Run(sc, fences.Guard(fence.Check).Subject(), play.RunOptions{Seed: 1}); err != nil {
		t.Error(err)
	}
	plain, err := redislocks.Find("fenced", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := play.Run(sc, plain, play.RunOptions{Seed: 1}); err == nil ||
		!strings.Contains(err.Error(), "without the fence redis-check") {
		t.Errorf("without the fence: %v", err)
	}
	for wrong, want := range map[string]string{
		"name: late\nworkload: {kind: late}\n":                     "names none",
		"name: late\nstore: redis-check\nworkload: {kind: fill}\n": "a fence is tried by sections",
		"name: late\nstore: 'my fence'\n":                          "cannot be the name of a fence",
	} {
		if _, err := file.Parse("late.yaml", []byte(wrong)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
