package worlds

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/book"
	"locksim/internal/live"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// Options say what is played.
type Options struct {
	// Plan has the scenarios, the locks, the modes, and the seeds of the simulated world.
	Plan *matrix.Plan
	// Seeds are those of the plan.
	Seeds outcome.Seeds
	// ByLock takes the modes that suit each lock in place of those of the plan.
	ByLock bool
	// Extra are locks that do not come with locksim.
	Extra []subject.Lock
	// Times is the number of live runs of each pair, Together how many are made at once.
	Times, Together int
	// Scale is by what the durations of live runs are multiplied. 0 means for each pair the smallest that its servers can
	// take, and 0.3 at least: a machine with other work to do is then late by a small part of a lease only.
	Scale float64
	// Journal is the file with the live runs that have been made, which are not made again. "" means none.
	Journal string
	// Replay makes the commands of [Pair].
	Replay func(scenario, lock string, scale float64, modes []fence.Mode) string
	// Step is called after each pair that was simulated, and after each live run, with the number of them so far; what
	// says which it is. Calls do not overlap.
	Step func(what string, done, of int)
}

// Steady is the least scale of [Compare] by default: a machine with other work to do is late by a small part of a lease
// only.
const Steady = 0.3

// pair is a scenario with a lock, in both worlds.
type pair struct {
	scenario *file.Scenario
	lock     subject.Lock
	scale    float64
	modes    []fence.Mode
	jobs     []matrix.Job

	simulated counts
	misfit    string // why the simulated world refuses the pair
	runs      []run  // the live ones
	skipped   string // why the live world cannot play it

	twins map[end]twin // of the labels that only live runs have
}

// Compare plays all pairs in both worlds. After the end of ctx the table has the pairs that are complete, beside an
// error.
func Compare(ctx context.Context, o Options) (*Table, error) {
	all, err := pairsOf(o)
	if err != nil {
		return nil, err
	}
	b, err := book.Open(o.Journal, run.key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }() // each line is written at once
	s, err := live.Open()
	if err != nil {
		return nil, err
	}
	// One after the other: a run of the simulated world takes what it can of the machine, and live runs would notice.
	err = simulate(ctx, all, o)
	if err == nil {
		err = playLive(ctx, s, all, b, o)
	}
	if err == nil {
		err = explain(ctx, all, o)
	}
	err = errors.Join(err, context.Cause(ctx), s.Close())
	return tableOf(all, o), err
}

func pairsOf(o Options) (all []*pair, err error) {
	for _, job := range o.Plan.Jobs() {
		i := slices.IndexFunc(all, func(p *pair) bool { return p.scenario.File == job.File && p.lock.Name == job.Lock })
		if i >= 0 { // further seeds
			job.Modes = all[i].modes
			all[i].jobs = append(all[i].jobs, job)
			continue
		}
		p := &pair{scale: o.Scale, simulated: counts{}}
		if p.scenario, err = file.Parse(job.File, []byte(job.Source), subject.ServerNames(o.Extra...)...); err != nil {
			return nil, err
		}
		if p.lock, err = redislocks.Find(job.Lock, o.Extra); err != nil {
			return nil, err
		}
		if p.modes = job.Modes; o.ByLock {
			p.modes = subject.DefaultModes(p.lock)
		}
		job.Modes = p.modes
		p.jobs = []matrix.Job{job}
		if p.scale == 0 {
			p.scale = live.ScaleFor(p.scenario, p.lock, Steady)
		}
		if err := live.Check(p.scenario, p.lock, p.scale); err != nil {
			p.skipped = err.Error()
		}
		all = append(all, p)
	}
	scenarios, locks := o.Plan.Scenarios(), o.Plan.Locks()
	place := func(p *pair) (row, column int) {
		return slices.IndexFunc(scenarios, func(sc *file.Scenario) bool { return sc.Name == p.scenario.Name }),
			slices.IndexFunc(locks, func(l subject.Lock) bool { return l.Name == p.lock.Name })
	}
	slices.SortFunc(all, func(a, b *pair) int {
		rowA, columnA := place(a)
		rowB, columnB := place(b)
		return cmp.Or(rowA-rowB, columnA-columnB)
	})
	return all, nil
}

// simulate plays each pair with its seeds.
func simulate(ctx context.Context, all []*pair, o Options) error {
	for i, p := range all {
		for _, job := range p.jobs {
			if p.skipped != "" || ctx.Err() != nil {
				break
			}
			tallies, err := job.Play(o.Extra, func() {})
			if _, misfit := errors.AsType[*file.InputError](err); misfit {
				p.misfit = err.Error()
				break
			}
			if err != nil {
				return err
			}
			for _, t := range tallies {
				for _, l := range t.Seen {
					p.simulated.add(t.Mode, l.Label, l.Seeds)
				}
			}
		}
		if o.Step != nil {
			o.Step("pairs in the simulated world", i+1, len(all))
		}
	}
	return nil
}

// tries is how often a live run is made while the machine is late.
const tries = 3

