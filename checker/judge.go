package checker

import (
	"fmt"
	"slices"
)

// Verdict is all that a history says about a lock.
type Verdict struct {
	Label Label `json:"label"`
	Facts Facts `json:"facts"`
	// Reasons explain the label and the facts, those behind the label first. There
	// is always at least one.
	Reasons []Reason `json:"reasons"`
	// Slack is how near the history came to what must not happen: the least of each kind that it has, in the order of
	// [SlackKinds].
	Slack []Slack `json:"slack,omitempty"`
	// Errors are those with which calls ended, the most frequent first: see [CallError]. An Acquire that returned the
	// error of its context, or that the lock is taken, and a Release or an Extend of a lock that is not held, have none.
	Errors []CallError `json:"errors,omitempty"`
}

// Judge returns the verdict of one run. none has the facts of the same seed's
// run without a fence; it is nil if h is that run, or if there is none, and
// then the label is never [Rescued].
//
// The error wraps [ErrMalformed]: the history contradicts itself, so the harness
// is broken. A broken lock is never an error.
func Judge(h History, none *Facts) (Verdict, error) {
	if err := h.Validate(); err != nil {
		return Verdict{}, fmt.Errorf("judge: %w", err)
	}
	if len(h.Within) > 0 {
		return judgeOrders(h, none, MaxOperations), nil
	}
	return judge(h, none, MaxOperations), nil
}

func judge(h History, none *Facts, budget int) Verdict {
	f := examine(h, budget)
	facts := f.facts(h)
	label := labelOf(facts.ofFence(h), none)
	return Verdict{Label: label, Facts: facts, Reasons: f.reasons(h, label, none), Slack: f.slack, Errors: callErrors(h)}
}

// findings are the results of all checks.
type findings struct {
	data      dataFinding
	fencing   *fencingFinding
	fenced    *fencedFinding
	tokens    tokenFinding
	claims    *tally
	believed  int    // pairs of overlapping beliefs
	beliefs   *tally // those of them whose claims do not overlap
	panics    *tally
	idle      idleness
	denied    *tally // attempts that failed without a cause
	excluded  *tally // attempts whose key kept their own client out
	void      *tally // grants that cannot have been meant so
	revived   *tally // claims that came back after another grant
	conduct   *tally // calls that did not end as promised
	noticed   lateness
	failed    *tally // calls that failed although nothing was wrong
	leaders   leadership
	withheld  *tally // Acquires that were not granted a free lock
	foreign   *tally // keys that another client had set
	overtaken *tally // grants out of order
	twice     *tally // computations that the lock should have prevented
	again     *tally // the other computations of a value beyond the first
	slack     []Slack
	liveness  Liveness
	hung      *tally // calls other than an Acquire that did not return in time
}

func examine(h History, budget int) findings {
	data, records := checkData(h, budget), holdingsOf(h)
	fencing, fenced := checkFencing(h, data.cells), checkFenced(h)
	if h.Fence != "" {
		fenced.into(&data, fencing)
	}
	var slack leastSlack
	slack.ofClaims(h, records)
	f := findings{
		data:      data,
		fencing:   fencing,
		fenced:    fenced,
		tokens:    checkTokens(h, &slack),
		claims:    claimOverlaps(h),
		panics:    panics(h),
		idle:      idle(h, &slack),
		denied:    denied(h),
		excluded:  selfExcluded(h),
		void:      voidGrants(h),
		revived:   revivedClaims(h),
		conduct:   misconduct(h, records),
		noticed:   noticed(h, records, &slack),
		failed:    failedCalls(h),
		withheld:  withheld(h),
		leaders:   leaders(h, records),
		foreign:   foreignReleases(h),
		overtaken: overtaken(h),
	}
	f.liveness, _ = h.Liveness()
	f.hung = hungCalls(h)
	f.believed, f.beliefs = beliefOverlaps(h)
	f.twice, f.again = repeatedWork(h)
	f.slack = slack.list()
	return f
}

func (f findings) facts(h History) Facts {
	return Facts{
		ClaimOverlaps:      f.claims.count,
		BeliefOverlaps:     f.believed,
		Data:               f.data.data,
		LostUpdates:        f.data.lost.count,
		TornSections:       f.data.torn.count,
		StaleAccepted:      f.fencing.accepted.count,
		StaleRejected:      f.fencing.rejected.count,
		FalseRejects:       f.fencing.falsely.count,
		StaleForgotten:     f.fenced.forgotten.count,
		Overwritten:        f.fenced.overwritten.count,
		Unexplained:        f.fenced.unexplained.count,
		TokenRegressions:   f.tokens.regressions.count,
		TokenDuplicates:    f.tokens.duplicates.count,
		ForeignReleases:    f.foreign.count,
		Overtaken:          f.overtaken.count,
		Recomputed:         f.twice.count + f.again.count,
		WorkTwice:          f.twice.count,
		Panics:             f.panics.count,
		Liveness:           f.liveness,
		HungCalls:          f.hung.count,
		Grants:             len(h.Grants),
		Attempts:           len(h.Attempts),
		Calls:              countCalls(h),
		IdleSeconds:        f.idle.total.Seconds(),
		Overdue:            f.idle.overdue.count,
		Denied:             f.denied.count,
		SelfExcluded:       f.excluded.count,
		LateGrants:         lateGrants(h),
		VoidGrants:         f.void.count,
		RevivedClaims:      f.revived.count,
		Misconduct:         f.conduct.count + f.noticed.untold.count,
		NoticedLateSeconds: f.noticed.longest.Seconds(),
		FailedCalls:        f.failed.count,
		Withheld:           f.withheld.count,
		ActedAtOnce:        f.leaders.atOnce.count,
		ActedAtOnceSeconds: f.leaders.together.Seconds(),

		ActedAfterLossSeconds: f.leaders.afterLoss.Seconds(),
		LeaderlessSeconds:     f.leaders.leaderless.Seconds(),
		LeaderlessOverdue:     f.leaders.overdue.count,

		Holders:    holders(h),
		Contended:  contended(h),
		Operations: len(h.Ops),
	}
}

