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
	e := examine(h, budget)
	var v Verdict
	told := make([][]Reason, len(factRows))
	for i := range factRows {
		told[i] = factRows[i].measure(e, &v.Facts)
	}
	v.Label = labelOf(&v.Facts, none, h.Fence != "")
	v.Reasons, v.Slack, v.Errors = reasons(h, v.Label, none, told), e.slack.list(), callErrors(h)
	return v
}

// examined is a history with the results of those checks that are behind several facts.
type examined struct {
	History
	records map[holder]holdings
	data    dataFinding
	fencing *fencingFinding
	fenced  *fencedFinding
	tokens  tokenFinding
	idle    idleness
	noticed lateness
	leaders leadership
	twice   *tally // computations that the lock should have prevented
	again   *tally // the other computations of a value beyond the first
	slack   leastSlack
}

func examine(h History, budget int) *examined {
	e := &examined{History: h, records: holdingsOf(h), data: checkData(h, budget), fenced: checkFenced(h)}
	e.fencing = checkFencing(h, e.data.cells)
	if h.Fence != "" {
		e.fenced.into(&e.data, e.fencing)
	}
	e.slack.ofClaims(h, e.records)
	e.tokens = checkTokens(h, &e.slack)
	e.idle = idle(h, &e.slack)
	e.noticed = noticed(h, e.records, &e.slack)
	e.leaders = leaders(h, e.records)
	e.twice, e.again = repeatedWork(h)
	return e
}

// labelOf returns the worst label that applies. onTrial says that the facts are those of a store under test.
func labelOf(f, none *Facts, onTrial bool) Label {
	for _, l := range labels {
		switch {
		case l.holds == nil:
			for i := range factRows {
				if row := &factRows[i]; row.Label == l.Label && row.decides(f, onTrial) {
					return l.Label
				}
			}
		case l.holds(f, none):
			return l.Label
		}
	}
	return Safe
}

// reasons are the sentences: first those behind the label, then those of the other facts, in their order.
func reasons(h History, label Label, none *Facts, told [][]Reason) []Reason {
	var first, rest []Reason
	if says := label.row().says; says != nil {
		first = says(h, none)
	}
	for i := range factRows {
		switch f := &factRows[i]; {
		case f.IgnoredOnTrial && h.Fence != "", f.Besides && label.Clean():
		case f.Label == label:
			first = append(first, told[i]...)
		default:
			rest = append(rest, told[i]...)
		}
	}
	return slices.Concat(first, rest)
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
