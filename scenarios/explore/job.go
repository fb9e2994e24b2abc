package explore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/records"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/subject"
)

// Job is a part of an exploration that one process does. It is a value that can be
// sent to another process.
type Job struct {
	Plan   explorations.Plan `json:"plan"`
	Number int               `json:"number"`
	// Seeds are the seeds of its runs.
	Seeds outcome.Seeds `json:"seeds"`
	// Minimal is how many failures are made minimal at most, of different shapes. 0 is for four.
	Minimal int `json:"minimal,omitempty"`
	// Records is the folder in which it stores the records of its runs; "" for none. They change nothing of its result.
	Records string `json:"records,omitempty"`
}

// maxExamined is how many failures of a block are examined at most, unless a job says otherwise. Each
// examination takes hundreds of runs.
const maxExamined = 4

// NewJob is one of the jobs of a plan, numbered from 0.
func NewJob(p *explorations.Plan, i int) Job {
	first := p.FirstSeed + uint64(i*p.Block)
	runs := min(p.Block, p.Runs-i*p.Block)
	return Job{Plan: *p, Number: i, Seeds: outcome.Seeds{First: first, Last: first + uint64(runs-1)}}
}

// Play makes the runs, and calls step after each of them. extra are locks that do
// not come with locksim.
//
// A failing run is no error, nor is one without a verdict. Errors are those of [redislocks.Find], and an invalid plan.
// After a frozen run the process should be replaced.
func (j Job) Play(extra []subject.Lock, step func()) (explorations.Block, error) {
	return j.Watch(extra, step, func(*search.Trial) bool { return false })
}

// Watch does what Play does, and shows each run that is counted, in order: also those of the runs without faults, with
// which an exploration begins, that fail. No run is drawn after one of which saw says that it is enough.
func (j Job) Watch(extra []subject.Lock, step func(),
	saw func(*search.Trial) (enough bool)) (explorations.Block, error) {
	b := &block{Block: explorations.Block{Job: j.Number, Seeds: j.Seeds}, saw: saw}
	err := b.play(j, extra, step)
	return b.Block, err
}

// block is a block that is made.
type block struct {
	explorations.Block
	saw func(*search.Trial) bool
}

func (b *block) play(j Job, extra []subject.Lock, step func()) error {
	if err := errors.Join(j.Plan.Problem(), j.Plan.Space.Validate()); err != nil {
		return err
	}
	l, err := redislocks.Find(j.Plan.Lock, extra)
	if err != nil {
		return err
	}
	kept, err := records.Keep(j.Records, j.Number)
	if err != nil {
		return err
	}
	var found []search.Found
	if j.Number == 0 {
		if found, err = b.playCalm(j, l); err != nil || j.Plan.Collect == explorations.CollectFirst && b.Ends() {
			return errors.Join(err, b.examine(found, cmp.Or(j.Minimal, maxExamined), step))
		}
	}
	for t := range search.Trials(Judged(l, j.Plan.Judge), search.Drawn(Judged(l, j.Plan.Judge), j.Plan.Space, j.Seeds)) {
		b.Add(t.Tally())
		enough := b.saw(t)
		b.Courses.Add(t.Courses())
		if err := kept.Add(t.String(), t.Outcome); err != nil {
			return err
		}
		if len(t.Violations) > 0 {
			found = keep(found, t)
		}
		step()
		if j.Plan.Collect == explorations.CollectFirst && b.Ends() || t.Loops() || enough || b.TooMany(j.Plan.Runs) != "" {
			break
		}
	}
	return errors.Join(kept.Close(), b.examine(found, cmp.Or(j.Minimal, maxExamined), step))
}

// Unit is what the job makes after so many steps: a run with its schedule, or something else of which the seed is not
// known.
func (j Job) Unit(steps int) (what string, seed uint64, ok bool) {
	if steps >= j.Seeds.Len() {
		return "while a failure was examined", 0, false
	}
	seed = j.Seeds.First + uint64(steps)
	what = fmt.Sprintf("in the run with seed %d", seed)
	if j.Number == 0 && steps == 0 {
		what = "in the runs without faults with which a search begins, or " + what
	}
	sc, ok := search.DrawnAlone(j.Plan.Space, seed)
	if !ok {
		return what + ", whose schedule is a variation of another one: play it alone, with --from-seed and --runs 1", seed,
			true
	}
	source, err := file.Format(sc)
	if err != nil {
		return what, seed, true // it is in the error of the run, which did not end by it
	}
	return what + ", whose schedule is\n  " + strings.ReplaceAll(strings.TrimSpace(string(source)), "\n", "\n  "), seed,
		true
}

// playCalm makes the runs without faults with which an exploration begins. Only those
// that fail are counted.
func (b *block) playCalm(j Job, l subject.Lock) ([]search.Found, error) {
	var found []search.Found
	for t := range search.CalmTrials(Judged(l, j.Plan.Judge), j.Plan.Space) {
		if t.Loops() {
			return nil, t.Err
		}
		n := t.Tally()
		if len(t.Violations) == 0 && t.Err == nil {
			n = n.WithoutFaults()
		}
		b.Add(n)
		if len(t.Violations) > 0 {
			b.saw(t)
			found = keep(found, t)
		}
	}
	return found, nil
}

// keep adds the failure of a trial to those of other shapes.
func keep(all []search.Found, t *search.Trial) []search.Found {
	return failure.Keep(all, search.NewFound(t), func(f *search.Found) *failure.Failure { return &f.Failure })
}

// examine makes failures minimal: those with the fewest faults first, and among
// them those that no minimal failure explains.
func (b *block) examine(found []search.Found, most int, step func()) error {
	slices.SortStableFunc(found, func(x, y search.Found) int { return x.Faults - y.Faults })
	var minimal failure.Failures
	for range min(most, len(found)) {
		i := slices.IndexFunc(found, func(f search.Found) bool {
			return !slices.ContainsFunc(minimal, func(known failure.Failure) bool { return known.Explains(&f.Failure) })
		})
		i = max(i, 0)
		f := found[i]
		found = slices.Delete(found, i, i+1)
		c, err := f.Case(), f.Examine(nil)
		if err != nil {
			b.Add(c.Failed(err))
			b.Unexamined += f.Runs
		} else {
			minimal = append(minimal, f.Failure)
			if f.Same < f.Replays && kinds.Reserved(f.Lock) {
				b.Add(c.Unsteady(fmt.Sprintf("the run replays %d times of %d\n%s", f.Same, f.Replays, f.Divergence)))
			}
		}
		step()
	}
	for _, f := range minimal {
		f.Outcome = nil
		b.Failures = append(b.Failures, f)
	}
	for _, f := range found {
		b.Unexamined += f.Runs
	}
	return nil
}