// ofFence are the facts that count for the label: where a store is under test, that a holder is late is how it is
// tried, and that a lock which is free is not taken at once is not asked.
func (f Facts) ofFence(h History) Facts {
	if h.Fence != "" {
		f.BeliefOverlaps, f.Overdue = 0, 0
	}
	return f
}

// labelOf returns the worst label that applies.
func labelOf(f Facts, none *Facts) Label {
	switch {
	case f.Data == DataCorrupted:
		return Corrupted
	case f.Data == DataUndecided:
		return Unknown
	case f.Panics > 0:
		return Panicked
	case f.Liveness != LivenessOK || f.Overdue > 0 || f.Denied > 0 || f.Withheld > 0 || f.SelfExcluded > 0 ||
		f.LeaderlessOverdue > 0:
		return Stuck
	case f.HungCalls > 0:
		return Hung
	case f.FalseRejects > 0:
		return FalseReject
	case f.StaleRejected > 0 && none != nil && none.Data == DataCorrupted:
		return Rescued
	case f.VoidGrants > 0:
		return Void
	case f.RevivedClaims > 0:
		return Revived
	case f.Misconduct > 0 || f.FailedCalls > 0:
		return Misconduct
	case f.Overtaken > 0:
		return Overtaken
	case f.Recomputed > 0:
		return Repeated
	case f.TokenRegressions > 0 || f.TokenDuplicates > 0:
		return Regressed
	case f.BeliefOverlaps > 0 || f.ClaimOverlaps > 0 || f.ActedAtOnce > 0:
		return Overlap
	case f.Grants == 0:
		return Untested
	}
	return Safe
}

// reasons collects the sentences in the order of the labels that they support,
// so that the first explains the label.
func (f findings) reasons(h History, label Label, none *Facts) []Reason {
	overlaps := slices.Concat(f.claims.sentences(), f.beliefs.sentences(), f.leaders.atOnce.sentences())
	if h.Fence != "" {
		overlaps = f.claims.sentences()
	}
	refused := f.fencing.rejected.sentences()
	tokens := slices.Concat(f.tokens.regressions.sentences(), f.tokens.duplicates.sentences())
	var deciding, first, second, third, foreign []Reason
	switch {
	case label == Safe:
		deciding = []Reason{safeReason(h)}
	case label == Untested:
		deciding = []Reason{{Text: "No client was granted the lock, so that the run says nothing about it."}}
	case f.liveness != LivenessOK:
		deciding = livenessReasons(h)
	}
	if !label.Clean() {
		foreign = f.foreign.sentences()
	}
	switch label {
	case Rescued:
		first, second, third = append([]Reason{rescueReason(*none)}, refused...), overlaps, tokens
	case Regressed:
		first, second, third = tokens, overlaps, refused
	default:
		first, second, third = overlaps, refused, tokens
	}
	overdue := f.idle.overdue.sentences()
	if h.Fence != "" {
		overdue = nil
	}
	return slices.Concat(
		f.fenced.deciding(), f.data.lost.sentences(), f.data.torn.sentences(), f.data.wrong.sentences(),
		f.panics.sentences(), deciding, overdue, f.leaders.overdue.sentences(), f.denied.sentences(),
		f.withheld.sentences(), f.excluded.sentences(),
		f.hung.sentences(), f.fencing.falsely.sentences(),
		f.void.sentences(), f.revived.sentences(), f.conduct.sentences(), f.noticed.untold.sentences(), f.failed.sentences(),
		f.overtaken.sentences(),
		f.twice.sentences(), f.again.sentences(),
		first, second,
		f.fencing.acceptedBy(h), third, foreign)
}

func rescueReason(none Facts) Reason {
	text := "The store refused what was stale, and that saved the data: without a fence the run ended corrupted"
	if none.LostUpdates > 0 {
		text += fmt.Sprintf(", with lost updates: %d", none.LostUpdates)
	}
	if none.TornSections > 0 {
		text += fmt.Sprintf(", with torn sections: %d", none.TornSections)
	}
	return Reason{Text: text + "."}
}

func safeReason(h History) Reason {
	if h.Fence != "" {
		return Reason{Text: "Nothing went wrong in this run: each answer of the store was right."}
	}
	return Reason{Text: fmt.Sprintf(
		"Nothing went wrong in this run: no two of its %d grants overlapped, and every acknowledged write is in the data.",
		len(h.Grants))}
}
