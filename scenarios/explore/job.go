package explore

import (
	"errors"
	"fmt"

	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Job is a part of an exploration that is done in one go. It is a value
// that can be sent to another process.
type Job struct {
	Plan   Plan `json:"plan"`
	Number int  `json:"number"`
	// Seeds are those of its runs.
	Seeds search.Seeds `json:"seeds"`
}

// Block is what became of an [Job]. It depends on the job alone.
type Block struct {
	// Job is the number of the job, Seeds are those of its runs. In a block that
	// ends the exploration, those behind the run that fails were not made.
	Job   int          `json:"job"`
	Seeds search.Seeds `json:"seeds"`
	Tally
	// Found are violations, made as small as they get: of each signature one,
	// and of no more than maxExamined of them.
	Found []Found `json:"found,omitempty"`
	// Unexamined counts the runs with a violation that is like none in Found.
	Unexamined int `json:"unexamined,omitempty"`
	// Unsteady is the first run that came out differently when it was made
	// again, Broken the first that came to no end.
	Unsteady *Run `json:"unsteady,omitempty"`
	Broken   *Run `json:"broken,omitempty"`
}

// Found is a violation, and the runs that are like the one it was found
// in.
type Found struct {
	// Signature is what these runs have in common: the labels of the violations,
	// and the kinds of fault that had struck.
	Signature string `json:"signature"`
	// Runs counts them.
	Runs int `json:"runs"`
	*search.Found
}

// Run is a run that says nothing about its lock.
type Run struct {
	Seed uint64 `json:"seed"`
	// Why is an error, in words.
	Why string `json:"why"`
}

// maxExamined bounds the violations of a block that are examined, which takes
// hundreds of runs each; unsteadyEvery is how many runs there are to one that is
// made again.
const (
	maxExamined   = 4
	unsteadyEvery = 20
)

// Ends reports whether a run of the block has failed: the lock broke its promise,
// the run came out differently when it was made again, or it came to no end.
func (b *Block) Ends() bool { return b.Violating+b.Nondeterministic+b.Failed > 0 }

// Play makes the runs, and calls step after each of them. One of 20 runs is made
// again and compared. extra are locks besides those that come with locksim.
//
// That a run fails is no error. Errors are those of [play.FindLock], a plan that makes
// no sense, and a [*play.Frozen], after which the process is of no more use.
func (j Job) Play(extra []play.Lock, step func()) (Block, error) {
	e := &explorer{job: j, block: Block{Job: j.Number, Seeds: j.Seeds}, step: step}
	if err := errors.Join(j.Plan.problem(), j.Plan.Space.Validate()); err != nil {
		return e.block, err
	}
	l, err := play.FindLock(j.Plan.Lock, extra)
	if err != nil {
		return e.block, err
	}
	e.lock = j.Plan.judged(l)
	return e.block, e.explore()
}

// explorer is a job at work.
type explorer struct {
	job   Job
	lock  play.Lock
	step  func()
	block Block
	hits  []hit // of each signature the run with the fewest faults
	known []hit // those that were examined, as small as they got
}

func (e *explorer) explore() error {
	for i := range e.job.Seeds.Len() {
		seed := e.job.Seeds.First + uint64(i)
		if err := e.one(i, search.Draw(search.Seeded(seed), e.job.Plan.Space), seed); err != nil {
			return err
		}
		e.step()
		if e.job.Plan.Collect == CollectFirst && e.block.Ends() {
			break
		}
	}
	return e.examine()
}

// one makes the i-th run. The error is one that ends the job.
func (e *explorer) one(i int, sc *file.Scenario, seed uint64) error {
	o, broken, err := e.lock.Try(sc, seed)
	if err != nil {
		return e.broken(seed, err)
	}
	e.block.count(o, broken)
	if len(broken) > 0 {
		e.note(newHit(o, broken))
		return nil // which is made again when it is examined
	}
	if i%unsteadyEvery == 0 {
		return e.again(o)
	}
	return nil
}

// again makes a run again and compares the two.
func (e *explorer) again(o *play.Outcome) error {
	other, _, err := e.lock.Try(o.Scenario, o.Seed)
	if err != nil {
		return e.broken(o.Seed, err)
	}
	if differs := play.Differ(o, other); differs != nil {
		e.unsteady(o.Seed, differs.Error())
	}
	return nil
}

// broken counts a run that came to no end.
func (e *explorer) broken(seed uint64, err error) error {
	if _, frozen := errors.AsType[*play.Frozen](err); frozen {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	e.block.Failed++
	if e.block.Broken == nil {
		e.block.Broken = &Run{seed, err.Error()}
	}
	return nil
}

// unsteady counts a run that came out differently when it was made again.
func (e *explorer) unsteady(seed uint64, why string) {
	e.block.Nondeterministic++
	if e.block.Unsteady == nil {
		e.block.Unsteady = &Run{seed, why}
	}
}
