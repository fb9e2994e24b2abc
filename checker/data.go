package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// MaxOperations is the budget of the exact check of the data. The check takes
// linear time, so this bounds only memory: the data of a longer history is
// undecided.
const MaxOperations = 1_000_000

// dataFinding is the result of the exact check.
type dataFinding struct {
	data  Data
	lost  *tally // acknowledged writes not on the path
	torn  *tally // sections that are on the paths in part
	wrong *tally // every other contradiction
	// cells holds the check of each cell; empty when the data is undecided, and of values that are filled.
	cells map[Cell]*cellCheck
}

func (f *dataFinding) flaws() int { return f.lost.count + f.torn.count + f.wrong.count }

// checkData decides whether the cells can have got their final values with each
// unit taking effect at one instant within its interval.
//
// Each write stores a unique id and names the id that it is based on, so the
// order of the writes is known: it is read backwards from the final value. It
// remains to check that every unit that surely took effect is in that order,
// that the order respects real time, and, if a section makes several writes,
// that sections took effect as a whole.
func checkData(h History, budget int) dataFinding {
	f := dataFinding{
		data:  DataRight,
		lost:  &tally{more: "lost updates"},
		torn:  &tally{more: "torn sections"},
		wrong: &tally{more: "contradictions in the data"},
		cells: make(map[Cell]*cellCheck),
	}
	if h.Fence != "" { // see checkFenced
		return f
	}
	if len(h.Ops) > budget {
		f.data = DataUndecided
		f.wrong.add(func() Reason {
			return Reason{Text: fmt.Sprintf("The data is undecided: %d operations are more than the budget of %d.", len(h.Ops),
				budget)}
		})
		return f
	}
	for _, c := range cellHistories(h) {
		if h.Fill {
			f.checkFilled(c)
			continue
		}
		k := newCellCheck(c)
		k.run(&f)
		f.cells[c.cell] = k
	}
	if h.SectionWrites > 1 {
		checkSections(h, &f)
	}
	if f.flaws() > 0 {
		f.data = DataCorrupted
	}
	return f
}

// cellCheck is the exact check of one cell.
type cellCheck struct {
	cellHistory
	units  []unit
	writes map[string]unit // by the id they store
	// path has the writes that lead to the final value, oldest first. slot has,
	// for each value that the cell had, the number of writes that led to it: 0
	// for the initial value.
	path []unit
	slot map[string]int
	// whole says that the path leads back to the initial value.
	whole bool
}

func newCellCheck(c cellHistory) *cellCheck {
	k := &cellCheck{
		cellHistory: c,
		units:       units(c.ops),
		writes:      make(map[string]unit),
		slot:        make(map[string]int),
	}
	for _, u := range k.units {
		if u.op.Kind == Write {
			k.writes[u.op.ID] = u
		}
	}
	return k
}

func (k *cellCheck) run(f *dataFinding) {
	k.whole = k.walkBack(f.wrong)
	k.findLost(f.lost)
	if k.whole {
		k.findVanished(f.wrong)
		k.findDisorder(f.wrong)
	}
}

// walkBack builds the path from the final value to the initial one. It returns
// false, with a reason, if the path ends early or has a cycle.
func (k *cellCheck) walkBack(wrong *tally) bool {
	id := k.final
	for id != "" {
		w, written := k.writes[id]
		_, again := k.slot[id]
		if !written || again {
			wrong.add(func() Reason { return k.breakReason(id, again) })
			break
		}
		k.path = append(k.path, w)
		k.slot[id] = 0
		id = w.op.Saw
	}
	slices.Reverse(k.path)
	for i, w := range k.path {
		k.slot[w.op.ID] = i + 1
	}
	if id == "" {
		k.slot[""] = 0
	}
	return id == ""
}

// breakReason explains why the walk from the final value ended at id.
func (k *cellCheck) breakReason(id string, again bool) Reason {
	if again {
		w := k.writes[id].op
		return Reason{
			Text: fmt.Sprintf("The writes of %s run in a circle: %s is based on what is based on it.", k.cell, describe(*w)),
			At:   []Pos{w.step()},
		}
	}
	from, at := k.origin(id)
	if len(k.path) == 0 {
		return Reason{Text: fmt.Sprintf("The final value of %s is %s, %s.", k.cell, id, from), At: at}
	}
	w := k.path[len(k.path)-1].op
	return Reason{
		Text: fmt.Sprintf("%s of %s is based on %s, %s.", describe(*w), k.cell, id, from),
		At:   append([]Pos{w.step()}, at...),
	}
}

// origin says why an id cannot have been in the cell, and where it came from.
func (k *cellCheck) origin(id string) (string, []Pos) {
	i := slices.IndexFunc(k.ops, func(o Op) bool { return o.ID == id && o.Kind == Write })
	if i < 0 {
		return "which no client wrote there", nil
	}
	o := k.ops[i]
	return fmt.Sprintf("a write of %s whose outcome was %q (step %d)", o.Client, o.Outcome, o.step()), []Pos{o.step()}
}

