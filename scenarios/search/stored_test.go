package search_test

import (
	"strings"
	"testing"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// Names of files have only characters that are safe in file systems and shells.
func TestStoredNames(t *testing.T) {
	sc := search.Draw(spaces.Seeded(1), spaces.Space{})
	run := &outcome.RunFile{Lock: "broken/Ünlock it", Seed: 7, Source: "x"}
	name := search.StoredName(run, "false-reject", sc)
	safe := func(r rune) bool { return strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.", r) }
	if !strings.HasPrefix(name, "broken--nlock-it-false-reject-") ||
		strings.ContainsFunc(name, func(r rune) bool { return !safe(r) }) {
		t.Error(name)
	}
	run.Lock = strings.Repeat("long", 100)
	if other := search.StoredName(run, "false-reject", sc); len(other) > 100 ||
		!strings.HasSuffix(other, name[len(name)-13:]) {
		t.Errorf("got %s, want the ending of %s", other, name)
	}
	run.Seed++
	if strings.HasSuffix(search.StoredName(run, "false-reject", sc), name[len(name)-13:]) {
		t.Error("the name does not depend on the seed")
	}
}

// A test does not try a run of another mode, nor one with faults that the lock does not promise to survive.
func TestUntried(t *testing.T) {
	sc, err := file.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	l := subject.Lock{Name: "mine",
		Traits: subject.Traits{Promise: lock.Promise{Exclusion: []lock.Fault{}, Data: "claim"}}}
	run := &outcome.RunFile{}
	if why := search.Untried(l, run, sc); !strings.Contains(why, "judged in mode claim here") {
		t.Error(why)
	}
	run.Modes = map[fence.Mode]outcome.ModeFile{l.JudgedMode(): {}}
	if why := search.Untried(l, run, sc); !strings.Contains(why, "does not cover its faults") {
		t.Error(why)
	}
	sc.Faults = nil
	if why := search.Untried(l, run, sc); why != "" {
		t.Error(why)
	}
}
