package review

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/replay"
	"locksim/scenarios/subject"
)

// Assemble makes a review of the measurements of a lock, and of the results of its
// failures in each fencing mode; see [reviews.Failures]. replay is the command that runs a
// scenario. Assemble removes the wall times of the parts, and the results of their
// single jobs. The error is that of [redislocks.Library].
func Assemble(plan reviews.Plan, l subject.Lock, parts reviews.Parts, failures []reviews.Failure,
	replay matrix.ReplayCommand) (*reviews.Review, error) {
	parts.Timeless()
	t := explorations.NewTiming()
	r := &reviews.Review{Version: reviews.Version, Kind: reviews.Kind, Plan: plan, Lock: newReviewLock(l), Parts: parts,
		Failures: failures, Scenarios: []reviews.Scenario{}, NotRun: []reviews.Gap{}, Catalogue: []reviews.Gap{},
		NeverDrawn: []string{},
		Go:         t.Go, Modules: t.Modules}
	r.Missing = append([]reviews.Gap{}, r.Missing...)
	if err := readLibrary(r, l, replay); err != nil {
		return nil, err
	}
	r.Conclude()
	return r, nil
}

// readLibrary divides the scenarios of the library into those that were run and
// those that were not.
func readLibrary(r *reviews.Review, l subject.Lock, replay matrix.ReplayCommand) error {
	all, err := redislocks.Library([]subject.Lock{l})
	if err != nil {
		return err
	}
	for _, sc := range all {
		if cells := r.CellsOf(sc.Name); len(cells) > 0 {
			r.Scenarios = append(r.Scenarios, newReviewScenario(sc, l, cells, replay))
			continue
		}
		r.NotRun = append(r.NotRun,
			reviews.Gap{What: sc.Name, Why: cmp.Or(r.WhyNot(sc.Name), "the scenario is not about this lock")})
	}
	modes, err := file.Catalogue()
	for _, m := range modes {
		if m.Missing != "" {
			r.Catalogue = append(r.Catalogue, reviews.Gap{What: m.ID + " " + m.Name, Why: m.Missing})
		}
	}
	return err
}

func newReviewLock(l subject.Lock) reviews.Lock {
	r := reviews.Lock{Name: l.Name, About: l.About, Nodes: l.Nodes(), Tokens: l.Tokens,
		Promises: !l.PromisesNothing(), Promise: l.Promise, Unpromised: []lock.Fault{}, Judged: l.JudgedMode()}
	for _, class := range lock.Faults() {
		if !slices.Contains(l.Promise.Exclusion, class) {
			r.Unpromised = append(r.Unpromised, class)
		}
	}
	return r
}

func newReviewScenario(sc *file.Scenario, l subject.Lock, cells []matrices.Cell,
	replay matrix.ReplayCommand) reviews.Scenario {
	s := reviews.Scenario{Name: sc.Name, Title: sc.Title, Catalogue: sc.Catalogue, Ground: groundOf(sc, l),
		Client: clientMistake(sc), Classes: reviews.ClassesIn(sc.Faults), Cells: cells}
	var modes []fence.Mode
	seed := uint64(0)
	for _, c := range cells {
		if c.CellRuns != nil {
			modes, seed = append(modes, c.Mode), cmp.Or(seed, c.Seed)
		}
	}
	s.Replay = replay(sc.Name, l.Name, seed, modes...)
	return s
}

// clientMistake is what the clients of a scenario do wrong, "" for nothing.
func clientMistake(sc *file.Scenario) string {
	switch {
	case sc.Lock.Owner == file.OwnerShared:
		return "All clients call themselves by one owner id."
	case sc.Workload.Release == file.ReleaseEarly:
		return "It releases the lock before its last write."
	case sc.Workload.LooksOnce():
		return "It does not look, once it has the lock, whether the work was done while it waited."
	case len(sc.Workload.Writes()) > 1:
		return "It writes more than once, and nothing makes these writes one."
	}
	return ""
}

func groundOf(sc *file.Scenario, l subject.Lock) reviews.Ground {
	switch {
	case len(sc.Workload.Writes()) > 1:
		return reviews.GroundSeveralWrites
	case sc.Lock.Owner == file.OwnerShared || sc.Workload.LooksOnce() || !l.Promises(sc.Faults):
		// One id for all is against the terms (F31, F32), and so is work without a second look.
		return reviews.GroundOutside
	}
	return reviews.GroundPromised
}

// FenceJob is the run of a failure, to be made in each fencing mode. It is a value
// that can be sent to another process.
type FenceJob struct {
	Run *outcome.RunFile `json:"run"`
}

// Play makes the runs, each twice. extra are locks that do not come with locksim.
// Errors are those of [outcome.RunFile.Setup] and [play.Run].
func (j FenceJob) Play(extra []subject.Lock) ([]reviews.Fence, error) {
	sc, l, err := replay.Setup(j.Run, extra)
	if err != nil {
		return nil, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: j.Run.Seed, Modes: fence.Modes(), Repeat: outcome.Twice})
	if err != nil {
		return nil, fmt.Errorf("a failure in every fencing mode: %w", err)
	}
	var out []reviews.Fence
	for _, m := range o.Modes {
		f := reviews.Fence{Mode: m.Mode, Label: m.Verdict.Label, Effect: reviews.NoFence, TraceHash: m.TraceHash}
		if m.Mode != fence.None {
			f.Effect = reviews.EffectOf(o.Modes[0].Verdict.Label, m.Verdict.Label)
		}
		out = append(out, f)
	}
	return out, nil
}