// playLive makes the live runs, some at once.
func playLive(ctx context.Context, s *live.Session, all []*pair, b *book.Book[key, run], o Options) error {
	turns := make(chan struct{}, max(o.Together, 1))
	var workers sync.WaitGroup
	defer workers.Wait()
	var mu sync.Mutex // guards done and the runs of pairs
	var failed error
	done, total := 0, len(all)*o.Times
	add := func(p *pair, r run) {
		mu.Lock()
		defer mu.Unlock()
		p.runs = append(p.runs, r)
		if done++; o.Step != nil {
			o.Step("live runs", done, total)
		}
	}
	for _, p := range all {
		if p.skipped != "" {
			total -= o.Times
			continue
		}
		for n := range o.Times {
			seed := uint64(n + 1)
			if r, ok := find(b, p, seed); ok {
				add(p, r)
				continue
			}
			turns <- struct{}{}
			if ctx.Err() != nil {
				return failed
			}
			workers.Go(func() {
				defer func() { <-turns }()
				r := p.playOnce(ctx, s, seed)
				for try := 1; try < tries && p.disturbed(r) && ctx.Err() == nil; try++ {
					if again := p.playOnce(ctx, s, seed); again.Problem == "" && again.Late < r.Late {
						r = again
					}
				}
				if ctx.Err() != nil {
					return
				}
				add(p, r)
				if err := b.Add(r); err != nil {
					mu.Lock()
					defer mu.Unlock()
					failed = errors.Join(failed, fmt.Errorf("store a live run: %w", err))
				}
			})
		}
	}
	workers.Wait()
	return failed
}

// digest is a hash of the file of the scenario: a run of another one is not this one.
func (p *pair) digest() string { return fmt.Sprintf("%x", sha256.Sum256(p.scenario.Source)) }

func (p *pair) playOnce(ctx context.Context, s *live.Session, seed uint64) run {
	r := p.newRun(seed)
	out, err := s.Run(ctx, p.scenario, p.lock, live.Options{Seed: seed, Modes: p.modes, Scale: p.scale})
	switch {
	case errors.Is(err, faults.ErrUnable):
		r.NotPlayed = []string{err.Error()}
		return r
	case err != nil:
		r.Problem = err.Error()
		return r
	}
	r.take(out)
	return r
}

// newRun is a live run of the pair without a result.
func (p *pair) newRun(seed uint64) run {
	return run{Scenario: p.scenario.Name, Source: p.digest(), Lock: p.lock.Name, Scale: p.scale, Seed: seed,
		Labels: map[fence.Mode]checker.Label{}, Reasons: map[fence.Mode]string{}}
}

func (r *run) take(out *outcome.Outcome) {
	for _, m := range out.Modes {
		r.Late = max(r.Late, m.Late)
		r.Labels[m.Mode] = m.Verdict.Label
		if len(m.Verdict.Reasons) > 0 {
			r.Reasons[m.Mode] = m.Verdict.Reasons[0].Text
		}
		for _, why := range m.NotPlayed {
			if why != "" && !slices.Contains(r.NotPlayed, why) {
				r.NotPlayed = append(r.NotPlayed, why)
			}
		}
	}
}

// tableOf is the table of the pairs that are complete.
func tableOf(all []*pair, o Options) *Table {
	t := &Table{Version: Version, Seeds: o.Seeds, Times: o.Times, Pairs: []Pair{}}
	for _, p := range all {
		p.skipped = cmp.Or(p.skipped, p.misfit)
		if p.skipped == "" && len(p.runs) < o.Times || p.skipped == "" && !p.wasSimulated(o.Seeds.Len()) {
			continue
		}
		t.Pairs = append(t.Pairs, p.row(o))
	}
	return t
}

func (p *pair) wasSimulated(seeds int) bool {
	for _, mode := range p.modes {
		made := 0
		for _, n := range p.simulated[mode] {
			made += n
		}
		if made < seeds {
			return false
		}
	}
	return true
}

func (p *pair) row(o Options) Pair {
	row := Pair{Scenario: p.scenario.Name, Lock: p.lock.Name, Servers: []string{}, Scale: p.scale, Skipped: p.skipped,
		Cells:  []Cell{},
		Replay: o.Replay(p.scenario.Reference(), p.lock.Name, p.scale, p.modes)}
	for _, s := range p.lock.Needs() {
		row.Servers = append(row.Servers, s.Kind.Name)
	}
	if p.skipped != "" {
		row.Scale = 0
		return row
	}
	for _, r := range p.runs {
		for _, why := range r.NotPlayed {
			if !slices.Contains(row.NotPlayed, why) {
				row.NotPlayed = append(row.NotPlayed, why)
			}
		}
		if r.Problem != "" && !slices.Contains(row.Problems, r.Problem) {
			row.Problems = append(row.Problems, r.Problem)
		}
	}
	row.Cells = p.cells()
	return row
}

// cells are the modes of the pair with the labels of both worlds.
func (p *pair) cells() (all []Cell) {
	for _, mode := range p.modes {
		c := Cell{Mode: mode, Simulated: p.simulated[mode], Live: map[checker.Label]int{}, Agrees: true}
		for _, r := range p.runs {
			label, ok := r.Labels[mode]
			if !ok {
				continue
			}
			if c.Live[label]++; p.simulated[mode][label] == 0 && c.Agrees {
				c.Agrees, c.Reason = false, r.Reasons[mode]
			}
		}
		if len(c.Live) == 0 {
			c.Agrees = false
		}
		if !c.Agrees {
			c.Why = p.explanation(mode)
		}
		all = append(all, c)
	}
	return all
}
