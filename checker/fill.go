package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// computation is the work for a value: a section that sent a write of it. The work came before the write, so that it
// was done whatever became of the write.
type computation struct {
	grant Grant
	// look is the answered read with which the client looked for the value under the grant; nil if there is none.
	look  *Op
	write *Op
}

// computations are those of the value of a cell, in the order of their grants. A grant has one at most.
func computations(c cellHistory, grants map[int]Grant) []computation {
	var all []computation
	for _, s := range cellSections(c.ops) {
		if s.write != nil && s.write.Outcome != OutcomeNotSent {
			all = append(all, computation{grants[s.write.Grant], s.read, s.write})
		}
	}
	slices.SortFunc(all, func(a, b computation) int { return byGranting(a.grant, b.grant) })
	return all
}

// failedBy reports whether the write did not take effect for certain by p, or may not have taken effect at all.
func (c computation) failedBy(p Pos) bool {
	switch c.write.Outcome {
	case OutcomeOK:
		return false
	case OutcomeUnknown:
		return true
	}
	return c.write.Returned > 0 && c.write.Returned < p
}

// repeatedWork finds the computations of values beyond the first. twice has those that the lock should have prevented,
// excused the others.
func repeatedWork(h History) (twice, excused *tally) {
	twice, excused = &tally{more: "computations that the lock should have prevented"},
		&tally{more: "computations of a value that had been computed"}
	if !h.Fill {
		return twice, excused
	}
	grants := make(map[int]Grant, len(h.Grants))
	for _, g := range h.Grants {
		grants[g.ID] = g
	}
	for _, c := range cellHistories(h) {
		all := computations(c, grants)
		var under []Grant
		of := make(map[int]computation, len(all)) // by grant
		for _, w := range all {
			under = append(under, w.grant)
			of[w.grant.ID] = w
		}
		beside := make(map[int]computation) // grant -> the work that was going on when it was granted
		eachOverlap(under, Grant.Claim, func(a, b Grant) {
			if _, found := beside[b.ID]; !found && h.excludes(a, b) && !of[a.ID].failedBy(b.Granted) {
				beside[b.ID] = of[a.ID]
			}
		})
		var stored *Op // the acknowledged write that returned first, of the work so far
		for i, w := range all {
			other, atOnce := beside[w.grant.ID]
			switch {
			case i == 0:
			case atOnce:
				twice.add(func() Reason { return atOnceReason(c.cell, other, w) })
			case stored != nil && stored.Returned < w.grant.Granted && w.look != nil:
				twice.add(func() Reason { return thereReason(c.cell, *stored, w) })
			default:
				excused.add(func() Reason { return againReason(c.cell, all[i-1], w) })
			}
			if w.write.Outcome == OutcomeOK && (stored == nil || w.write.Returned < stored.Returned) {
				stored = w.write
			}
		}
	}
	return twice, excused
}

// fencesStore ends the sentences about work that the lock should have prevented.
const fencesStore = " No fence prevents that: it protects the store, and not the work."

func atOnceReason(c Cell, first, second computation) Reason {
	return Reason{
		Text: fmt.Sprintf("%s computed %s (%s) although %s, which computed it too (%s), had a claim from step %d on, and "+
			"the lock was granted at step %d.%s",
			second.grant.Client, c, describe(*second.write), first.grant.Client, describe(*first.write), first.grant.Granted,
			second.grant.Granted, fencesStore),
		At: []Pos{second.write.step(), first.write.step(), first.grant.Granted, second.grant.Granted},
	}
}

func thereReason(c Cell, stored Op, w computation) Reason {
	return Reason{
		Text: fmt.Sprintf("%s computed %s (%s) although %s had been acknowledged at step %d, before the lock was granted "+
			"at step %d, and %s was answered.%s",
			w.grant.Client, c, describe(*w.write), describe(stored), stored.Returned, w.grant.Granted, describe(*w.look),
			fencesStore),
		At: []Pos{w.write.step(), stored.Returned, w.grant.Granted, w.look.step()},
	}
}

