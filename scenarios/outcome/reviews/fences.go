package reviews

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
)

// ground is the ground on which fences are compared: that of the promise or,
// without a promise, all others except sections of several writes.
func (f *Figures) ground() Ground {
	if f.Promises {
		return GroundPromised
	}
	return GroundOutside
}

// bestFence is the mode that lost data in the fewest runs and failures on the
// ground of the promise, then the one that did the least other harm there, then the
// one that the promise names, then the one that lost data in the fewest runs
// elsewhere, then the simplest. Version checks do not count: they need no lock at
// all. ok is false if nothing was run on that ground.
func (f *Figures) bestFence() (best Mode, ok bool) {
	modes := slices.DeleteFunc(slices.Clone(f.Modes), func(m Mode) bool {
		return m.Mode == fence.None || m.Mode == fence.CAS || m.Grounds[f.ground()].Runs+m.Failures.Runs == 0
	})
	if len(modes) == 0 {
		return Mode{}, false
	}
	slices.SortStableFunc(modes, func(a, b Mode) int {
		return cmp.Or(cmp.Compare(f.losses(a), f.losses(b)), cmp.Compare(f.refusals(a), f.refusals(b)),
			cmp.Compare(oneIf(a.Mode != f.Data), oneIf(b.Mode != f.Data)),
			cmp.Compare(a.Total().corrupted(), b.Total().corrupted()))
	})
	return modes[0], true
}

// losses counts the runs and failures on the ground of the promise that lost data,
// refusals those with another harm.
func (f *Figures) losses(m Mode) int {
	return m.Grounds[f.ground()].corrupted() + m.Failures.corrupted()
}

func (f *Figures) refusals(m Mode) int {
	return m.Grounds[f.ground()].refused() + m.Failures.refused()
}

// corrupted counts the runs, failures and violations that lost data without a fence,
// or in the mode in which the lock is judged.
func (f *Figures) corrupted() int {
	none, _ := f.mode(fence.None)
	return none.Total().corrupted() + f.Lost + f.All.Violations[checker.Corrupted] + f.Swept.Violations[checker.Corrupted]
}

// lost says where data was lost in a mode: within the promise, and outside it.
func (f *Figures) lost(mode fence.Mode) string {
	m, _ := f.mode(mode)
	others := m.sum(GroundOutside)
	if !f.Promises {
		return "data was lost in " + share(others) + " of the library and in " + failuresShare(m.Failures) + " found here"
	}
	text := "data was lost in " + share(m.Grounds[GroundPromised]) + " within the promise"
	if others.Runs > 0 {
		text += " and in " + share(others) + " outside it"
	}
	return text
}

func failuresShare(n Count) string {
	return fmt.Sprintf("%d of %s", n.corrupted(), prose.Count(n.Runs, "break"))
}

func share(n Count) string {
	return fmt.Sprintf("%s of %s", prose.Thousands(n.corrupted()), runsOf(n.Runs))
}

// milder is a fence that lost no more data than another on the ground of the
// promise and less outside it: the one that lost least there, then the one that did
// the least other harm.
func (f *Figures) milder(best Mode) (other Mode, ok bool) {
	lost := func(m Mode) (here, outside int) {
		return f.losses(m), m.Grounds[GroundOutside].corrupted()
	}
	bestHere, bestOutside := lost(best)
	better := slices.DeleteFunc(slices.Clone(f.Modes), func(m Mode) bool {
		here, outside := lost(m)
		return m.Mode == fence.None || m.Mode == fence.CAS || here > bestHere || outside >= bestOutside
	})
	if len(better) == 0 {
		return Mode{}, false
	}
	return slices.MinFunc(better, func(a, b Mode) int {
		_, x := lost(a)
		_, y := lost(b)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.Total().refused(), b.Total().refused()))
	}), true
}

func runsOf(n int) string {
	if n == 1 {
		return "1 run"
	}
	return prose.Thousands(n) + " runs"
}

func inScenarios(n Count) string {
	return fmt.Sprintf("%s of %s of the library", runsOf(n.Runs), prose.Count(n.Scenarios, "scenario"))
}
