package markdown

import (
	"math"
	"slices"

	"locksim/lock/fence"
	"locksim/reports/scene"
	"locksim/sim/trace"
)

// branch adds to the rows of the run that is told what the store answered in the
// other modes, where those part from it.
func branch(rows []seqRow, first *scene.Scene, others []*scene.Scene) {
	parted := make([]int, len(others)) // from which step on
	for i, o := range others {
		parted[i] = math.MaxInt
		if d := trace.Diff(first.Run.Trace, o.Run.Trace); d != nil {
			parted[i] = d.N
		}
	}
	for i := range rows {
		r := &rows[i]
		if r.note || r.lost || r.over[1] != trace.Store || !slices.Contains(parted, r.n) {
			continue
		}
		r.branches = []seqBranch{{modes: []fence.Mode{first.Run.Mode}, answer: r.answer}}
		for j, o := range others {
			if parted[j] >= r.n {
				r.branch(o, first.Run.Trace.Events[r.n-1])
			}
		}
		if len(r.branches) > 1 && r.fatal != "" {
			r.branches[0].says = r.decision(r.fatal)
		}
	}
}

// branch adds the answer of one mode to the same request.
func (r *seqRow) branch(o *scene.Scene, e trace.Event) {
	if r.n > o.Run.Trace.Len() {
		return
	}
	mine, ok := e.What.(trace.Decision)
	other, same := o.Run.Trace.Events[r.n-1].What.(trace.Decision)
	if !ok || !same || !mine.Same(other) {
		return
	}
	answer := storeAnswer(other)
	i := slices.IndexFunc(r.branches, func(b seqBranch) bool { return b.answer == answer })
	if i >= 0 {
		r.branches[i].modes = append(r.branches[i].modes, o.Run.Mode)
		return
	}
	b := seqBranch{modes: []fence.Mode{o.Run.Mode}, answer: answer}
	if o.Fatal == r.n {
		b.says = r.decision(o.Decision().Text)
	}
	r.branches = append(r.branches, b)
}
