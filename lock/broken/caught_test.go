package broken_test

import (
	"testing"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/broken"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// seeds is how many runs each specimen and each of its siblings makes, from seed 1 on.
const seeds = 20

// trial is a schedule that shows a mistake.
type trial struct {
	specimen string
	story    string                                 // a scenario file, without its name and lock.kind
	more     func(ttl time.Duration) []faults.Fault // what is said in proportion to the TTL
	app      app                                    // what stands between workload and lock; nil for nothing
	sibling  sibling                                // the kind of package lock that has it right
}

// Each specimen is caught by its detector, in a schedule of its fault class and with a TTL of its range.
// In the very same seeds the detector sees nothing of the same code with the right line, nor of the lock
// that should be used instead.
func TestSpecimensAreCaught(t *testing.T) {
	tried := map[string]bool{}
	for _, tr := range trials {
		tried[tr.specimen] = true
		t.Run(tr.specimen, func(t *testing.T) { tr.run(t) })
	}
	for _, s := range broken.All() {
		if !tried[s.Name] {
			t.Errorf("%s is not tried", s.Name)
		}
	}
}

func (tr trial) run(t *testing.T) {
	s, sc := tr.load(t)
	caught := tr.count(t, sc, s, tr.wrap(s.Name, s), seeds)
	if caught == 0 {
		t.Errorf("not caught in any of %d seeds", seeds)
	}
	right := tr.count(t, sc, s, tr.wrap("right line", s.Right()), seeds)
	if right > 0 {
		t.Errorf("the same code with the right line is caught in %d of %d seeds", right, seeds)
	}
	t.Logf("%s sees it in %d of %d seeds, and the right line in %d", s.Detector, caught, seeds, right)
	if tr.sibling.make == nil {
		return
	}
	proper := tr.count(t, sc, s, tr.properLock(s), seeds)
	if proper > 0 {
		t.Errorf("the sibling %s is caught in %d of %d seeds", tr.sibling.name, proper, seeds)
	}
	t.Logf("and the sibling %s in %d", tr.sibling.name, proper)
}

// load returns the trial's specimen and scenario, which lies within what the specimen says of itself.
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

// count plays every seed and returns in how many of them the specimen's detector sees something. A run in
// which a fault did not strike is no evidence.
func (tr trial) count(t *testing.T, sc *file.Scenario, s broken.Specimen, l play.Lock, seeds int) (seen int) {
	t.Helper()
	sees := detectors[s.Detector]
	for seed := range uint64(seeds) {
		seed++
		opts := play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.Mode(s.Mode)}}
		if seed == 1 {
			opts.Repeat = play.Twice
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

// detectors are what the names of detectors stand for.
var detectors = map[broken.Detector]func(*file.Scenario, play.ModeRun) bool{
	broken.ClaimOverlaps: func(_ *file.Scenario, m play.ModeRun) bool { return m.Verdict.Facts.ClaimOverlaps > 0 },
	broken.Corrupted:     func(_ *file.Scenario, m play.ModeRun) bool { return m.Verdict.Label == checker.Corrupted },
	broken.FalseRejects:  func(_ *file.Scenario, m play.ModeRun) bool { return m.Verdict.Facts.FalseRejects > 0 },
	broken.Stuck: func(_ *file.Scenario, m play.ModeRun) bool {
		return m.Verdict.Facts.Liveness == checker.LivenessStuck
	},
	broken.Leaked: func(_ *file.Scenario, m play.ModeRun) bool {
		return m.Verdict.Facts.Liveness == checker.LivenessLeaked
	},
	broken.LongestWait: func(sc *file.Scenario, m play.ModeRun) bool {
		holders := time.Duration(sc.World.Clients) * (sc.Lock.TTL + sc.Workload.Hold)
		return m.LongestWait > 2*holders
	},
}
