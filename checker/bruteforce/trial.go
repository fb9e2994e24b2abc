package bruteforce

import (
	"cmp"
	"slices"

	"locksim/checker"
)

// Two of the rules; the third one, seal, is told by them.
const check, strict = "check", "strict"

// placed is an operation in an order, with what the store made of it.
type placed struct {
	checker.Op
	// counts says that it was seen and its token compared; stored, of a write, that its value was stored.
	counts, stored bool
}

// onTrial are the facts of a history with History.Fence: "each cell counts once at most, by the first answer, in the
// order of the returns, up to which no order of the operations on the cell gives all answers of a store that keeps the
// rule".
func onTrial(h checker.History, f *checker.Facts) {
	f.Data = checker.DataRight
	byCell := map[checker.Cell][]checker.Op{}
	for _, o := range slices.Concat(h.Ops, h.Last) {
		if o.Outcome != checker.OutcomeNotSent && o.Outcome != checker.OutcomeFailed { // these certainly had no effect
			byCell[cell(o)] = append(byCell[cell(o)], o)
		}
	}
	for _, ops := range byCell {
		slices.SortFunc(ops, func(a, b checker.Op) int { return cmp.Compare(a.Returned, b.Returned) })
		broken := false
		for _, o := range ops {
			if !hasAnswer(o) {
				continue
			}
			if o.Outcome == checker.OutcomeRefused {
				f.StaleRejected++
			}
			if !broken && !orderOf(string(h.Fence), upTo(ops, o.Returned), nil) {
				broken = true
				countBroken(string(h.Fence), ops, o, f)
			}
		}
	}
	// "StaleRejected counts all refusals but those that count in FalseRejects."
	f.StaleRejected -= f.FalseRejects
	// "The data is corrupted if a cell counts in StaleAccepted, LostUpdates or Unexplained."
	if f.StaleAccepted+f.LostUpdates+f.Unexplained > 0 {
		f.Data = checker.DataCorrupted
	}
}

func hasAnswer(o checker.Op) bool {
	return o.Outcome == checker.OutcomeOK || o.Outcome == checker.OutcomeRefused
}

// upTo are the operations that were called by a position: "one of unknown outcome, or whose answer came later".
func upTo(ops []checker.Op, p checker.Pos) []checker.Op {
	var all []checker.Op
	for _, o := range ops {
		if o.Invoked > p {
			continue
		}
		if o.Returned > p {
			o.Outcome = checker.OutcomeUnknown
		}
		all = append(all, o)
	}
	return all
}

// orderOf tries each order of the operations that are left, after those that are placed. "An operation is in the order
// at one instant between its call and its return; one of unknown outcome, or whose answer came later, at one after its
// call, or nowhere."
func orderOf(rule string, left []checker.Op, before []placed) bool {
	if !slices.ContainsFunc(left, hasAnswer) {
		return true
	}
	for i, o := range left {
		if slices.ContainsFunc(left, func(p checker.Op) bool { return hasAnswer(p) && p.Returned < o.Invoked }) {
			continue // p comes before o
		}
		rest := without(left, i)
		for _, p := range possible(rule, before, o) {
			if orderOf(rule, rest, append(slices.Clone(before), p)) {
				return true
			}
		}
	}
	return false
}

func without(ops []checker.Op, i int) []checker.Op { return slices.Delete(slices.Clone(ops), i, i+1) }

// possible is what a store that keeps the rule may have made of an operation that comes after others, by its answer.
func possible(rule string, before []placed, o checker.Op) []placed {
	unknown := !hasAnswer(o)
	switch {
	case o.Outcome == checker.OutcomeRefused:
		// "The store may refuse an operation only if the rule would refuse a write with its token, or if a higher token was
		// seen in any operation that was not refused."
		higher := slices.ContainsFunc(before, func(p placed) bool { return p.counts && p.Token > o.Token })
		if higher || !takes(rule, before, o) {
			return []placed{{Op: o}}
		}
		return nil
	case o.Kind == checker.Read:
		// "A read finds the value of the last write that was taken; it may be answered whatever its token is."
		if unknown || o.Saw == value(before) {
			return []placed{{Op: o, counts: true}}
		}
		return nil
	case !takes(rule, before, o):
		return nil
	case unknown:
		// "Of one of unknown outcome it may be that only the token counts."
		return []placed{{Op: o, counts: true, stored: true}, {Op: o, counts: true}}
	}
	return []placed{{Op: o, counts: true, stored: true}}
}

