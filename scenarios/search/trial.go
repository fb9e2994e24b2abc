package search

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// Case is a scenario with a seed, which a search plays.
type Case struct {
	Scenario *file.Scenario
	// Seed is the seed by which the search names it.
	Seed uint64
	// Run is the seed with which it is played, if that is another one: that of a run that came near a violation, of which
	// this scenario is a variation.
	Run uint64
	// Placed is the fault that a sweep has placed in the scenario. It is nil in
	// every other search.
	Placed *failure.Placed

	learn func(*Trial) // tells the strategy that made it how it went; nil for one that does not look back
}

// Played is the seed with which the case is played.
func (c Case) Played() uint64 { return cmp.Or(c.Run, c.Seed) }

// String names the case among those of its search: "seed 7", or what was placed.
func (c Case) String() string {
	if c.Placed != nil {
		return c.Placed.Faults
	}
	return fmt.Sprintf("seed %d", c.Seed)
}

// NoVerdict says in a line why a run has no verdict, if its error may be that of a single run: it was frozen, left
// goroutines behind, or came to a limit. It is "" for every other error, which ends a search: a lock that cannot be
// made, a contradiction of the judges, a goroutine that loops on in this process.
func NoVerdict(err error) string {
	if frozen, ok := errors.AsType[*play.Frozen](err); ok && !frozen.Loops {
		return frozen.Brief
	}
	if leak, ok := errors.AsType[*play.Leak](err); ok {
		return leak.Brief()
	}
	if limit, ok := errors.AsType[*play.Limit](err); ok {
		return limit.Error()
	}
	return ""
}

// Trial is one run of a search: a case, played with a lock in the mode in which
// the lock is judged.
type Trial struct {
	Case
	// Outcome is the run, in that mode alone. It is nil if the run did not end.
	Outcome *outcome.Outcome
	// Violations are the ways in which the lock broke its promise.
	Violations []outcome.Violation
	// Vacuous says why the run is no evidence if it shows no violation; it is empty
	// if the run is evidence.
	Vacuous string
	// Difference is how the repetition of the run differed from it. It is nil if
	// they were equal, and if the run was not repeated.
	Difference *play.NondeterminismError
	// Borne says that the runs of the case differ, that none of ten breaks the promise, and that the search goes on: the
	// code is none of this project. Such a run is neither evidence nor a failure.
	Borne bool
	// Err is the error of [play.Run] with which the run, or its repetition, ended.
	Err error

	lock subject.Lock
}

// repeatEvery is the number of runs of a search for each that is repeated.
const repeatEvery = 20

// Trials is the loop of every search: it plays cases with a lock, one after
// another, and yields each run.
//
// One of 20 runs is repeated and compared, decided by the seed of a drawn scenario or the number of a placement, so
// that every process repeats the same runs. A run with a violation is not repeated here, since its examination repeats
// it. One that differs is played ten times in all, if the lock is none of this project: each play is judged.
func Trials(l subject.Lock, cases iter.Seq[Case]) iter.Seq[*Trial] {
	l = l.Cached()
	return func(yield func(*Trial) bool) {
		for c := range cases {
			number := c.Seed
			if c.Placed != nil {
				number = uint64(c.Placed.Number)
			}
			t := Play(l, c)
			if len(t.Violations) == 0 && number%repeatEvery == 0 {
				t.compare()
				t.settle()
			}
			if !yield(t) {
				return
			}
		}
	}
}

// PlayEach plays cases with a lock once, one after another.
func PlayEach(l subject.Lock, cases iter.Seq[Case]) iter.Seq[*Trial] {
	return func(yield func(*Trial) bool) {
		for c := range cases {
			if !yield(Play(l, c)) {
				return
			}
		}
	}
}

// Play plays a case once.
func Play(l subject.Lock, c Case) *Trial {
	t := &Trial{Case: c, lock: l}
	if t.Outcome, t.Violations, t.Err = play.Try(l, c.Scenario, c.Played()); t.Err == nil {
		t.Vacuous = outcome.Vacuous(t.Outcome)
	}
	if c.learn != nil {
		c.learn(t)
	}
	if c.Run != 0 && t.Err == nil && t.Vacuous == "" && len(t.Violations) == 0 {
		t.Vacuous = variation
	}
	return t
}

// variation is why a run that varies another one is no evidence: it was not drawn independently, so that it says
// nothing about a rate.
const variation = "a variation of another run"

// PlayTwice plays a case twice and compares the runs.
func PlayTwice(l subject.Lock, c Case) *Trial {
	t := Play(l, c)
	t.compare()
	return t
}

// compare repeats a run, if it ended, and stores how the repetition differs. If that breaks the promise, it is the run.
func (t *Trial) compare() {
	if t.Err == nil {
		again := t.repeat()
		t.Difference, t.Err = again.Difference, again.Err
		t.become(again)
	}
}

// become takes the place of a run without a violation by one of the same case that has one.
func (t *Trial) become(again *Trial) {
	if again.Err == nil && len(t.Violations) == 0 && len(again.Violations) > 0 {
		t.Outcome, t.Violations, t.Vacuous = again.Outcome, again.Violations, again.Vacuous
	}
}

// settle plays a run that differs again, to as many runs as a failure is played, up to the first that breaks the
// promise. A difference of a lock of this project is an error of this project, and stays one.
func (t *Trial) settle() {
	if t.Difference == nil || t.Err != nil || kinds.Reserved(t.lock.Name) {
		return
	}
	for n := 2; n < failure.Replays && len(t.Violations) == 0; n++ {
		again := Play(t.lock, t.Case)
		if again.Err != nil && NoVerdict(again.Err) == "" {
			t.Err = again.Err
			return
		}
		t.become(again)
	}
	t.Borne = len(t.Violations) == 0
}

// repeat plays the case of a run again. Difference is how the result differs from
// the run.
func (t *Trial) repeat() *Trial {
	again := Play(t.lock, t.Case)
	if again.Err == nil {
		again.Difference = play.Differ(t.lock, t.Outcome, again.Outcome)
	}
	return again
}

// Loops reports whether a goroutine of the run still loops in this process, where the search cannot go on.
func (t *Trial) Loops() bool {
	frozen, ok := errors.AsType[*play.Frozen](t.Err)
	return ok && frozen.Loops
}

// Struck reports whether every fault of the scenario struck.
func (t *Trial) Struck() bool { return !slices.Contains(t.Outcome.Modes[0].FaultsFired, false) }