// againReason says what excuses the lock.
func againReason(c Cell, before, w computation) Reason {
	r := Reason{
		Text: fmt.Sprintf("The work for %s was done again: %s came after %s.", c, describe(*w.write),
			describe(*before.write)),
		At: []Pos{w.write.step(), before.write.step()},
	}
	claim := before.grant.Claim()
	switch {
	case w.look == nil:
		r.Text += fmt.Sprintf(" %s had not looked for the value after its grant at step %d.", w.grant.Client, w.grant.Granted)
		r.At = append(r.At, w.grant.Granted)
	case claim.end() <= w.grant.Granted:
		r.Text += fmt.Sprintf(" The claim of %s had ended at step %d, when %s, and %s was granted the lock at step %d.",
			before.grant.Client, claim.End, claim.Ended, w.grant.Client, w.grant.Granted)
		r.At = append(r.At, claim.End, w.grant.Granted)
	case before.write.Outcome != OutcomeOK:
		r.Text += fmt.Sprintf(" The outcome of the first write was %q.", before.write.Outcome)
	case w.grant.Claim().Empty():
		r.Text += fmt.Sprintf(" The lease of %s was over when it was granted the lock at step %d.", w.grant.Client,
			w.grant.Granted)
		r.At = append(r.At, w.grant.Granted)
	}
	return r
}

// checkFilled decides whether a cell can have been empty up to some instant, and have had the value from then on. Which
// write it was that a read found makes no difference, since all of them store the same value: it must only be one that
// can have taken effect by then.
func (f *dataFinding) checkFilled(c cellHistory) {
	writes := make(map[string]*Op)
	for i := range c.ops {
		if o := &c.ops[i]; o.Kind == Write && (o.Outcome == OutcomeOK || o.Outcome == OutcomeUnknown) {
			writes[o.ID] = o
		}
	}
	var filled *Op // the operation that returned first of those after which the value is there
	for i := range c.ops {
		o := &c.ops[i]
		if o.Outcome != OutcomeOK || o.Kind == Read && o.Saw == "" {
			continue
		}
		if filled == nil || cmp.Or(cmp.Compare(o.Returned, filled.Returned), byInvocation(*o, *filled)) < 0 {
			filled = o
		}
		if w := writes[o.Saw]; o.Kind == Read && (w == nil || w.Invoked > o.Returned) {
			f.wrong.add(func() Reason {
				return Reason{Text: fmt.Sprintf("%s of %s found %s, which no write can have stored by then.", describe(*o), c.cell,
					o.Saw), At: []Pos{o.step()}}
			})
		}
		if o.Kind == Write && c.final == "" {
			f.lost.add(func() Reason {
				return Reason{Text: fmt.Sprintf("%s to %s was acknowledged, and in the end there is no value.", describe(*o),
					c.cell), At: []Pos{o.step()}}
			})
		}
	}
	for i := range c.ops {
		if o := &c.ops[i]; filled != nil && o.Kind == Read && o.Outcome == OutcomeOK && o.Saw == "" &&
			filled.Returned < o.Invoked {
			f.wrong.add(func() Reason {
				return Reason{Text: fmt.Sprintf("%s of %s found no value, although %s had returned at step %d.", describe(*o),
					c.cell, describe(*filled), filled.Returned),
					At: []Pos{o.step(), filled.Returned}}
			})
		}
	}
	switch {
	case c.final != "" && writes[c.final] == nil:
		f.wrong.add(func() Reason {
			return Reason{Text: fmt.Sprintf("The final value of %s is %s, which no write can have stored.", c.cell, c.final)}
		})
	case c.final == "" && filled != nil && filled.Kind == Read:
		f.wrong.add(func() Reason {
			return Reason{Text: fmt.Sprintf("%s of %s found a value, and in the end there is none.", describe(*filled), c.cell),
				At: []Pos{filled.step()}}
		})
	}
}
