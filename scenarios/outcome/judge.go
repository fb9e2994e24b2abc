package outcome

import (
	"errors"
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/lock/promise"
)

// Judge sets the verdict of a run, by its history. base is the run in mode none, against which a rescue is measured; it
// may be nil. Errors are those of the checker.
func (run *ModeRun) Judge(base *ModeRun) (err error) {
	var none *checker.Facts
	if base != nil {
		none = &base.Verdict.Facts
	}
	if run.Verdict, err = checker.Judge(run.History, none); err != nil {
		return fmt.Errorf("the checker: %w", err)
	}
	run.Verdict.Reasons = advised(run.Verdict.Reasons)
	if run.Verdict.Label == checker.Corrupted && run.Verdict.Facts.ClaimOverlaps > 0 {
		slices.SortStableFunc(run.Verdict.Reasons, overlapsFirst(run.History))
	}
	return nil
}

// overlapsFirst is an order of reasons in which those of claims that overlapped come first: what the lock did comes
// before what came of it.
func overlapsFirst(h checker.History) func(a, b checker.Reason) int {
	claims := claimsShared(h)
	rank := func(r checker.Reason) int {
		if len(r.At) > 0 && claims[r.At[0]] {
			return 0
		}
		return 1
	}
	return func(a, b checker.Reason) int { return rank(a) - rank(b) }
}

// claimsShared are the grants at which a claim of another client went on, by their steps.
func claimsShared(h checker.History) map[checker.Pos]bool {
	claims := map[checker.Pos]bool{}
	for _, s := range checker.SharedGrants(h) {
		claims[s.Granted.Granted] = claims[s.Granted.Granted] || s.Claims
	}
	return claims
}

// Complete sets what a reader of a run wants besides its verdict: the hash of its trace, porcupine's opinion, and the
// story. Errors are those of [ModeRun.Corroborate].
func (run *ModeRun) Complete() error {
	run.TraceHash = run.Trace.Hash()
	if err := run.Corroborate(); err != nil {
		return err
	}
	run.Story = tell(run)
	return nil
}

// advised are the reasons with another after the first about each duty: what the duty is, and what a lock does to keep
// it.
func advised(reasons []checker.Reason) []checker.Reason {
	said := map[promise.Duty]bool{"": true}
	out := make([]checker.Reason, 0, len(reasons))
	for _, r := range reasons {
		out = append(out, r)
		if !said[r.Duty] {
			said[r.Duty] = true
			out = append(out, checker.Reason{Text: r.Duty.Advice(), Duty: r.Duty})
		}
	}
	return out
}

// JudgedAsLive are the labels of a simulated run, by mode, that a live run with the same history can have: see
// [checker.History.OfClients]. It may not know of a loss before a grant. A rescue is measured against mode none, which
// has to be the first one. Errors are those of the checker.
func (o *Outcome) JudgedAsLive() (map[fence.Mode]checker.Label, error) {
	labels := map[fence.Mode]checker.Label{}
	var none *checker.Facts
	for _, m := range o.Modes {
		if m.Verdict.Label == checker.NotApplicable {
			labels[m.Mode] = checker.NotApplicable
			continue
		}
		h := m.History.OfClients()
		for i := range h.Grants {
			h.Grants[i].LostBefore, h.Grants[i].OverBefore = false, false
		}
		v, err := checker.Judge(h, none)
		if err != nil {
			return nil, fmt.Errorf("the checker: %w", err)
		}
		if labels[m.Mode] = v.Label; m.Mode == fence.None {
			none = &v.Facts
		}
	}
	return labels, nil
}

// ErrContradiction is returned when porcupine has another result than the exact
// checks: one of the two is wrong, and there is no verdict.
var ErrContradiction = errors.New("the checkers contradict each other: this is a bug in locksim")

// Corroborate sets porcupine's opinion of a run that has been judged. Errors are those of [checker.Corroborate], and
// [ErrContradiction].
func (run *ModeRun) Corroborate() error {
	c, err := checker.Corroborate(run.History, run.Verdict.Facts)
	if err != nil {
		return err
	}
	if c.Agreement == checker.Contradicts {
		return fmt.Errorf("%w: %s", ErrContradiction, c.Why)
	}
	run.Corroboration = c
	return nil
}

// As is a run under another fencing mode in which the store decides all as it did: only the verdict, which compares it
// with base, and the story, which names the mode, are made anew. Errors as for [ModeRun.Judge].
func (run *ModeRun) As(mode fence.Mode, base *ModeRun) (*ModeRun, error) {
	as := *run
	as.Mode, as.Wall = mode, 0
	if err := as.Judge(base); err != nil {
		return nil, err
	}
	if run.Story != nil {
		as.Story = tell(&as)
	}
	return &as, nil
}
