package sweep

import (
	"errors"
	"fmt"
	"slices"

	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// Part is one of the two parts of a sweep.
type Part string

const (
	// Singles are the placements, one fault each.
	Singles Part = ""
	// Pairs are pairs of them.
	Pairs Part = "pairs"
)

// Job is a part of a sweep that is done in one go. It is a value that can
// be sent to another process.
type Job struct {
	Plan   Plan `json:"plan"`
	Number int  `json:"number"`
	// Of says what is tried: Runs placements or pairs, from number First on.
	Of    Part `json:"of,omitempty"`
	First int  `json:"first"`
	Runs  int  `json:"runs"`
}

// Block is what became of a [Job]. It depends on the job alone.
type Block struct {
	// Job is the number of the job.
	Job int `json:"job"`
	Tally
	// Hits are violations, the first of each shape.
	Hits []Hit `json:"hits,omitempty"`
	// Unsteady is the first run that came out differently when it was made
	// again, Broken the first that came to no end.
	Unsteady *Run `json:"unsteady,omitempty"`
	Broken   *Run `json:"broken,omitempty"`
}

// Hit is a violation, and the runs of its block that are like it.
type Hit struct {
	// Shape is what the faults that were placed have done; see [play.Shape].
	Shape string `json:"shape"`
	Runs  int    `json:"runs"`
	// Number is the placement or the pair, and Faults says what it is.
	Number int    `json:"number"`
	Faults string `json:"faults"`
	// Kinds are the kinds of the placements, as [Kinds] names them.
	Kinds []string `json:"kinds"`
}

// Run is a run that says nothing about its lock.
type Run struct {
	// Faults are what was placed, Why is an error in words.
	Faults string `json:"faults"`
	Why    string `json:"why"`
}

// Play makes the runs, and calls step after each of them. One of 50 runs is made
// again and compared. extra are locks besides those that come with locksim.
//
// That a run fails is no error. Errors are those of [file.Parse] and [play.FindLock], a run
// without faults that is not that of the plan, and a [*play.Frozen], after
// which the process is of no more use.
func (j Job) Play(extra []play.Lock, step func()) (Block, error) {
	s := &sweeper{job: j, step: step, block: Block{Job: j.Number}}
	if err := s.prepare(extra); err != nil {
		return s.block, err
	}
	err := s.sweep()
	return s.block, err
}

// sweeper is a job at work.
type sweeper struct {
	job   Job
	calm  *file.Scenario
	lock  play.Lock
	all   []placement
	step  func()
	block Block
}

// prepare plays the run without faults once more, and finds its boundaries.
func (s *sweeper) prepare(extra []play.Lock) error {
	p := &s.job.Plan
	if err := p.problem(); err != nil {
		return err
	}
	calm, err := file.Parse(p.Scenario+sweptSuffix+".yaml", []byte(p.Source), play.ServerNames(extra...)...)
	if err != nil {
		return err
	}
	l, err := play.FindLock(p.Lock, extra)
	if err != nil {
		return err
	}
	s.calm, s.lock = calm, p.judged(l)
	run, err := p.calmRun(s.lock, calm, play.Once)
	if err != nil {
		return err
	}
	places, err := p.places(s.lock, run)
	if err != nil {
		return err
	}
	s.all = places.all
	if run.TraceHash != p.TraceHash || len(s.all) != p.Placements {
		return fmt.Errorf("%w: lock %s, scenario %s, seed %d", ErrAnotherRun, p.Lock, p.Scenario, p.Seed)
	}
	return nil
}

// ErrAnotherRun is wrapped by the error of [Job.Play] where the run without
// faults came out differently than when the sweep was planned.
var ErrAnotherRun = errors.New("the run without faults is not the one whose boundaries were planned: another version of the lock or of locksim, or the lock is not deterministic")

// sweep makes the runs.
func (s *sweeper) sweep() error {
	placed := s.placed(s.job.Of)
	for n := s.job.First; n < s.job.First+s.job.Runs; n++ {
		if err := s.one(n, placed(n)); err != nil {
			return err
		}
		s.step()
	}
	return nil
}

// placed finds placements or pairs by their number.
func (s *sweeper) placed(of Part) func(n int) []placement {
	if of == Singles {
		return func(n int) []placement { return s.all[n : n+1] }
	}
	all := newPairs(s.all, outageOf(s.job.Plan.TTL))
	sample := all.sample(s.job.Plan.Pairs, s.job.Plan.Seed)
	return func(n int) []placement {
		first, second, _ := all.pair(sample[n])
		return []placement{first, second}
	}
}

// one makes the run of a number. What other faults than those that were placed
// have done does not count: one of these has not come about.
func (s *sweeper) one(n int, placed []placement) error {
	sc := placed[0].scenario(s.calm, placed[1:]...)
	o, broken, err := s.lock.Try(sc, s.job.Plan.Seed)
	if err != nil {
		return s.broken(sc, err)
	}
	if slices.Contains(o.Modes[0].FaultsFired, false) {
		broken = nil
	}
	if len(broken) > 0 && len(placed) > 1 {
		known, err := s.alone(broken[0], placed)
		if err != nil {
			return err
		}
		if known {
			s.block.Reduced++
			broken = nil
		}
	}
	s.block.count(o, placed, broken)
	if len(broken) > 0 {
		s.note(Hit{Shape: play.Shape(sc, broken), Runs: 1, Number: n, Faults: placedIn(sc), Kinds: kindsIn(placed)})
		return nil
	}
	if n%sweepAgain == 0 {
		return s.again(o)
	}
	return nil
}

// sweepAgain is how many runs there are to one that is made again.
const sweepAgain = 50

// alone reports whether one of two placements alone does what both have done.
func (s *sweeper) alone(violation play.Violation, placed []placement) (bool, error) {
	for _, p := range placed {
		sc := p.scenario(s.calm)
		_, broken, err := s.lock.Try(sc, s.job.Plan.Seed)
		if err != nil {
			return false, s.broken(sc, err)
		}
		if slices.Contains(broken, violation) {
			return true, nil
		}
	}
	return false, nil
}

// again makes a run again and compares the two.
func (s *sweeper) again(o *play.Outcome) error {
	other, _, err := s.lock.Try(o.Scenario, o.Seed)
	if err != nil {
		return s.broken(o.Scenario, err)
	}
	if differs := play.Differ(o, other); differs != nil {
		s.unsteady(placedIn(o.Scenario), differs.Error())
	}
	return nil
}

// broken counts a run that came to no end. The error is one that ends the job.
func (s *sweeper) broken(sc *file.Scenario, err error) error {
	if _, frozen := errors.AsType[*play.Frozen](err); frozen {
		return fmt.Errorf("%s: %w", placedIn(sc), err)
	}
	s.block.Failed++
	if s.block.Broken == nil {
		s.block.Broken = &Run{placedIn(sc), err.Error()}
	}
	return nil
}

// unsteady counts a run that came out differently when it was made again.
func (s *sweeper) unsteady(what, why string) {
	s.block.Nondeterministic++
	if s.block.Unsteady == nil {
		s.block.Unsteady = &Run{what, why}
	}
}

// note keeps the first run of each shape.
func (s *sweeper) note(h Hit) {
	i := slices.IndexFunc(s.block.Hits, func(other Hit) bool { return other.Shape == h.Shape })
	if i < 0 {
		s.block.Hits = append(s.block.Hits, h)
		return
	}
	s.block.Hits[i].Runs++
}

// placedIn says which faults a scenario has.
func placedIn(sc *file.Scenario) string { return placement{faults: sc.Faults}.String() }

func kindsIn(placed []placement) []string {
	kinds := make([]string, len(placed))
	for i, p := range placed {
		kinds[i] = p.kind
	}
	return kinds
}
