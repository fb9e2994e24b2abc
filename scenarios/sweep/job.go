package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/records"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/placing"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/subject"
)

// Job is a part of a sweep that one process does. It is a value that can be sent to
// another process.
type Job struct {
	Plan   sweeps.Plan `json:"plan"`
	Number int         `json:"number"`
	// Of is the part that is tried: Runs placements or pairs, from number First on.
	Of    sweeps.Part `json:"of,omitempty"`
	First int         `json:"first"`
	Runs  int         `json:"runs"`
	// Records is the folder in which it stores the records of its runs; "" for none. They change nothing of its result.
	Records string `json:"records,omitempty"`
}

// NewJob is one of the jobs of a plan, numbered from 0.
func NewJob(p *sweeps.Plan, i int) Job {
	j := Job{Plan: *p, Number: i}
	n := p.Placements
	if singles := p.Blocks(n); i >= singles {
		j.Of, n, i = sweeps.Pairs, p.Pairs, i-singles
	}
	j.First = i * p.Block
	j.Runs = min(p.Block, n-j.First)
	return j
}

// Play makes the runs, and calls step after each of them. extra are locks that do
// not come with locksim.
//
// A failing run is no error. Errors are those of [file.Parse] and [redislocks.Find], a run without faults that differs
// from that of the plan, and a [*play.Frozen] of a goroutine that loops. After a frozen run the process should be
// replaced.
func (j Job) Play(extra []subject.Lock, step func()) (sweeps.Block, error) {
	b := &block{sweeps.Block{Job: j.Number}}
	err := b.play(j, extra, step)
	return b.Block, err
}

// block is a block that is made.
type block struct{ sweeps.Block }

func (b *block) play(j Job, extra []subject.Lock, step func()) error {
	s, err := newSweeper(&j.Plan, j.Of, extra)
	if err != nil {
		return err
	}
	kept, err := records.Keep(j.Records, j.Number)
	if err != nil {
		return err
	}
	cases := func(yield func(search.Case) bool) {
		for n := range j.Runs {
			if !yield(s.numbered(j.First + n)) {
				return
			}
		}
	}
	for t := range search.Trials(s.lock, cases) {
		if err := cmp.Or(b.count(s, t), kept.Add(t.String(), t.Outcome)); err != nil {
			return err
		}
		if len(t.Violations) > 0 {
			f := search.NewFound(t)
			b.Failures.Add(f.Value())
		}
		step()
		if t.Loops() || b.TooMany(j.Plan.Runs()) != "" {
			break
		}
	}
	return kept.Close()
}

// count counts a run. It removes the violations of a run in which a fault did not
// strike, since the placed faults are not their cause then, and of a pair of which
// one placement alone does the same. An error ends the job.
func (b *block) count(s *sweeper, t *search.Trial) error {
	if t.Outcome == nil || t.Borne {
		b.Tally.Tally.Add(t.Tally())
		return nil
	}
	pair := len(t.Placed.Kinds) > 1
	if !t.Struck() {
		t.Violations, t.Vacuous = nil, tally.Missed
	}
	if pair && len(t.Violations) > 0 {
		reduced, err := b.reduces(s, t)
		if err != nil {
			return err
		}
		if reduced {
			b.Reduced++
			t.Violations = nil
		}
	}
	b.Tally.Tally.Add(t.Tally())
	if pair {
		b.Pairs++
		return nil
	}
	n := tally.FaultTally{Planned: 1, Struck: oneIf(t.Struck()), Violating: oneIf(len(t.Violations) > 0)}
	b.Kinds = tally.AddTallies(b.Kinds, map[string]tally.FaultTally{t.Placed.Kinds[0]: n})
	return nil
}

