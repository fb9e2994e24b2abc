package checker

import (
	"fmt"
	"strings"
)

// checkSections checks what the check of each cell cannot show: that the
// sections took effect as a whole, and one after the other. The second is
// checked only if the data is right so far, since it needs the order of whole
// sections.
func checkSections(h History, f *dataFinding) {
	all := guardedSections(h)
	for _, s := range all {
		f.findTorn(s, h.SectionWrites)
	}
	if f.flaws() > 0 {
		return
	}
	for _, sections := range byResource(all) {
		newSerial(sections, f.cells).run(f.wrong)
	}
}

// findTorn counts a section that took effect only in part: the sum of the
// registers is no longer right, and later sections are based on that. A write
// of unknown outcome took effect if it is on the path. A section without effect
// is not torn, wherever it stopped.
//
// If a path ends early it is not known what took effect: that has its own
// reason.
func (f *dataFinding) findTorn(s guardedSection, want int) {
	var kept, gone []*Op
	for _, w := range s.writes {
		k := f.cells[w.cell()]
		if !k.whole {
			return
		}
		if _, on := k.slot[w.ID]; on {
			kept = append(kept, w)
		} else {
			gone = append(gone, w)
		}
	}
	if missing := len(gone) + max(0, want-len(s.writes)); len(kept) > 0 && missing > 0 {
		f.torn.add(func() Reason { return s.tornReason(kept, gone, want) })
	}
}

// tornReason says which writes are in the data, which are not, and why.
func (s guardedSection) tornReason(kept, gone []*Op, want int) Reason {
	r := Reason{At: []Pos{s.begin()}}
	var there, missing []string
	for _, w := range kept {
		there = append(there, fmt.Sprintf("its write %s (step %d) to %s", w.ID, w.step(), w.cell()))
		r.At = append(r.At, w.step())
	}
	for _, w := range gone {
		missing = append(missing, fmt.Sprintf("its write %s (step %d) to %s %s", w.ID, w.step(), w.cell(), s.fate(w)))
		r.At = append(r.At, w.step())
	}
	if left := want - len(s.writes); left > 0 {
		why, at := s.stopped()
		missing = append(missing, fmt.Sprintf("it never sent %d of its %d writes%s", left, want, why))
		r.At = append(r.At, at...)
	}
	verb := "is"
	if len(there) > 1 {
		verb = "are"
	}
	r.Text = fmt.Sprintf("The section of %s on %s that began at step %d is torn: %s %s in the data, but %s.",
		s.grant.Client, s.grant.Resource, s.begin(), strings.Join(there, " and "), verb, strings.Join(missing, " and "))
	return r
}

// fate says why a write is not in the data.
func (s guardedSection) fate(w *Op) string {
	switch {
	case w.Outcome == OutcomeOK:
		return "was acknowledged and lost"
	case w.Outcome == OutcomeRefused:
		return "was refused"
	case w.Outcome == OutcomeNotSent:
		return "was never sent"
	case w.Outcome == OutcomeFailed:
		return "failed"
	case w.Applied == 0:
		return "never arrived"
	case w.Accepted:
		return "had no answer, and was overwritten unseen"
	}
	return "was refused, and the answer did not come"
}

// stopped says why a section ended before it had sent all its writes.
func (s guardedSection) stopped() (string, []Pos) {
	g, last := s.grant, s.ops[len(s.ops)-1]
	for _, e := range []ending{
		{g.Crashed, "it crashed"},
		{g.LostSeen, "it saw the notice of the loss"},
		{g.UntilSeen, "it saw that its validity had ended"},
	} {
		if e.at >= last.Invoked {
			return fmt.Sprintf(": %s at step %d", e.what, e.at), []Pos{e.at}
		}
	}
	if last.Outcome != OutcomeOK {
		return fmt.Sprintf(": the outcome of %s was %q", last.ID, last.Outcome), nil
	}
	return "", nil
}
