package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"locksim/lock/fence"
)

// This file judges a store by what its clients saw, where the store is what is under test: see [History.Fence]. It
// looks for an order of all operations on a register in which a store that keeps the rule gives the same answers.
//
// The rule compares tokens. A write is taken when its token is not below the highest of those that count: the
// tokens of writes that were taken, and under the rules seal and strict those of reads too. Under strict an equal
// token of another grant is refused. A store may refuse more than its rule says, as long as it refuses no rightful
// holder: an operation for which a higher token was seen, in a read or a write. A read that is answered finds the
// value of the last write that was taken. That a stale read is answered does no harm, and is not judged. An
// operation of unknown outcome may have taken effect, or only its token may count, at any time after its call, or
// it never has an effect.

// maxFencedSteps bounds the search for an order of the operations on one register.
const maxFencedSteps = 200_000

// fencedState is what a store knows of a register.
type fencedState struct {
	value string
	// counts is the highest token that counts, by is the grant that sent it first; seen is the highest token that was seen
	// at all.
	counts, seen uint64
	by           int
}

// nobody is no grant: a last read is under one that has no id, 0.
const nobody = -1

// fencedCheck is the check of one register.
type fencedCheck struct {
	rule fence.Mode
	cell Cell
	ops  []Op // in the order of their calls
}

// Stored is the id that a write stores: its own, or that of the write of which it is a retry.
func (o Op) Stored() string { return cmp.Or(o.Again, o.ID) }

// answered reports whether the store gave an answer that says what it did.
func (o Op) answered() bool {
	return o.Returned > 0 && (o.Outcome == OutcomeOK || o.Outcome == OutcomeRefused)
}

// fencedCells are the operations by register, in the order of the first call on each.
func fencedCells(h History) []fencedCheck {
	var all []fencedCheck
	ops := slices.Concat(h.Ops, h.Last)
	slices.SortStableFunc(ops, func(a, b Op) int { return cmp.Compare(a.Invoked, b.Invoked) })
	for _, o := range ops {
		if o.Outcome == OutcomeNotSent || o.Outcome == OutcomeFailed {
			continue
		}
		i := slices.IndexFunc(all, func(c fencedCheck) bool { return c.cell == o.cell() })
		if i < 0 {
			i, all = len(all), append(all, fencedCheck{rule: h.Fence, cell: o.cell()})
		}
		all[i].ops = append(all[i].ops, o)
	}
	return all
}

// takes reports whether the rule lets the store take an operation with the token of o.
func (c fencedCheck) takes(s fencedState, o Op) bool {
	if o.Token == s.counts && c.rule == fence.Strict && s.by != nobody {
		return s.by == o.Grant
	}
	return o.Token >= s.counts
}

// mayRefuse reports whether the store may refuse an operation with the token of o.
func (c fencedCheck) mayRefuse(s fencedState, o Op) bool {
	return o.Token < s.seen || c.rule == fence.Strict && o.Token == s.counts && s.by != nobody && s.by != o.Grant
}

// note is the state after the token of o was seen.
func (c fencedCheck) note(s fencedState, o Op) fencedState {
	s.seen = max(s.seen, o.Token)
	if (o.Kind == Write || c.rule != fence.Check) && c.takes(s, o) {
		s.counts, s.by = o.Token, o.Grant
	}
	return s
}

// next are the states in which a store may be after an operation, by what its client knows of it: none if no store
// that keeps the rule gives this answer.
func (c fencedCheck) next(s fencedState, o Op) []fencedState {
	switch {
	case o.Outcome == OutcomeRefused && o.Returned > 0:
		if c.mayRefuse(s, o) {
			return []fencedState{s}
		}
	case !o.answered() && o.Kind == Read:
		return distinct(s, c.note(s, o))
	case !o.answered():
		if !c.takes(s, o) {
			return []fencedState{s}
		}
		noted := c.note(s, o)
		taken := noted
		taken.value = o.Stored()
		return distinct(s, noted, taken)
	case o.Kind == Read:
		if s.value == o.Saw {
			return []fencedState{c.note(s, o)}
		}
	case c.takes(s, o):
		s = c.note(s, o)
		s.value = o.Stored()
		return []fencedState{s}
	}
	return nil
}

