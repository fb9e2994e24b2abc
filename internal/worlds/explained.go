package worlds

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/internal/live"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// counts are how many runs had a label, by mode.
type counts map[fence.Mode]map[checker.Label]int

func (c counts) add(mode fence.Mode, l checker.Label, n int) {
	if c[mode] == nil {
		c[mode] = map[checker.Label]int{}
	}
	c[mode][l] += n
}

// end is how runs of a pair end in a mode.
type end struct {
	mode  fence.Mode
	label checker.Label
}

// twin is a run of the simulated world with a label that only live runs had so far.
type twin struct {
	seed  uint64
	scale float64 // 1, or that of the live runs
	full  bool    // it has the label as it is; else only if it is judged by what a live run knows
}

func (t twin) String() string {
	text := fmt.Sprintf("seed %d of the simulated world", t.seed)
	if t.scale != 1 {
		text += fmt.Sprintf(" at scale %v", t.scale)
	}
	if !t.full {
		text += ", judged by what a live run knows,"
	}
	return text
}

// explain looks in the simulated world for the labels that only live runs had: with the same seeds, judged as live
// runs, and at the scale of the live runs. After the end of ctx it does nothing.
func explain(ctx context.Context, all []*pair, o Options) error {
	for _, p := range all {
		odd := p.odd()
		p.twins = map[end]twin{}
		if _, err := p.findTwins(ctx, 1, odd, o.Seeds); err != nil {
			return err
		}
		if _, err := p.findTwins(ctx, p.scale, odd, o.Seeds); err != nil {
			return err
		}
	}
	return nil
}

// seeds are those with which [Differences] compares.
var seeds = outcome.Seeds{First: 1, Last: 20}

// Differences are the modes in which live runs of a scenario with a lock, which were made at one scale, have a label
// that none of the seeds 1 to 20 of the simulated world has. It plays the scenario in the simulated world until all
// labels of the live runs were seen, mostly once, so that it takes a small part of their time. It returns none if a
// fault was not played. Errors are those of play.Run and of ctx.
func Differences(ctx context.Context, sc *file.Scenario, l subject.Lock,
	live []*outcome.Outcome) ([]outcome.Difference, error) {
	p := &pair{scenario: sc, lock: l, scale: live[0].Live.Scale, twins: map[end]twin{}}
	for _, m := range live[0].Modes {
		p.modes = append(p.modes, m.Mode)
	}
	for _, o := range live {
		r := p.newRun(o.Seed)
		r.take(o)
		p.runs = append(p.runs, r)
	}
	all, err := p.findTwins(ctx, 1, p.odd(), seeds)
	if err != nil {
		return nil, err
	}
	p.simulated = all
	unexplained := func(c end) bool { return p.explanation(c.mode) == "" }
	if odd := p.odd(); slices.ContainsFunc(odd, unexplained) {
		if _, err := p.findTwins(ctx, p.scale, odd, seeds); err != nil {
			return nil, err
		}
	}
	var out []outcome.Difference
	for _, c := range p.cells() {
		if !c.Agrees && len(p.odd()) > 0 {
			out = append(out, outcome.Difference{Mode: c.Mode, Live: c.Live, Simulated: c.Simulated, Why: c.Why,
				Reason: c.Reason})
		}
	}
	return out, ctx.Err()
}

// odd are the labels that only live runs have.
func (p *pair) odd() (all []end) {
	for _, r := range p.runs {
		if p.misfit != "" || len(r.NotPlayed) > 0 { // its labels are not compared
			return nil
		}
		for mode, label := range r.Labels {
			if c := (end{mode, label}); p.simulated[mode][label] == 0 && !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// findTwins plays the scenario at a scale, in the modes in which it is open, until there is a twin for each of some
// labels. It returns the labels of the runs.
func (p *pair) findTwins(ctx context.Context, scale float64, odd []end, seeds outcome.Seeds) (counts, error) {
	sc, all := p.scenario, counts{}
	if scale != 1 {
		sc = live.Scaled(sc, scale)
	}
	for seed := range seeds.All() {
		modes := []fence.Mode{fence.None}
		open := false
		for _, c := range odd {
			if _, found := p.twins[c]; !found {
				if open = true; !slices.Contains(modes, c.mode) {
					modes = append(modes, c.mode)
				}
			}
		}
		if !open || ctx.Err() != nil {
			break
		}
		out, err := play.Run(sc, p.lock, play.RunOptions{Seed: seed, Modes: modes, Repeat: outcome.Once})
		if err != nil {
			return nil, err
		}
		asLive, err := out.JudgedAsLive()
		if err != nil {
			return nil, err
		}
		for _, m := range out.Modes {
			all.add(m.Mode, m.Verdict.Label, 1)
			for _, label := range []checker.Label{m.Verdict.Label, asLive[m.Mode]} {
				c := end{m.Mode, label}
				if _, found := p.twins[c]; !found && slices.Contains(odd, c) {
					p.twins[c] = twin{seed, scale, label == m.Verdict.Label}
				}
			}
		}
	}
	return all, nil
}

// explanation says why the worlds differ in a mode of a pair; "" if it is not known of each run that differs.
func (p *pair) explanation(mode fence.Mode) string {
	var whys []string
	odd, late := 0, time.Duration(0)
	for _, r := range p.runs {
		label := r.Labels[mode]
		if p.simulated[mode][label] > 0 {
			continue
		}
		if t, ok := p.twins[end{mode, label}]; ok {
			if why := fmt.Sprintf("%v is %s too", t, label); !slices.Contains(whys, why) {
				whys = append(whys, why)
			}
			continue
		}
		if !p.disturbed(r) {
			return ""
		}
		odd, late = odd+1, max(late, r.Late)
	}
	if odd > 0 {
		whys = append(whys, fmt.Sprintf("the machine was late in %d of the runs that differ, by up to %v, and the lock can "+
			"bear %v",
			odd, late.Round(time.Millisecond), p.bears()))
	}
	return strings.Join(whys, "; ")
}

// bears is by how much the machine may be late: what the scenario allows and, for a lock that asks several Redis
// servers, each for 50 ms or so, half of that at most.
func (p *pair) bears() time.Duration {
	limit := live.Scaled(p.scenario, p.scale).LateLimit()
	if p.lock.Quorum {
		return min(limit, 25*time.Millisecond)
	}
	return limit
}

// disturbed says that the machine was late in a run by so much that the run shows the machine too.
func (p *pair) disturbed(r run) bool { return r.Late > p.bears() }
