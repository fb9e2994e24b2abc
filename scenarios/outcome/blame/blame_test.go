package blame_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/cases/reported"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
	"locksim/scenarios/mysqllocks"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/blame"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sentinellocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/subject"
	"locksim/scenarios/zklocks"
	"locksim/sim/trace"
)

// played is the outcome of a row in its mode alone.
func played(t *testing.T, r row) *outcome.Outcome {
	t.Helper()
	sc, err := file.Load(r.scenario)
	if path := filepath.Join("../../../internal/cases/reported/scenarios", r.scenario+".yaml"); err != nil {
		sc, err = file.Load(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	o, err := play.Run(sc, lockOf(t, r.lock), play.RunOptions{Seed: r.seed, Modes: []fence.Mode{fence.Mode(r.mode)}})
	if missing, ok := errors.AsType[*subject.MissingError](err); ok && testruns.WithoutPostgres(missing.Why) {
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// lockOf is the lock of that name.
func lockOf(t *testing.T, name string) subject.Lock {
	t.Helper()
	all := slices.Concat(etcdlocks.All(), zklocks.All(), sqllocks.All(), mysqllocks.All(), sentinellocks.All(),
		clusterlocks.All(),
		reported.All())
	if i := slices.IndexFunc(all, func(l subject.Lock) bool { return l.Name == name }); i >= 0 {
		return all[i]
	}
	l, err := redislocks.Kind(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// What is found of each run is right.
func TestTable(t *testing.T) {
	for _, r := range table {
		t.Run(r.scenario+" "+r.lock, func(t *testing.T) {
			o := played(t, r)
			f := o.Blame(&o.Modes[0])
			got := row{r.scenario, r.lock, r.mode, r.seed, f.Culprit, f.Remedy(), f.Deed, f.By, f.Of}
			if r.by == "" {
				got.by = ""
			}
			if r.of == "" {
				got.of = ""
			}
			told := slices.ContainsFunc(o.Modes[0].Story, func(l outcome.Line) bool { return l.N == int(f.At) })
			seen := []blame.Deed{blame.Deletes, blame.Overwrites, blame.Prolongs, blame.Retakes, blame.Displaces, blame.GivesUp}
			if slices.Contains(seen, f.Deed) && !told {
				t.Errorf("the story does not tell of step %d", f.At)
			}
			if got != r {
				t.Errorf("%s, %+v: want %+v", o.Modes[0].Verdict.Label, f, r)
			}
		})
	}
}

// The story says what became of the contested key or place, and by which request where that was late.
func TestStoryOfTheKey(t *testing.T) {
	for _, tc := range []struct{ scenario, lock, actor, says string }{
		{"place-too-short", "broken/fair-place-too-short", "c0", "takes the place of c1, which still waits, out of " +
			"lock:{order}:queue on r0"},
		{"place-too-short", "broken/fair-place-too-short", "c1", "the last of 12 times in this wait"},
		{"calm", "claim-only", "c2", "deletes its key order on r0, before its Acquire returns"},
		{"late-write-of-a-rival", "read-back-renewed", "c1", "writes over the key order on r0, which c0 had set, by a " +
			"request that it sent 1.0"},
		{"names-collide", "single", "c0", "asks for "},
		{"names-collide", "single", "c0", "has released "},
	} {
		story := played(t, row{scenario: tc.scenario, lock: tc.lock, mode: "none", seed: 1}).Modes[0].Story
		if !slices.ContainsFunc(story, func(l outcome.Line) bool {
			return l.Actor == tc.actor &&
				strings.Contains(l.What, tc.says)
		}) {
			t.Errorf("%s, %s: the story does not say that %s %s: %v", tc.scenario, tc.lock, tc.actor, tc.says, story)
		}
	}
}

// A wrong refusal is decided where the store refuses, not at the grant of the client that it refuses.
func TestWrongRefusalIsDecidedAtTheStore(t *testing.T) {
	o := played(t, row{scenario: "redlock-clock-jump", lock: "redlock", mode: "cas", seed: 1})
	story := o.Modes[0].Story
	if i := slices.IndexFunc(story, func(l outcome.Line) bool { return l.Fatal }); i < 0 ||
		!strings.Contains(story[i].What, "REFUSES") {
		t.Errorf("line %d decides: %v", i, story)
	}
}

// What a request does to a key after two claims overlapped did not let the second client in.
func TestWhatComesLaterIsNoCause(t *testing.T) {
	grant := func(id int, client string, from checker.Pos) checker.Grant {
		return checker.Grant{ID: id, Client: client, Resource: "order", Invoked: from, Granted: from + 1, Released: 30 + from,
			ReleaseReturned: 31 + from}
	}
	for _, tc := range []struct {
		deleted checker.Pos
		want    blame.Deed
	}{{9, blame.Deletes}, {20, blame.WithoutKey}} {
		h := checker.History{Care: checker.CareNever, Grants: []checker.Grant{grant(1, "c0", 1), grant(2, "c1", 10)}}
		v, err := checker.Judge(h, nil)
		if err != nil {
			t.Fatal(err)
		}
		key := trace.KeyChange{Server: "r0", Key: "order", Value: "a", By: "c0", Asked: "c0", Change: trace.KeySet, Step: 2}
		gone := trace.KeyChange{Server: "r0", Key: "order", By: "c1", Asked: "c1", Was: "a", WasOf: "c0",
			Change: trace.KeyDeleted,
			Step:   int(tc.deleted), Left: trace.LeftFor(time.Second)}
		f := blame.Find(blame.Case{Scenario: &file.Scenario{}, Mode: fence.None, Verdict: v, History: h,
			Record: &evidence.Record{Over: 100, Changes: []trace.KeyChange{key, gone},
				Keys: map[string][]string{"order": {"order"}}}})
		if f.Culprit != blame.Lock || f.Deed != tc.want {
			t.Errorf("deleted at %d: %+v, want %s", tc.deleted, f, tc.want)
		}
	}
}

// No scenario of the library, of which each shows what no lock can prevent, or not this one, is the fault of a
// right lock. The Mutex of etcd leaves its key after a try that was not answered, and that is its own.
func TestRightLocksAreNotAccused(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes hundreds of runs")
	}
	all, err := file.Library()
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range all {
		for _, lock := range []string{"single", "watchdog-fenced", "redlock", "reentrant", "etcd-mutex", "zookeeper"} {
			if _, named := sc.Expect[lock]; !named {
				continue
			}
			o := played(t, row{scenario: sc.Name, lock: lock, mode: "none", seed: 1})
			if f := o.Blame(&o.Modes[0]); f.Culprit == blame.Lock && sc.Name != "etcd-try-unanswered" {
				t.Errorf("%s, %s: %s: %+v", sc.Name, lock, o.Modes[0].Verdict.Label, f)
			}
		}
	}
}

// A client that waits for itself has lost its first lease by then: what it releases inside its section is its second
// one, and it is its late write that does the harm.
func TestWaitingForItselfGivesNothingBack(t *testing.T) {
	sc := testruns.Parse(t, "name: twice\nworld: {redis: 1, clients: 2, latency: 1ms..5ms}\n"+
		"lock: {kind: single, ttl: 10s, backoff: 50ms..200ms}\nworkload: {rounds: 1, nested: 1, hold: 2s, stagger: 1s}\n")
	harmed := 0
	for seed := range uint64(5) {
		o := testruns.Play(t, sc, lockOf(t, "single"), play.RunOptions{Seed: seed + 1, Modes: []fence.Mode{fence.None}})
		m := o.Modes[0]
		if m.Verdict.Label != checker.Corrupted {
			continue
		}
		harmed++
		if f := o.Blame(&o.Modes[0]); f.Culprit != blame.Client || f.Deed != blame.LateSend {
			t.Errorf("seed %d: %s of %s at %d", seed+1, f.Deed, f.Culprit, f.At)
		}
	}
	if harmed == 0 {
		t.Error("no run did harm")
	}
}