// findLost finds the acknowledged writes that are not on the path.
func (k *cellCheck) findLost(lost *tally) {
	for _, u := range k.units {
		if _, kept := k.slot[u.op.ID]; u.op.Kind == Write && u.sure && !kept {
			lost.add(func() Reason { return k.lostReason(u.op) })
		}
	}
}

// lostReason explains a lost update in the order in which the store took the
// writes: the value that the lost write itself overwrote unseen, if there is
// one; the lost write; and the write that undid it, which is the first later
// one that is based neither on it nor on what followed from it.
func (k *cellCheck) lostReason(w *Op) Reason {
	taken := k.taken()
	at := slices.IndexFunc(taken, func(o *Op) bool { return o.ID == w.ID })
	r := Reason{Text: fmt.Sprintf("%s to %s was acknowledged.", describe(*w), k.cell), At: []Pos{w.step()}}
	if at > 0 && taken[at-1].ID != w.Saw {
		before := taken[at-1]
		fate := "was taken by the store, without an answer"
		if before.Outcome == OutcomeOK {
			fate = "was acknowledged"
		}
		r.Text = fmt.Sprintf("%s to %s %s. %s overwrote it, and was acknowledged.", describe(*before), k.cell, fate,
			k.basedOn(w))
		r.At = []Pos{before.step(), w.step()}
	}
	last := w
	for _, by := range taken[at+1:] {
		if by.Saw == last.ID {
			last = by
			continue
		}
		over := w.ID
		if last != w {
			over = fmt.Sprintf("%s, which follows from %s", last.ID, w.ID)
		}
		r.Text += fmt.Sprintf(" %s overwrote %s: %s is lost.", k.basedOn(by), over, w.ID)
		r.At = append(r.At, by.step())
		return r
	}
	r.Text += fmt.Sprintf(" The store took no write that undid it, but the final value is %s: %s is lost.", value(k.final),
		w.ID)
	return r
}

// taken are the writes that the store took, in its order.
func (k *cellCheck) taken() []*Op {
	var all []*Op
	for i := range k.ops {
		if o := &k.ops[i]; o.Kind == Write && o.Accepted {
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b *Op) int { return cmp.Compare(a.step(), b.step()) })
	return all
}

// basedOn names a write and the value that it is based on.
func (k *cellCheck) basedOn(w *Op) string {
	base := value(w.Saw)
	if from, known := k.writes[w.Saw]; known && from.op.step() < w.step() {
		base = "the older value " + base
	}
	return fmt.Sprintf("%s, based on %s,", describe(*w), base)
}

// findVanished finds reads of a value that does not lead to the final one.
func (k *cellCheck) findVanished(wrong *tally) {
	for _, u := range k.units {
		if _, kept := k.slot[u.op.Saw]; u.op.Kind == Write || kept {
			continue
		}
		wrong.add(func() Reason { return k.vanishedReason(u.op) })
	}
}

// vanishedReason explains that a read found what cannot have been there.
func (k *cellCheck) vanishedReason(r *Op) Reason {
	text, at := k.origin(r.Saw)
	if w, written := k.writes[r.Saw]; written {
		text, at = "which is not among the writes that led to the final value, "+value(k.final), []Pos{w.op.step()}
	}
	return Reason{
		Text: fmt.Sprintf("%s of %s found %s, %s.", describe(*r), k.cell, value(r.Saw), text),
		At:   append([]Pos{r.step()}, at...),
	}
}

// findDisorder finds units that returned before the invocation of a unit which
// precedes them in the data. The order in the data is: for each value, its
// write and then its reads, which commute.
func (k *cellCheck) findDisorder(wrong *tally) {
	reads := make([][]unit, len(k.path)+1)
	for _, u := range k.units {
		if slot, kept := k.slot[u.op.Saw]; u.op.Kind == Read && kept {
			reads[slot] = append(reads[slot], u)
		}
	}
	var latest unit // the unit so far with the latest invocation
	for slot, group := range reads {
		if slot > 0 {
			latest = k.follow(latest, k.path[slot-1:slot], wrong)
		}
		latest = k.follow(latest, group, wrong)
	}
}

// follow checks a write, or the reads of one value in the order of their
// invocation, against the latest unit before them. It returns the latest of
// all. Reads of one value never contradict each other: none returns before one
// that was invoked earlier.
func (k *cellCheck) follow(latest unit, group []unit, wrong *tally) unit {
	for _, u := range group {
		if u.to < latest.from {
			wrong.add(func() Reason { return disorderReason(k.cell, latest, u) })
		}
		if u.from > latest.from {
			latest = u
		}
	}
	return latest
}

// disorderReason explains that first precedes second in the data, against real
// time.
func disorderReason(c Cell, first, second unit) Reason {
	return Reason{
		Text: fmt.Sprintf("%s of %s had returned at step %d, before %s began at step %d, yet the data has them the other "+
			"way round.",
			describe(*second.op), c, second.to, describe(*first.op), first.from),
		At: []Pos{second.to, first.from},
	}
}
