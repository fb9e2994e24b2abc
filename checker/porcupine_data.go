package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// dataParts ask for an order of the units of each cell, and, if a section makes
// several writes, also for an order of the sections of each resource.
func dataParts(h History) []part {
	var parts []part
	for _, c := range cellHistories(h) {
		if h.Fill {
			parts = append(parts, part{c.cell.String(), fillOperations(c), fillModel})
			continue
		}
		parts = append(parts, part{c.cell.String(), cellOperations(c), cellModel})
	}
	if h.SectionWrites > 1 {
		for _, all := range byResource(guardedSections(h)) {
			parts = append(parts, part{"the sections of " + all[0].grant.Resource.String(), sectionOperations(h, all),
				sectionModel})
		}
	}
	return parts
}

// cellOperations returns the units of a cell, and the epilogue read after them.
func cellOperations(c cellHistory) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, u := range units(c.ops) {
		ops = append(ops, operation(u, u.from, u.to))
	}
	end := boundReturns(ops)
	return append(ops, operation(unit{op: &Op{Kind: Read, Saw: c.final}, sure: true}, end, end))
}

// boundReturns returns a position for the epilogue, after all operations that
// have returned, and lets the others return right after that: a write of
// unknown outcome may come after the epilogue, and then it has had no effect.
func boundReturns(ops []porcupine.Operation) Pos {
	end := int64(1)
	for _, o := range ops {
		end = max(end, o.Call)
		if o.Return < int64(never) {
			end = max(end, o.Return)
		}
	}
	for i := range ops {
		ops[i].Return = min(ops[i].Return, end+2)
	}
	return Pos(end + 1)
}

// cellModel is a register whose value is an id. A write takes effect on the value
// that its section had read; one of unknown outcome may also do nothing.
var cellModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{""} },
	Step: func(state, input, _ any) []any {
		u := input.(unit)
		var next []any
		if !u.sure {
			next = append(next, state)
		}
		if state != u.op.Saw {
			return next
		}
		if u.op.Kind == Read {
			return []any{state}
		}
		return append(next, u.op.ID)
	},
	DescribeOperation: func(input, _ any) string { return input.(unit).String() },
	DescribeState:     func(state any) string { return short(state.(string)) },
}

// String says what a unit does: "c0.w2 over c0.r1", "c1.r1 finds c0.w2", or "in the
// end: c0.w2" for the epilogue.
func (u unit) String() string {
	switch {
	case u.op.ID == "":
		return "in the end: " + short(u.op.Saw)
	case u.op.Kind == Read:
		return fmt.Sprintf("%s finds %s", u.op.ID, short(u.op.Saw))
	case !u.sure:
		return fmt.Sprintf("%s over %s, unanswered", u.op.ID, short(u.op.Saw))
	}
	return fmt.Sprintf("%s over %s", u.op.ID, short(u.op.Saw))
}

// fillOperations returns the operations of a cell that is filled, each for itself, and
// the epilogue read after them.
func fillOperations(c cellHistory) []porcupine.Operation {
	var ops []porcupine.Operation
	for i := range c.ops {
		switch o := &c.ops[i]; {
		case o.Outcome == OutcomeOK:
			ops = append(ops, operation(unit{op: o, sure: true}, o.Invoked, o.Returned))
		case o.Outcome == OutcomeUnknown && o.Kind == Write:
			ops = append(ops, operation(unit{op: o}, o.Invoked, never))
		}
	}
	end := boundReturns(ops)
	return append(ops, operation(unit{op: &Op{Kind: Read, Saw: c.final}, sure: true}, end, end))
}

// fillModel is a set of the ids that were written, which all stand for one value: a
// read finds any of them, or none if there is none.
var fillModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{[]string(nil)} },
	Step: func(state, input, _ any) []any {
		ids, u := state.([]string), input.(unit)
		if u.op.Kind == Read {
			if u.op.Saw == "" && len(ids) == 0 || slices.Contains(ids, u.op.Saw) {
				return []any{state}
			}
			return nil
		}
		with := append(slices.Clone(ids), u.op.ID)
		slices.Sort(with)
		if !u.sure {
			return []any{with, state}
		}
		return []any{with}
	},
	Equal:             func(a, b any) bool { return slices.Equal(a.([]string), b.([]string)) },
	DescribeOperation: func(input, _ any) string { return input.(unit).String() },
	DescribeState:     func(state any) string { return short(strings.Join(state.([]string), ", ")) },
}

// sectionOp is a section as one operation on all registers of its resource.
type sectionOp struct {
	reads, writes []*Op
	sure          bool
	final         map[Cell]string // set for the epilogue, which only reads
}

// sectionOperations returns the sections of one resource that can have taken
// effect as a whole, and the epilogue. No other section may have had an effect
// that these, or the epilogue, can see.
func sectionOperations(h History, all []guardedSection) []porcupine.Operation {
	var ops []porcupine.Operation
	epilogue := sectionOp{final: make(map[Cell]string), sure: true}
	for _, g := range all {
		w := sectionOp{}
		complete := len(g.writes) >= h.SectionWrites
		for _, o := range g.ops {
			switch {
			case o.Kind == Read && o.Outcome == OutcomeOK:
				w.reads = append(w.reads, o)
			case o.Kind == Write:
				w.writes = append(w.writes, o)
				w.sure = w.sure || o.Outcome == OutcomeOK
				complete = complete && (o.Outcome == OutcomeOK || o.Outcome == OutcomeUnknown)
			}
			epilogue.final[o.cell()] = h.Final[o.cell()]
		}
		if complete {
			ops = append(ops, operation(w, g.begin(), g.end()))
		}
	}
	end := boundReturns(ops)
	return append(ops, operation(epilogue, end, end))
}

// sectionModel is a set of registers: its state has the value of each that was
// written. A section reads its values and writes its own in one step, or, if
// none of its writes was acknowledged, does nothing.
var sectionModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{map[Cell]string{}} },
	Step: func(state, input, _ any) []any {
		values, w := state.(map[Cell]string), input.(sectionOp)
		var next []any
		if !w.sure {
			next = append(next, state)
		}
		for _, o := range slices.Concat(w.reads, w.writes) {
			if values[o.cell()] != o.Saw {
				return next
			}
		}
		for c, v := range w.final {
			if values[c] != v {
				return next
			}
		}
		if len(w.writes) > 0 {
			values = maps.Clone(values)
		}
		for _, o := range w.writes {
			values[o.cell()] = o.ID
		}
		return append(next, values)
	},
	Equal:             func(a, b any) bool { return maps.Equal(a.(map[Cell]string), b.(map[Cell]string)) },
	DescribeOperation: func(input, _ any) string { return input.(sectionOp).String() },
	DescribeState:     func(state any) string { return describeCells(state.(map[Cell]string)) },
}

// String names what a section wrote, or what the epilogue found.
func (w sectionOp) String() string {
	if w.final != nil {
		return "in the end: " + describeCells(w.final)
	}
	var ids []string
	for _, o := range w.writes {
		ids = append(ids, fmt.Sprintf("%s over %s", o.ID, short(o.Saw)))
	}
	return strings.Join(ids, ", ")
}

func describeCells(values map[Cell]string) string {
	var out []string
	for c, id := range values {
		out = append(out, c.String()+"="+short(id))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// short is a value as text for a drawing.
func short(id string) string { return cmp.Or(id, "initial") }
