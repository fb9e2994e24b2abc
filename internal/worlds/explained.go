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
	"locksim/scenarios/play"
)

// counts are how many runs had a label, by mode.
type counts map[fence.Mode]map[checker.Label]int

func (c counts) add(mode fence.Mode, l checker.Label, n int) {
	if c[mode] == nil {
		c[mode] = map[checker.Label]int{}
	}
	c[mode][l] += n
}

// explain plays each pair in which the worlds differ once more in the simulated one, and judges the runs as live ones: first
// the scenario as it is, then at the scale of the live runs. After the end of ctx it does nothing.
func explain(ctx context.Context, all []*pair, o Options) (err error) {
	for _, p := range all {
		if p.misfit != "" || !p.differs() {
			continue
		}
		if p.asLive, err = p.judgedAsLive(ctx, p.scenario, o); err != nil {
			return err
		}
		if p.atScale, err = p.judgedAsLive(ctx, live.Scaled(p.scenario, p.scale), o); err != nil {
			return err
		}
	}
	return nil
}

// differs says that a live run has a label that no simulated run has.
func (p *pair) differs() bool {
	return slices.ContainsFunc(p.runs, func(r run) bool {
		return slices.ContainsFunc(p.modes, func(mode fence.Mode) bool {
			label, ok := r.Labels[mode]
			return ok && p.simulated[mode][label] == 0
		})
	})
}

// judgedAsLive counts the labels that simulated runs of a scenario would have as live ones.
func (p *pair) judgedAsLive(ctx context.Context, sc *file.Scenario, o Options) (counts, error) {
	seen := counts{}
	modes := append([]fence.Mode{fence.None}, slices.DeleteFunc(slices.Clone(p.modes), func(m fence.Mode) bool { return m == fence.None })...)
	for seed := range o.Seeds.All() {
		if ctx.Err() != nil {
			break
		}
		out, err := play.Run(sc, p.lock, play.RunOptions{Seed: seed, Modes: modes})
		if err != nil {
			return nil, err
		}
		labels, err := out.JudgedAsLive()
		if err != nil {
			return nil, err
		}
		for mode, l := range labels {
			seen.add(mode, l, 1)
		}
	}
	return seen, nil
}

// explanation says why the worlds differ in a mode of a pair; "" if it is not known of each run that differs.
func (p *pair) explanation(mode fence.Mode) string {
	var whys []string
	because := func(why string) {
		if !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
	}
	odd, late := 0, time.Duration(0)
	for _, r := range p.runs {
		switch label := r.Labels[mode]; {
		case p.simulated[mode][label] > 0:
		case p.asLive[mode][label] > 0:
			because("a live run has no record of the servers, and judges neither how long a free lock stays idle nor the order of a queue; " +
				"the simulated runs, judged so: " + Labels(p.asLive[mode]))
		case p.atScale[mode][label] > 0:
			because(fmt.Sprintf("at scale %v a message takes a larger part of each duration; the simulated runs, at that scale and judged as live ones: %s",
				p.scale, Labels(p.atScale[mode])))
		case p.disturbed(r):
			odd, late = odd+1, max(late, r.Late)
		default:
			return ""
		}
	}
	if odd > 0 {
		because(fmt.Sprintf("the machine was late in %d of the runs that differ, by up to %v, and the lock can bear %v", odd, late.Round(time.Millisecond), p.bears()))
	}
	return strings.Join(whys, "; ")
}

// bears is by how much the machine may be late: by a tenth of a lease, and for a lock that asks several Redis servers, each
// for 50 ms or so, by half of that.
func (p *pair) bears() time.Duration {
	tenth := time.Duration(float64(p.scenario.Lock.TTL) * p.scale / 10)
	if p.lock.Quorum {
		return min(tenth, 25*time.Millisecond)
	}
	return tenth
}

// disturbed says that the machine was late in a run by so much that the run shows the machine too.
func (p *pair) disturbed(r run) bool { return r.Late > p.bears() }