// reduces reports whether one of the two placements of a run alone has the same
// result as both.
func (b *block) reduces(s *sweeper, t *search.Trial) (bool, error) {
	for _, p := range s.placements(t.Placed.Number) {
		alone := search.Play(s.lock, s.of(t.Placed.Number, p))
		if alone.Loops() {
			return false, alone.Err
		}
		if alone.Err != nil {
			b.Tally.Tally.Add(alone.Tally())
			return false, nil
		}
		if slices.Contains(alone.Violations, t.Violations[0]) {
			return true, nil
		}
	}
	return false, nil
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// sweeper makes the cases of one part of a plan.
type sweeper struct {
	plan *sweeps.Plan
	calm *file.Scenario
	lock subject.Lock
	// placements are the placements of a case by its number: one, or a pair.
	placements func(n int) []placing.Placement
}

// newSweeper plays the run without faults again, and finds its boundaries.
func newSweeper(p *sweeps.Plan, of sweeps.Part, extra []subject.Lock) (*sweeper, error) {
	if err := p.Problem(); err != nil {
		return nil, err
	}
	calm, err := file.Parse(p.Scenario+sweptSuffix+".yaml", []byte(p.Source), subject.ServerNames(extra...)...)
	if err != nil {
		return nil, err
	}
	l, err := redislocks.Find(p.Lock, extra)
	if err != nil {
		return nil, err
	}
	s := &sweeper{plan: p, calm: calm, lock: explore.Judged(l, p.Judge)}
	run, err := calmRun(p, search.Play(s.lock, search.Case{Scenario: calm, Seed: p.Seed}))
	if err != nil {
		return nil, err
	}
	places := enumerate(p, calm, s.lock, run)
	if run.Trace.Hash() != p.TraceHash || len(places.All) != p.Placements {
		return nil, fmt.Errorf("%w: lock %s, scenario %s, seed %d", ErrAnotherRun, p.Lock, p.Scenario, p.Seed)
	}
	s.placements = func(n int) []placing.Placement { return places.All[n : n+1] }
	if of == sweeps.Pairs {
		all := placing.NewPairs(places.All, placing.Outage(p.TTL))
		sample := all.Sample(p.Pairs, p.Seed)
		s.placements = func(n int) []placing.Placement {
			first, second, _ := all.Pair(sample[n])
			return []placing.Placement{first, second}
		}
	}
	return s, nil
}

// ErrAnotherRun is wrapped by the error of [Job.Play] if the run without faults
// differs from the one for which the sweep was planned.
var ErrAnotherRun = errors.New("the run without faults is not the one whose boundaries were planned: the lock or " +
	"locksim has another version, or the lock is not deterministic")

func (s *sweeper) numbered(n int) search.Case { return s.of(n, s.placements(n)...) }

// of is the case of a scenario with some placements in it.
func (s *sweeper) of(n int, placed ...placing.Placement) search.Case {
	sc := placed[0].Scenario(s.calm, placed[1:]...)
	kinds := make([]string, len(placed))
	for i, p := range placed {
		kinds[i] = p.Kind
	}
	return search.Case{Scenario: sc, Seed: s.plan.Seed,
		Placed: &failure.Placed{Number: n, Faults: placing.Text(sc.Faults), Kinds: kinds}}
}

// Examination is a failure of a sweep that is to be examined. It is a value that
// can be sent to another process.
//
// It takes hundreds of runs to make a failure minimal, and most blocks have
// failures of the same few shapes. So a sweep examines one of each shape after all
// blocks, rather than one of each block.
type Examination struct {
	Plan sweeps.Plan `json:"plan"`
	// Shape is the shape of the failure, Placed its placement.
	Shape  string         `json:"shape"`
	Placed failure.Placed `json:"placed"`
}

// Examinations are the failures to examine: of each shape the first, or the first
// of those with the fewest faults.
func Examinations(p *sweeps.Plan, blocks map[int]sweeps.Block) []Examination {
	var failures failure.Failures
	for _, i := range slices.Sorted(maps.Keys(blocks)) {
		for _, f := range blocks[i].Failures {
			failures.Add(f)
		}
	}
	var out []Examination
	for _, f := range failures {
		out = append(out, Examination{Plan: *p, Shape: f.Shape, Placed: *f.Placed})
	}
	return out
}

// Play examines the failure. extra are locks that do not come with locksim.
// Errors are those of [Job.Play] and [search.Found.Examine].
func (e Examination) Play(extra []subject.Lock) (*failure.Failure, error) {
	of := sweeps.Singles
	if len(e.Placed.Kinds) > 1 {
		of = sweeps.Pairs
	}
	s, err := newSweeper(&e.Plan, of, extra)
	if err != nil {
		return nil, err
	}
	t := search.Play(s.lock, s.numbered(e.Placed.Number))
	if t.Err != nil {
		return nil, fmt.Errorf("%s, to be examined: %w", e.Shape, t.Err)
	}
	found := search.NewFound(t)
	if err := found.Examine(nil); err != nil {
		return nil, fmt.Errorf("%s, to be examined: %w", e.Shape, err)
	}
	f := found.Value()
	return &f, nil
}
