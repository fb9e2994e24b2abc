package shrink

import (
	"slices"

	"locksim/faults"
	"locksim/scenarios/file"
)

// Fields of the same sort mean the same in every action. The minimizer changes them
// by their sort, for every kind of action.

// part is a field of an action: its index in the form, and its value.
type part[H faults.Holding] struct {
	field int
	holds H
}

// partsOf are the fields of one sort of an action.
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

// change sets a field of the action of a fault.
func change[H faults.Holding](i, field int, to func(H)) func(*file.Scenario) {
	return func(s *file.Scenario) {
		form, _ := faults.Open(s.Faults[i].Action)
		to(form.Fields[field].Holds.(H))
		s.Faults[i].Action = form.Action()
	}
}

// namesIn are the names in a fault: the client that triggers it, and the processes that it strikes.
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

// inOrder are names in the order in which faults name them, and after them those
// that no fault names.
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

// renamed is a fault with other names. A name that becomes empty is removed from
// lists; ok is false if a name or a list that the fault needs becomes empty.
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
