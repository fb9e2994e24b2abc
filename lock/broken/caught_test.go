package broken_test

import (
	"os"
	"testing"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/broken"
	"locksim/lock/broken/mistake"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// seeds is the number of runs of each specimen and of each of its siblings, from seed 1.
func seeds() int {
	if os.Getenv("LOCKSIM_SOAK") == "" {
		return 5
	}
	return 10
}

// trial is a schedule that shows a mistake.
type trial struct {
	specimen string
	story    string                                 // a scenario file, without its name and lock.kind
	more     func(ttl time.Duration) []faults.Fault // faults in proportion to the TTL
	app      app                                    // the program between workload and lock; nil: none
	sibling  sibling                                // the correct lock of package lock
}

// The detector of each specimen catches it, in a schedule of its fault class and with a TTL of its range. In the same
// seeds it does not catch the same code with the right line, nor the lock that replaces it.
func TestSpecimensAreCaught(t *testing.T) {
	tried := map[string]bool{}
	for _, tr := range trials {
		tried[tr.specimen] = true
		t.Run(tr.specimen, func(t *testing.T) { tr.run(t) })
	}
	for _, s := range broken.All() {
		if !tried[s.Name] {
			t.Errorf("%s has no trial", s.Name)
		}
	}
}

func (tr trial) run(t *testing.T) {
	s, sc := tr.load(t)
	caught := tr.count(t, sc, s, tr.specimenLock(s.Name, s), seeds())
	if caught == 0 {
		t.Errorf("not caught in any of %d seeds", seeds())
	}
	right := tr.count(t, sc, s, tr.specimenLock("right line", s.Right()), seeds())
	if right > 0 {
		t.Errorf("the code with the right line is caught in %d of %d seeds", right, seeds())
	}
	t.Logf("detector %s: caught in %d of %d seeds; with the right line in %d", s.Detector, caught, seeds(), right)
	if tr.sibling.make == nil {
		return
	}
	bySibling := tr.count(t, sc, s, tr.siblingLock(s), seeds())
	if bySibling > 0 {
		t.Errorf("the sibling %s is caught in %d of %d seeds", tr.sibling.name, bySibling, seeds())
	}
	t.Logf("sibling %s: caught in %d", tr.sibling.name, bySibling)
}

// load returns the trial's specimen and scenario, and checks that the scenario is within the specimen's bounds.
func (tr trial) load(t *testing.T) (broken.Specimen, *file.Scenario) {
	t.Helper()
	s, err := broken.Find(tr.specimen)
	if err != nil {
		t.Fatal(err)
	}
	sc, err := file.Parse(s.Name+".yaml", []byte("name: "+s.Name+"\n"+tr.story))
	if err != nil {
		t.Fatal(err)
	}
	if tr.more != nil {
		sc.Faults = append(sc.Faults, tr.more(sc.Lock.TTL)...)
	}
	if sc.Lock.TTL < s.MinTTL || sc.Lock.TTL > s.MaxTTL {
		t.Errorf("the TTL %v is not between %v and %v", sc.Lock.TTL, s.MinTTL, s.MaxTTL)
	}
	if len(sc.Faults) == 0 && s.Fault != "" {
		t.Errorf("no faults, and the fault class is %s", s.Fault)
	}
	for _, f := range sc.Faults {
		if class := faults.ClassIn(sc.Faults, f.Action); class != s.Fault {
			t.Errorf("%v is of class %s, and the fault class is %s", f.Action, class, s.Fault)
		}
	}
	return s, sc
}

// count runs every seed and returns the number of runs that the specimen's detector catches. A run in which a fault did
// not strike proves nothing.
func (tr trial) count(t *testing.T, sc *file.Scenario, s broken.Specimen, l subject.Lock, seeds int) (seen int) {
	t.Helper()
	sees := detectors[s.Detector]
	for seed := range uint64(seeds) {
		seed++
		opts := play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.Mode(s.Mode)}}
		if seed == 1 {
			opts.Repeat = outcome.Twice
		}
		o, err := play.Run(sc, l, opts)
		if err != nil {
			t.Fatal(err)
		}
		if never := o.NeverFired(); len(never) > 0 {
			t.Errorf("%s, seed %d: fault %d did not strike", l.Name, seed, never[0]+1)
		}
		if sees(sc, o.Modes[0]) {
			seen++
		}
	}
	return seen
}

// detectors are the detectors by name.
var detectors = map[mistake.Detector]func(*file.Scenario, outcome.ModeRun) bool{
	mistake.ClaimOverlaps: func(_ *file.Scenario, m outcome.ModeRun) bool { return m.Verdict.Facts.ClaimOverlaps > 0 },
	mistake.Corrupted:     func(_ *file.Scenario, m outcome.ModeRun) bool { return m.Verdict.Label == checker.Corrupted },
	mistake.FalseRejects:  func(_ *file.Scenario, m outcome.ModeRun) bool { return m.Verdict.Facts.FalseRejects > 0 },
	mistake.Stuck: func(_ *file.Scenario, m outcome.ModeRun) bool {
		return m.Verdict.Facts.Liveness == checker.LivenessStuck
	},
	mistake.Leaked: func(_ *file.Scenario, m outcome.ModeRun) bool {
		return m.Verdict.Facts.Liveness == checker.LivenessLeaked
	},
	mistake.VoidGrants: func(_ *file.Scenario, m outcome.ModeRun) bool { return m.Verdict.Facts.VoidGrants > 0 },
	mistake.Overtaken:  func(_ *file.Scenario, m outcome.ModeRun) bool { return m.Verdict.Facts.Overtaken > 0 },
	mistake.Denied:     func(_ *file.Scenario, m outcome.ModeRun) bool { return m.Verdict.Facts.Denied > 0 },
	mistake.Overdue:    func(_ *file.Scenario, m outcome.ModeRun) bool { return m.Verdict.Facts.Overdue > 0 },
	mistake.LeaderlessOverdue: func(_ *file.Scenario, m outcome.ModeRun) bool {
		return m.Verdict.Facts.LeaderlessOverdue > 0
	},
	mistake.Misconduct:    func(_ *file.Scenario, m outcome.ModeRun) bool { return m.Verdict.Facts.Misconduct > 0 },
	mistake.RevivedClaims: func(_ *file.Scenario, m outcome.ModeRun) bool { return m.Verdict.Facts.RevivedClaims > 0 },
	mistake.LongestWait: func(sc *file.Scenario, m outcome.ModeRun) bool {
		holders := time.Duration(sc.World.Clients) * (sc.Lock.TTL + sc.Workload.Hold)
		return m.LongestWait > 2*holders
	},
}