// distinct are the states, each once, in their order.
func distinct(states ...fencedState) []fencedState {
	var out []fencedState
	for _, s := range states {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// fencedSearch looks for an order of the operations up to a position: what returned later is of unknown outcome.
type fencedSearch struct {
	*fencedCheck
	ops   []Op
	done  []bool
	seen  map[string]bool
	steps int
}

// hasOrder reports whether the operations up to a position have an order. decided is false if the search took too
// many steps.
func (c *fencedCheck) hasOrder(upTo Pos) (found, decided bool) {
	s := &fencedSearch{fencedCheck: c, seen: map[string]bool{}}
	for _, o := range c.ops {
		if o.Invoked > upTo {
			break
		}
		if o.Returned > upTo {
			o.Returned = 0
		}
		s.ops = append(s.ops, o)
	}
	s.done = make([]bool, len(s.ops))
	found = s.from(fencedState{by: nobody})
	return found, s.steps <= maxFencedSteps
}

// from reports whether the operations that are left have an order that begins in a state.
func (s *fencedSearch) from(state fencedState) bool {
	if s.steps++; s.steps > maxFencedSteps {
		return false
	}
	first := never // of the returns of what is left
	for i, o := range s.ops {
		if !s.done[i] && o.answered() {
			first = min(first, o.Returned)
		}
	}
	if first == never {
		return true
	}
	key := s.key(state)
	if s.seen[key] {
		return false
	}
	s.seen[key] = true
	for i, o := range s.ops {
		if o.Invoked > first {
			break
		}
		// A read or a refusal that changes nothing now never does: at once is never worse. A write that stores what is there
		// may bring its value back later.
		if s.done[i] || !o.answered() || o.Kind == Write && o.Outcome == OutcomeOK {
			continue
		}
		if next := s.next(state, o); len(next) == 1 && next[0] == state {
			return s.take(i, state)
		}
	}
	for i, o := range s.ops {
		if o.Invoked > first {
			break
		}
		if s.done[i] {
			continue
		}
		for _, next := range s.next(state, o) {
			if next == state && !o.answered() {
				continue // it never has an effect: it is left
			}
			if s.take(i, next) {
				return true
			}
		}
	}
	return false
}

// take reports whether there is an order in which operation i comes next, and leads to a state.
func (s *fencedSearch) take(i int, state fencedState) bool {
	s.done[i] = true
	found := s.from(state)
	s.done[i] = false
	return found
}

// key identifies what is left, and the state.
func (s *fencedSearch) key(state fencedState) string {
	b := make([]byte, 0, len(s.done)+48)
	for _, done := range s.done {
		if done {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	b = strconv.AppendUint(b, state.counts, 36)
	b = strconv.AppendUint(append(b, ' '), state.seen, 36)
	b = strconv.AppendInt(append(b, ' '), int64(state.by), 36)
	return string(append(append(b, ' '), state.value...))
}

// broke is the first answer, in the order of the returns, up to which there is no order of the operations; nil if all
// have one. decided is false if the search took too many steps.
func (c *fencedCheck) broke() (o *Op, decided bool) {
	var returns []Pos
	for _, o := range c.ops {
		if o.answered() {
			returns = append(returns, o.Returned)
		}
	}
	slices.Sort(returns)
	decided = true
	i, _ := slices.BinarySearchFunc(returns, false, func(p Pos, _ bool) int {
		found, sure := c.hasOrder(p)
		decided = decided && sure
		if found {
			return -1
		}
		return 1
	})
	if !decided || i == len(returns) {
		return nil, decided
	}
	at := slices.IndexFunc(c.ops, func(o Op) bool { return o.answered() && o.Returned == returns[i] })
	return &c.ops[at], true
}

// fencedFinding is what was found of a store under test.
type fencedFinding struct {
	stale, forgotten, gone, overwritten, unexplained, falsely *tally
	refused                                                   int
	undecided                                                 *tally
}

// checkFenced checks each register. In each it counts the first answer that breaks the rule: what comes after it
// follows from it.
func checkFenced(h History) *fencedFinding {
	f := &fencedFinding{
		stale:       &tally{more: "stale writes that were accepted"},
		forgotten:   &tally{more: "stale writes that were accepted after the store had refused some"},
		gone:        &tally{more: "acknowledged writes that were gone"},
		overwritten: &tally{more: "acknowledged writes that a stale one overwrote"},
		unexplained: &tally{more: "answers that no order explains"},
		falsely:     &tally{more: "refusals of a rightful holder"},
		undecided:   &tally{more: "registers that are undecided"},
	}
	if h.Fence == "" {
		return f
	}
	all := fencedCells(h)
	for i := range all {
		c := &all[i]
		for _, o := range c.ops {
			if o.Outcome == OutcomeRefused && o.Returned > 0 {
				f.refused++
			}
		}
		switch o, decided := c.broke(); {
		case !decided:
			f.undecided.add(func() Reason {
				return Reason{Text: fmt.Sprintf("The data is undecided: the search for an order of the operations on %s took more "+
					"than %d steps.", c.cell.Resource, maxFencedSteps)}
			})
		case o != nil:
			f.classify(c, *o, all)
		}
	}
	f.refused -= f.falsely.count
	return f
}

// corrupts reports whether something but a refusal was wrong.
func (f *fencedFinding) corrupts() bool {
	return f.stale.count+f.forgotten.count+f.gone.count+f.overwritten.count+f.unexplained.count > 0
}

// into adds the findings to those that a verdict has of any store.
func (f *fencedFinding) into(data *dataFinding, fencing *fencingFinding) {
	fencing.falsely = f.falsely
	fencing.rejected.count = f.refused
	fencing.accepted = &tally{more: f.stale.more, count: f.stale.count + f.forgotten.count,
		reasons: slices.Concat(f.forgotten.reasons, f.stale.reasons)}
	data.lost = &tally{more: f.gone.more, count: f.gone.count + f.overwritten.count,
		reasons: slices.Concat(f.overwritten.reasons, f.gone.reasons)}
	data.wrong = f.unexplained
	switch {
	case f.corrupts():
		data.data = DataCorrupted
	case f.undecided.count > 0:
		data.data, data.wrong = DataUndecided, f.undecided
	}
}

// deciding are the sentences about stale writes of a store under test: they come first there.
func (f *fencedFinding) deciding() []Reason {
	return slices.Concat(f.forgotten.sentences(), f.stale.sentences())
}

// acceptedBy are the sentences about stale writes of a store that is not under test.
func (f *fencingFinding) acceptedBy(h History) []Reason {
	if h.Fence != "" {
		return nil
	}
	return f.accepted.sentences()
}

// classify counts an answer that broke the rule, with a sentence.
func (f *fencedFinding) classify(c *fencedCheck, o Op, all []fencedCheck) {
	switch {
	case o.Outcome == OutcomeRefused:
		f.falsely.add(func() Reason { return c.falseRefusal(o, all) })
	case o.Kind == Write:
		before, found := c.acknowledgedAbove(o)
		if !found {
			f.unexplained.add(func() Reason { return c.unexplained(o) })
			return
		}
		if refusal, knew := c.refusalBetween(before, o); knew {
			f.forgotten.add(func() Reason {
				return c.staleTaken(o, before).and(Reason{Text: fmt.Sprintf(" It had refused %s%s (step %d): it has forgotten "+
					"the highest token.", refusal.ID, withToken(refusal.Token), refusal.Returned), At: []Pos{refusal.Returned}})
			})
			return
		}
		f.stale.add(func() Reason { return c.staleTaken(o, before) })
	default:
		f.classifyRead(c, o)
	}
}

// classifyRead counts a read that broke the rule.
func (f *fencedFinding) classifyRead(c *fencedCheck, o Op) {
	source := slices.IndexFunc(c.ops, func(w Op) bool {
		return w.Kind == Write && w.Stored() == o.Saw && w.Invoked < o.Returned
	})
	newer := c.acknowledgedBefore(o, source)
	switch {
	case source < 0 && o.Saw != "" || newer == nil:
		f.unexplained.add(func() Reason { return c.unexplained(o) })
	case source >= 0 && !c.over(source, *newer):
		f.overwritten.add(func() Reason {
			w := c.ops[source]
			return Reason{
				Text: fmt.Sprintf("%s%s was acknowledged (step %d), and %s, which began after that, found %s, of %s%s: %s.",
					named(*newer), withToken(newer.Token), newer.Returned, named(o), o.Saw, named(w), withToken(w.Token),
					c.tookItsPlace(w, *newer)),
				At: []Pos{newer.Returned, o.Returned, w.Invoked},
			}
		})
	default:
		f.gone.add(func() Reason {
			return Reason{
				Text: fmt.Sprintf("%s%s was acknowledged (step %d), and %s, which began after that, found %s (step %d): the "+
					"write is gone.", named(*newer), withToken(newer.Token), newer.Returned, named(o), found(o.Saw), o.Returned),
				At: []Pos{newer.Returned, o.Returned},
			}
		})
	}
}

// tookItsPlace says how a write came to overwrite a newer one.
func (c *fencedCheck) tookItsPlace(w, newer Op) string {
	switch {
	case w.Invoked > newer.Returned:
		return "it was sent after that, and has taken effect"
	case slices.ContainsFunc(c.ops, func(o Op) bool {
		return o.Kind == Write && o.Outcome == OutcomeOK && o.Stored() == w.Stored() && o.Returned > newer.Invoked
	}):
		return "the two were under way at once, and the check of the token and the write are not one step"
	}
	return "it has no answer, and took effect after the write with the higher token"
}

// over reports whether the write at an index, and each of its retries, had returned before w was called.
func (c *fencedCheck) over(source int, w Op) bool {
	stored := c.ops[source].Stored()
	return !slices.ContainsFunc(c.ops, func(o Op) bool {
		return o.Kind == Write && o.Stored() == stored && o.Outcome != OutcomeRefused &&
			(!o.answered() || o.Returned > w.Invoked)
	})
}

// acknowledgedBefore is a write that was acknowledged before a read was called, and that what the read found cannot
// follow: the last such one. source is the index of the write that it found, or negative for the initial value.
func (c *fencedCheck) acknowledgedBefore(read Op, source int) *Op {
	var last *Op
	for i := range c.ops {
		w := &c.ops[i]
		if w.Kind != Write || w.Outcome != OutcomeOK || w.Returned > read.Invoked || w.Stored() == read.Saw {
			continue
		}
		if source >= 0 && c.ops[source].Token >= w.Token && !c.over(source, *w) {
			continue
		}
		if last == nil || w.Returned > last.Returned {
			last = w
		}
	}
	return last
}

// acknowledgedAbove is the operation with the highest token that counts, is above that of a write, and was answered
// before the write was called. Under strict it is one with an equal token of another grant, if there is none above
// it.
func (c *fencedCheck) acknowledgedAbove(w Op) (best Op, ok bool) {
	for _, o := range c.ops {
		if o.Outcome != OutcomeOK || o.Returned == 0 || o.Returned > w.Invoked || o.Kind == Read && c.rule == fence.Check {
			continue
		}
		above := o.Token > w.Token || c.rule == fence.Strict && o.Token == w.Token && o.Grant != w.Grant
		if above && (!ok || o.Token > best.Token || o.Token == best.Token && o.Kind == Write && best.Kind == Read) {
			best, ok = o, true
		}
	}
	return best, ok
}

// refusalBetween is an operation that the store refused, with a token that is not below that of a stale write, before
// that was called, and after it had answered one with the highest token.
func (c *fencedCheck) refusalBetween(highest, w Op) (refusal Op, ok bool) {
	known := never
	for _, o := range c.ops {
		counts := o.Outcome == OutcomeOK && o.Returned > 0 && (o.Kind == Write || c.rule != fence.Check)
		if counts && o.Token == highest.Token && (o.Token > w.Token || o.Grant != w.Grant) {
			known = min(known, o.Returned)
		}
	}
	i := slices.IndexFunc(c.ops, func(o Op) bool {
		return o.Outcome == OutcomeRefused && o.Returned > known && o.Returned < w.Invoked && o.Token >= w.Token
	})
	if i < 0 {
		return Op{}, false
	}
	return c.ops[i], true
}

// staleTaken says that a write was taken, and why it was stale.
func (c *fencedCheck) staleTaken(o, before Op) Reason {
	text := fmt.Sprintf("%s%s was accepted (step %d), although %s with token %d had been answered before it was sent "+
		"(step %d).", named(o), withToken(o.Token), o.Returned, named(before), before.Token, before.Returned)
	if before.Token == o.Token {
		text += " The two are of different grants."
	}
	if before.Kind == Read {
		text += fmt.Sprintf(" Reads count under rule %s.", c.rule)
	}
	return Reason{Text: text + misread(before.Token, o.Token), At: []Pos{o.Returned, before.Returned}}
}

// falseRefusal says that a rightful holder was refused, and what may be why.
func (c *fencedCheck) falseRefusal(o Op, all []fencedCheck) Reason {
	text := fmt.Sprintf("%s%s was refused (step %d), although no operation on %s with a higher token had been sent.",
		named(o), withToken(o.Token), o.Returned, c.cell.Resource)
	at := []Pos{o.Returned}
	var highest, elsewhere Op
	for i := range all {
		for _, other := range all[i].ops {
			sent := other.Invoked < o.Returned && other.Outcome != OutcomeRefused &&
				(other.Kind == Write || c.rule != fence.Check)
			switch {
			case !sent || other.ID == o.ID:
			case all[i].cell == c.cell && other.Token >= highest.Token:
				highest = other
			case all[i].cell != c.cell && other.Token >= elsewhere.Token:
				elsewhere = other
			}
		}
	}
	if highest.ID != "" {
		text += fmt.Sprintf(" The highest was %d, of %s.", highest.Token, named(highest))
		at = append(at, highest.Invoked)
	}
	switch why := misread(o.Token, highest.Token); {
	case highest.Token > o.Token:
		return c.refusedAndTaken(o)
	case o.Again != "" && elsewhere.Token <= o.Token:
		text += fmt.Sprintf(" It is a retry of %s.", o.Again)
	case why != "" && highest.ID != "":
		text += why
	case elsewhere.Token > o.Token:
		text += fmt.Sprintf(" %s on %s had been sent with token %d: are tokens of different keys compared?",
			named(elsewhere), elsewhere.Resource, elsewhere.Token)
		at = append(at, elsewhere.Invoked)
	default:
		text += why
	}
	return Reason{Text: text, At: at}
}

// refusedAndTaken says that a write was refused that has taken effect, such as one whose first copy was taken and
// whose second was refused.
func (c *fencedCheck) refusedAndTaken(o Op) Reason {
	r := Reason{Text: fmt.Sprintf("%s%s was refused (step %d), and no order of the operations on %s explains that.",
		named(o), withToken(o.Token), o.Returned, c.cell.Resource), At: []Pos{o.Returned}}
	for _, read := range c.ops {
		if read.Kind == Read && o.Kind == Write && read.Outcome == OutcomeOK && read.Saw == o.Stored() {
			return r.and(Reason{Text: fmt.Sprintf(" It has taken effect: %s found it (step %d).", named(read), read.Returned),
				At: []Pos{read.Returned}})
		}
	}
	return r
}

// misread says how a store may read two tokens, of which the first is the higher one, as if it were the lower one.
func misread(high, low uint64) string {
	a, b := strconv.FormatUint(high, 10), strconv.FormatUint(low, 10)
	switch {
	case high <= low:
		return ""
	case high > math.MaxUint32 && low <= math.MaxUint32 || high > math.MaxInt32 && low <= math.MaxInt32:
		return fmt.Sprintf(" Can the store hold %s, which needs more than 31 bits?", a)
	case strings.Compare(a, b) < 0:
		return fmt.Sprintf(" Are tokens compared as numbers? As text %q is below %q.", a, b)
	}
	return ""
}

// unexplained says that no order of the operations gives an answer, and from where on.
func (c *fencedCheck) unexplained(o Op) Reason {
	did := "was accepted"
	if o.Kind == Read {
		did = "found " + found(o.Saw)
	}
	return Reason{
		Text: fmt.Sprintf("%s%s %s (step %d), and no order of the operations on %s up to there explains that answer under "+
			"rule %s.", named(o), withToken(o.Token), did, o.Returned, c.cell.Resource, c.rule),
		At: []Pos{o.Returned},
	}
}

// named names an operation of a store under test: c1's write c1.w2.
func named(o Op) string { return fmt.Sprintf("%s's %s %s", o.Client, o.Kind, o.ID) }

func found(saw string) string {
	if saw == "" {
		return "nothing"
	}
	return saw
}
