package reports

import (
	"math"
	"slices"

	"locksim/lock/fence"
	"locksim/sim/trace"
)

// branch adds to the rows of the run that is told what the store answered in the
// other modes, where those part from it.
func branch(rows []seqRow, first *scene, others []*scene) {
	parted := make([]int, len(others)) // from which step on
	for i, o := range others {
		parted[i] = math.MaxInt
		if d := trace.Diff(first.run.Trace, o.run.Trace); d != nil {
			parted[i] = d.N
		}
	}
	for i := range rows {
		r := &rows[i]
		if r.note || r.lost || r.over[1] != "s0" || !slices.Contains(parted, r.n) {
			continue
		}
		r.branches = []seqBranch{{modes: []fence.Mode{first.run.Mode}, answer: r.answer}}
		for j, o := range others {
			if parted[j] >= r.n {
				r.branch(o, first.run.Trace.Events[r.n-1])
			}
		}
		if len(r.branches) > 1 && r.fatal != "" {
			r.branches[0].says = r.decision(r.fatal)
		}
	}
}

// branch adds the answer of one mode to the same request.
func (r *seqRow) branch(o *scene, e trace.Event) {
	if r.n > o.run.Trace.Len() {
		return
	}
	mine, ok := e.What.(trace.Decision)
	other, same := o.run.Trace.Events[r.n-1].What.(trace.Decision)
	if !ok || !same || !mine.Same(other) {
		return
	}
	answer := storeAnswer(other)
	i := slices.IndexFunc(r.branches, func(b seqBranch) bool { return b.answer == answer })
	if i >= 0 {
		r.branches[i].modes = append(r.branches[i].modes, o.run.Mode)
		return
	}
	b := seqBranch{modes: []fence.Mode{o.run.Mode}, answer: answer}
	if o.fatal == r.n {
		b.says = r.decision(decisions[o.run.Verdict.Label])
	}
	r.branches = append(r.branches, b)
}