// "The rule takes a write whose token is not below the highest of those that count: of writes that were taken and,
// under the rules other than check, of reads; under strict an equal token of another grant than the first that sent it
// is refused."
func takes(rule string, before []placed, o checker.Op) bool {
	for i, p := range before {
		if !p.counts || p.Kind == checker.Read && rule == check {
			continue
		}
		if p.Token > o.Token {
			return false
		}
		first := !slices.ContainsFunc(before[:i], func(q placed) bool { return q.counts && q.Token == p.Token })
		if rule == strict && p.Token == o.Token && first && p.Grant != o.Grant {
			return false
		}
	}
	return true
}

// value is that of the last write that was taken.
func value(order []placed) string {
	now := ""
	for _, p := range order {
		if p.stored {
			now = stores(p.Op)
		}
	}
	return now
}

// stores is what a write stores: a retry "stores what that one stores".
func stores(w checker.Op) string {
	if w.Again != "" {
		return w.Again
	}
	return w.ID
}

// countBroken counts a cell by the first answer that breaks the rule.
func countBroken(rule string, ops []checker.Op, o checker.Op, f *checker.Facts) {
	switch {
	// "If the answer is a refusal, the cell counts in FalseRejects."
	case o.Outcome == checker.OutcomeRefused:
		f.FalseRejects++
	case o.Kind == checker.Write:
		newer := answeredAbove(rule, ops, o)
		if len(newer) == 0 {
			f.Unexplained++
			return
		}
		f.StaleAccepted++
		if hadForgotten(ops, o, newer) {
			f.StaleForgotten++
		}
	default:
		countRead(ops, o, f)
	}
}

// "The cell counts in StaleAccepted if an operation whose token counts and is higher, or under strict is equal and of
// another grant, had been answered with success before its call."
func answeredAbove(rule string, ops []checker.Op, w checker.Op) (all []checker.Op) {
	for _, o := range ops {
		counts := o.Kind == checker.Write || rule != check
		above := o.Token > w.Token || rule == strict && o.Token == w.Token && o.Grant != w.Grant
		if o.Outcome == checker.OutcomeOK && counts && above && o.Returned < w.Invoked {
			all = append(all, o)
		}
	}
	return all
}

// "Before the call of which the store had refused an operation with an equal or higher token, after it had answered one
// with the highest of those above it."
func hadForgotten(ops []checker.Op, w checker.Op, above []checker.Op) bool {
	highest := slices.MaxFunc(above, func(a, b checker.Op) int { return cmp.Compare(a.Token, b.Token) }).Token
	for _, a := range above {
		for _, r := range ops {
			if a.Token == highest && r.Outcome == checker.OutcomeRefused && a.Returned < r.Returned && r.Returned < w.Invoked &&
				r.Token >= w.Token {
				return true
			}
		}
	}
	return false
}

// "The cell counts in Unexplained if the read found what no write had sent by then, and in LostUpdates if a write of
// another value had been acknowledged before the call of the read which what it found cannot follow. Otherwise the cell
// counts in Unexplained."
func countRead(ops []checker.Op, read checker.Op, f *checker.Facts) {
	var copies []checker.Op // of the write that it found
	for _, w := range ops {
		if w.Kind == checker.Write && stores(w) == read.Saw {
			copies = append(copies, w)
		}
	}
	sent := slices.ContainsFunc(copies, func(w checker.Op) bool { return w.Invoked < read.Returned })
	if read.Saw != "" && !sent {
		f.Unexplained++
		return
	}
	var lost *checker.Op
	for i, w := range ops { // in the order of their returns
		if w.Kind == checker.Write && w.Outcome == checker.OutcomeOK && w.Returned < read.Invoked && stores(w) != read.Saw &&
			!mayFollow(copies, w) {
			lost = &ops[i]
		}
	}
	if lost == nil {
		f.Unexplained++
		return
	}
	f.LostUpdates++
	// "In which a copy of the write that the read found was not refused, and had not returned when the write that is lost
	// was called, the last such one to return."
	if slices.ContainsFunc(copies, func(c checker.Op) bool { return outlasts(c, *lost) }) {
		f.Overwritten++
	}
}

// "It is the initial value; or its write has a lower token; or each copy of its write, the first and the retries, was
// refused or had returned before the call of the one that is lost."
func mayFollow(copies []checker.Op, w checker.Op) bool {
	return len(copies) > 0 && copies[0].Token >= w.Token &&
		slices.ContainsFunc(copies, func(c checker.Op) bool { return outlasts(c, w) })
}

// outlasts reports whether a copy of a write was not refused, and had not returned when another one was called.
func outlasts(c, w checker.Op) bool {
	return c.Outcome == checker.OutcomeUnknown || c.Outcome == checker.OutcomeOK && c.Returned > w.Invoked
}
