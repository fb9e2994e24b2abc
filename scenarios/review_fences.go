package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
)

// ground is the ground on which fences are compared: that of the promise or,
// where there is none, all others but sections of several writes.
func (f *ReviewFigures) ground() ReviewGround {
	if f.Promises {
		return GroundPromised
	}
	return GroundOutside
}

// bestFence is the mode that lost data in the fewest runs on the ground of the
// promise, then the one that did the least other harm there, then the one that the
// promise names, then the one that lost data in the fewest runs elsewhere, then
// the simplest. Version checks are none: they need no lock at all. ok is false
// where nothing was run on that ground.
func (f *ReviewFigures) bestFence() (best ReviewMode, ok bool) {
	modes := slices.DeleteFunc(slices.Clone(f.Modes), func(m ReviewMode) bool {
		return m.Mode == fence.None || m.Mode == fence.CAS || m.Grounds[f.ground()].Runs == 0
	})
	if len(modes) == 0 {
		return ReviewMode{}, false
	}
	slices.SortStableFunc(modes, func(a, b ReviewMode) int {
		x, y := a.Grounds[f.ground()], b.Grounds[f.ground()]
		return cmp.Or(cmp.Compare(x.corrupted(), y.corrupted()), cmp.Compare(x.refused(), y.refused()),
			cmp.Compare(count(a.Mode != f.Data), count(b.Mode != f.Data)), cmp.Compare(a.Total().corrupted(), b.Total().corrupted()))
	})
	return modes[0], true
}

func (n ReviewCount) corrupted() int { return n.Labels[checker.Corrupted] }

// refused counts the runs with another harm than wrong data.
func (n ReviewCount) refused() int { return n.Labels[checker.Stuck] + n.Labels[checker.FalseReject] }

// corrupted counts the runs without a fence that lost data.
func (f *ReviewFigures) corrupted() int {
	none, _ := f.mode(fence.None)
	return none.Total().corrupted() + f.All.Labels[checker.Corrupted]
}

// lost says where data was lost in a mode: within the promise, and outside it.
func (f *ReviewFigures) lost(mode fence.Mode) string {
	m, _ := f.mode(mode)
	others := m.sum(GroundOutside)
	if !f.Promises {
		return "data was lost in " + f.share(others)
	}
	text := "data was lost in " + f.share(m.Grounds[GroundPromised]) + " within the promise"
	if others.Runs > 0 {
		text += " and in " + f.share(others) + " outside it"
	}
	return text
}

func (f *ReviewFigures) share(n ReviewCount) string {
	return fmt.Sprintf("%s of %s", grouped(n.corrupted()), runsOf(n.Runs))
}

func runsOf(n int) string {
	if n == 1 {
		return "1 run"
	}
	return grouped(n) + " runs"
}

func inScenarios(n ReviewCount) string {
	return fmt.Sprintf("%s of %s of the library", runsOf(n.Runs), numberOf(n.Scenarios, "scenario"))
}
