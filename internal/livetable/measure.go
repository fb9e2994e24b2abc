package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/live"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// pair is a scenario with a lock, in both worlds.
type pair struct {
	scenario *file.Scenario
	lock     play.Lock
	scale    float64
	modes    []fence.Mode

	simulated map[fence.Mode]map[checker.Label]int
	runs      []run // the live ones
	skipped   string
}

// run is one live run, as the journal has it.
type run struct {
	Scenario, Lock string
	Scale          float64
	Seed           uint64
	// Labels are the labels by mode, Reasons the first reason of each.
	Labels  map[fence.Mode]checker.Label
	Reasons map[fence.Mode]string
	// NotPlayed are the faults that the live world lacks, each once.
	NotPlayed []string
	// Struck says that every other fault struck in every mode.
	Struck  bool
	Problem string
	// Late is by how much the machine was late at most.
	Late time.Duration
}

// kindsOf are the kinds of servers of a lock, as one word.
func kindsOf(l play.Lock) string {
	if l.Servers == nil {
		return "redis"
	}
	var names []string
	for _, s := range l.Servers {
		names = append(names, s.Kind.Name)
	}
	return strings.Join(names, ",")
}

// smallest is the smallest scale at which a lock can play a scenario, of those at which a machine with other work to do is late
// by a small part of a lease only.
func smallest(sc *file.Scenario, l play.Lock) (scale float64, err error) {
	for _, scale = range []float64{0.3, 0.4, 0.5, 1} {
		if err = live.Check(sc, l, scale); err == nil {
			return scale, nil
		}
	}
	return 0, err
}

// candidates are all pairs of the library that the pattern matches.
func candidates(o options) (all []*pair, err error) {
	library, err := file.Library()
	if err != nil {
		return nil, err
	}
	for _, sc := range library {
		for _, lockName := range sc.LockNames() {
			if !o.pairs.MatchString(sc.Name + "/" + lockName) {
				continue
			}
			l, err := play.FindLock(lockName, extra())
			if err != nil {
				return nil, err
			}
			p := &pair{scenario: sc, lock: l, modes: play.DefaultModes(l), scale: o.scale, simulated: map[fence.Mode]map[checker.Label]int{}}
			if p.scale == 0 {
				if p.scale, err = smallest(sc, l); err != nil {
					p.skipped = err.Error()
				}
			}
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no SCENARIO/LOCK of the library matches %s", o.pairs)
	}
	return all, nil
}

// disturbed says that the machine was late by a good part of a lease, so that the run shows the machine too.
func (r run) disturbed(p *pair) bool {
	return r.Late > time.Duration(float64(p.scenario.Lock.TTL)*p.scale/10)
}

// measure makes all runs.
func measure(ctx context.Context, o options, progress io.Writer) ([]*pair, error) {
	all, err := candidates(o)
	if err != nil {
		return nil, err
	}
	j, err := openJournal(o.journal)
	if err != nil {
		return nil, err
	}
	defer j.close()
	s, err := live.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work := make(chan func())
	var workers sync.WaitGroup
	for range o.jobs {
		workers.Go(func() {
			for f := range work {
				f()
			}
		})
	}
	var mu sync.Mutex
	var first error
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = err
			cancel()
		}
	}
	var simulating sync.WaitGroup
	simulating.Go(func() { simulate(ctx, all, o, fail) }) // in the meantime
	for i, p := range all {
		if p.skipped != "" || ctx.Err() != nil {
			continue
		}
		for n := range o.times {
			seed := uint64(n + 1)
			if r, ok := j.find(p, seed); ok {
				mu.Lock()
				p.runs = append(p.runs, r)
				mu.Unlock()
				continue
			}
			work <- func() {
				if ctx.Err() != nil {
					return
				}
				r := playLive(ctx, s, p, seed)
				if ctx.Err() != nil {
					return
				}
				mu.Lock()
				p.runs = append(p.runs, r)
				mu.Unlock()
				if err := j.add(r); err != nil {
					fail(err)
				}
				_, _ = fmt.Fprintf(progress, "%d of %d: %s with %s, run %d: %v %s\n", i+1, len(all), p.scenario.Name, p.lock.Name, seed, r.Labels, r.Problem)
			}
		}
	}
	close(work)
	workers.Wait()
	simulating.Wait()
	complete := slices.DeleteFunc(slices.Clone(all), func(p *pair) bool {
		return p.skipped == "" && (len(p.runs) < o.times || !p.wasSimulated(o.seeds))
	})
	return complete, errors.Join(first, ctx.Err())
}

// wasSimulated says that all seeds were played.
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

// simulate plays each pair with some seeds.
func simulate(ctx context.Context, all []*pair, o options, fail func(error)) {
	for _, p := range all {
		for seed := uint64(1); seed <= uint64(o.seeds) && p.skipped == "" && ctx.Err() == nil; seed++ {
			out, err := play.Run(p.scenario, p.lock, play.RunOptions{Seed: seed, Modes: p.modes})
			if err != nil {
				fail(err)
				return
			}
			for _, m := range out.Modes {
				if p.simulated[m.Mode] == nil {
					p.simulated[m.Mode] = map[checker.Label]int{}
				}
				p.simulated[m.Mode][m.Verdict.Label]++
			}
		}
	}
}

// playLive makes one live run.
func playLive(ctx context.Context, s *live.Session, p *pair, seed uint64) run {
	r := run{Scenario: p.scenario.Name, Lock: p.lock.Name, Scale: p.scale, Seed: seed, Struck: true,
		Labels: map[fence.Mode]checker.Label{}, Reasons: map[fence.Mode]string{}}
	out, err := s.Run(ctx, p.scenario, p.lock, live.Options{Seed: seed, Modes: p.modes, Scale: p.scale})
	if errors.Is(err, faults.ErrUnable) {
		r.NotPlayed = []string{err.Error()}
		return r
	}
	if err != nil {
		r.Problem = err.Error()
		return r
	}
	for _, m := range out.Modes {
		r.Late = max(r.Late, m.Late)
	}
	r.Struck = len(out.NeverFired()) == 0
	for _, m := range out.Modes {
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
	return r
}

// journal has the live runs that were made, as lines of JSON.
type journal struct {
	mu   sync.Mutex
	made []run
	out  *os.File // nil without a file
}

func openJournal(name string) (*journal, error) {
	j := new(journal)
	if name == "" {
		return j, nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	j.out = f
	for in := bufio.NewScanner(f); in.Scan(); {
		var r run
		if json.Unmarshal(in.Bytes(), &r) == nil { // else the program was interrupted in the middle of a line
			j.made = append(j.made, r)
		}
	}
	return j, nil
}

// find is the run of a pair with a seed that was made, without a problem.
func (j *journal) find(p *pair, seed uint64) (run, bool) {
	for _, r := range j.made {
		if r.Scenario == p.scenario.Name && r.Lock == p.lock.Name && r.Scale == p.scale && r.Seed == seed && r.Problem == "" {
			return r, true
		}
	}
	return run{}, false
}

func (j *journal) add(r run) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.out == nil {
		return nil
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = j.out.Write(append(b, '\n'))
	return err
}

func (j *journal) close() {
	if j.out != nil {
		_ = j.out.Close()
	}
}
