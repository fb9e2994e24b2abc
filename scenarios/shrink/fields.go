package shrink

import (
	"slices"

	"locksim/faults"
	"locksim/scenarios/file"
)

// The fields of an action are of few sorts, which mean the same wherever they
// stand. The minimizer changes them by their sort, for every kind of action.

// part is a field of an action: its place in the form, and what it holds.
type part[H faults.Holding] struct {
	field int
	holds H
}

// partsOf are the fields of an action that are of a sort.
func partsOf[H faults.Holding](action faults.Action) []part[H] {
	var out []part[H]
	form, _ := faults.Open(action)
	for i, field := range form.Fields {
		if h, ok := field.Holds.(H); ok {
			out = append(out, part[H]{i, h})
		}
	}
	return out
}

// change lets a field of the action of a fault hold something else.
func change[H faults.Holding](i, field int, to func(H)) func(*file.Scenario) {
	return func(s *file.Scenario) {
		form, _ := faults.Open(s.Faults[i].Action)
		to(form.Fields[field].Holds.(H))
		s.Faults[i].Action = form.Action()
	}
}

// namesIn are whom a fault names: who sets it off, and whom it strikes.
func namesIn(f faults.Fault) []string {
	var names []string
	if f.When != nil {
		names = append(names, f.When.Client)
	}
	for _, p := range partsOf[faults.Name](f.Action) {
		names = append(names, *p.holds.To)
	}
	for _, p := range partsOf[faults.Names](f.Action) {
		names = append(names, *p.holds.To...)
	}
	return names
}

// inOrder are names in the order in which faults name them, and behind them
// those that none does.
func inOrder(schedule []faults.Fault, names []string) []string {
	var named, out []string
	for _, f := range schedule {
		named = append(named, namesIn(f)...)
	}
	for _, name := range append(named, names...) {
		if slices.Contains(names, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// renamed is a fault with other names for all that it names. A name that has
// become empty is taken off the lists; ok is false where the fault is left
// without somebody that it needs.
func renamed(f faults.Fault, rename func(string) string) (_ faults.Fault, ok bool) {
	lost := false
	if f.When != nil {
		event := *f.When
		event.Client = rename(event.Client)
		f.When = &event
		lost = event.Client == ""
	}
	form, known := faults.Open(f.Action)
	if !known {
		return f, !lost
	}
	for _, field := range form.Fields {
		switch h := field.Holds.(type) {
		case faults.Name:
			old := *h.To
			*h.To = rename(old)
			lost = lost || old != "" && *h.To == ""
		case faults.Names:
			old := *h.To
			*h.To = renamedList(old, rename)
			lost = lost || len(old) > 0 && len(*h.To) == 0
		}
	}
	f.Action = form.Action()
	return f, !lost
}

func renamedList(names []string, rename func(string) string) []string {
	var out []string
	for _, name := range names {
		if now := rename(name); now != "" {
			out = append(out, now)
		}
	}
	slices.Sort(out)
	return out
}
