package checker

import (
	"fmt"
	"slices"
)

// consequence tells what a stale operation that was refused would have done, as
// far as that is certain. It may have nothing to say.
func consequence(o Op, cells map[Cell]*cellCheck) Reason {
	k := cells[o.cell()]
	if k == nil {
		return Reason{} // the data is undecided
	}
	if o.Kind == Read {
		return k.unread(o)
	}
	return k.unwritten(o)
}

// unwritten tells whose update would have been lost if the store had taken the
// write: that of a write it knows nothing of, or its own, to a write that knows
// nothing of it.
func (k *cellCheck) unwritten(o Op) Reason {
	slot, kept := k.slot[o.Saw]
	if !kept || slot == len(k.path) {
		return Reason{}
	}
	w := k.path[slot].op
	switch {
	case w.step() < o.step():
		return Reason{
			Text: fmt.Sprintf(" It is based on %s, so it would have undone %s.", value(o.Saw), describe(*w)),
			At:   []Pos{w.step()},
		}
	case k.readBefore(w, o.step()):
		return Reason{
			Text: fmt.Sprintf(" It would have been undone by %s, which is based on %s too.", describe(*w), value(o.Saw)),
			At:   []Pos{w.step()},
		}
	}
	return Reason{}
}

// readBefore says that the section of write w had read the cell by step p.
func (k *cellCheck) readBefore(w *Op, p Pos) bool {
	return slices.ContainsFunc(sections(k.ops), func(s section) bool {
		return s.write != nil && s.write.ID == w.ID && s.read != nil && s.read.step() < p
	})
}

// unread tells that the section of a refused read ended there.
func (k *cellCheck) unread(o Op) Reason {
	if slices.ContainsFunc(k.ops, func(w Op) bool { return w.Kind == Write && w.Grant == o.Grant && w.Invoked > o.Invoked }) {
		return Reason{}
	}
	return Reason{Text: " Its section ended there, before it wrote."}
}
