package faults

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/lock/promise"
)

// Form is an action taken apart: what it is, and what each of its fields holds, to
// be read and to be changed. It is the one declaration of a fault: scenario files,
// validation, promises, the minimizer, the generators and the reference page take
// from it what they have to know.
type Form struct {
	// Name is what Action.Kind returns and a scenario file writes.
	Name string
	// Text says in a line what the fault does.
	Text string
	// Class is the class that a promise names, whatever other actions there are:
	// see [ClassIn].
	Class promise.Fault
	// Fields are the fields of the action, in the order of a file.
	Fields []Field
	// Cuts says that the other side is out of reach while the fault lasts. It
	// is for links of every kind; all other faults of the network are for those
	// between a client and a server or the store.
	Cuts bool
	// Brief says that the action is over when it has struck as often as it says, which may be
	// long before its length is.
	Brief bool
	// Stays says that a server stays changed until the workload has ended,
	// although it has no length: it has crashed, or is another's replica.
	Stays bool

	check    func() error // what the fields together must be; may be nil
	action   func() Action
	together func(all []Fault) promise.Fault // the class in a schedule; nil means Class
	// inCompany are the classes that an action has only among others.
	inCompany []promise.Fault
}

// Action is the action with what the fields hold by now.
func (f Form) Action() Action { return f.action() }

// Fill gives every field that was left out its default.
func (f Form) Fill() {
	for _, field := range f.Fields {
		field.Holds.fill()
	}
}

// Length is how long the action lasts by its own word, 0 being until the world is
// healed; ok is false for one of a moment.
func (f Form) Length() (l Length, ok bool) {
	for _, field := range f.Fields {
		if l, ok = field.Holds.(Length); ok {
			return l, true
		}
	}
	return Length{}, false
}

// UntilHealed reports whether the action lasts until the world is healed.
func (f Form) UntilHealed() bool {
	l, ok := f.Length()
	return ok && !l.Ends && *l.To == 0 && !f.Brief
}

// Sides are the two sides of a fault of the network, and nil for all others.
func (f Form) Sides() (between, and []string) {
	for _, field := range f.Fields {
		if n, ok := field.Holds.(Names); ok && n.Side == Near {
			between = *n.To
		} else if ok && n.Side == Far {
			and = *n.To
		}
	}
	return between, and
}

// Classes are all that promises call actions of the kind by.
func (f Form) Classes() []promise.Fault {
	var out []promise.Fault
	form, _ := Open(f.Action())
	form.each(0, func() {
		if class := ClassOf(form.Action()); !slices.Contains(out, class) {
			out = append(out, class)
		}
	})
	return append(out, form.inCompany...)
}

// each calls do for each choice of what the fields from the first one on hold, as far as classes depend on it.
func (f Form) each(first int, do func()) {
	if first == len(f.Fields) {
		do()
		return
	}
	chosen := false
	choose := func(set func()) {
		chosen = true
		set()
		f.each(first+1, do)
	}
	switch h := f.Fields[first].Holds.(type) {
	case Name:
		for _, role := range []Role{Clients, Servers} {
			if h.Role.Has(role) {
				choose(func() { *h.To = role.example() })
			}
		}
	case Word:
		for _, word := range h.Words {
			choose(func() { *h.To = word })
		}
	case Deviation:
		for _, n := range []int64{1, h.Least} {
			choose(func() { *h.To = n })
		}
	}
	if !chosen {
		f.each(first+1, do)
	}
}

// problem returns a *FieldError for the first field that makes no sense, or nil.
func (f Form) problem() error {
	for _, field := range f.Fields {
		if err := field.Holds.problem(field); err != nil {
			return err
		}
	}
	between, and := f.Sides()
	for i, name := range and {
		for _, other := range between {
			if name == other {
				return wrong(fmt.Sprintf("and[%d]", i), "%s stands on both sides: name it on one of them", name)
			}
		}
	}
	if f.check != nil {
		return f.check()
	}
	return nil
}

// Open takes an action apart. What is then changed is the form's own, and not the
// action. ok is false for an action that is none of [Kinds].
func Open(a Action) (f Form, ok bool) {
	for _, k := range kinds {
		if f, ok := k.open(a); ok {
			return f, true
		}
	}
	return Form{}, false
}

// Validate returns a *FieldError for the first field of an action that makes no
// sense, or nil. Of an action that is none of [Kinds] it knows nothing.
func Validate(a Action) error {
	if f, ok := Open(a); ok {
		return f.problem()
	}
	return nil
}

// ClassOf is what promises call an action by, whatever other actions there are. It
// is empty for an action that is none of [Kinds].
func ClassOf(a Action) promise.Fault {
	f, _ := Open(a)
	return f.Class
}

// Unpromised are the faults of a schedule under which a promise does not say that claims exclude each other: the names
// of their classes, or of their kinds if they have no class in promises, each once, in the order of the schedule.
func Unpromised(p promise.Promise, schedule []Fault) []string {
	var out []string
	for _, f := range schedule {
		class := ClassIn(schedule, f.Action)
		name := cmp.Or(string(class), f.Action.Kind())
		if !slices.Contains(p.Exclusion, class) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ClassIn is what promises call an action of a schedule by: drifts count together
// with all others, and a restart of a node with the crash before it.
func ClassIn(schedule []Fault, a Action) promise.Fault {
	f, _ := Open(a)
	if f.together != nil {
		return f.together(schedule)
	}
	return f.Class
}

// kind makes the forms of one type of action.
type kind struct {
	blank func() Form
	open  func(a Action) (Form, bool)
}

// declared is a pointer to an action, whose form is bound to what it points to.
type declared[A any] interface {
	*A
	form() Form
}

func of[A Action, P declared[A]]() kind {
	open := func(a A) Form {
		p := P(&a)
		f := p.form()
		f.Name, f.action = a.Kind(), func() Action { return *p }
		return f
	}
	return kind{
		blank: func() Form {
			var a A
			return open(a)
		},
		open: func(a Action) (Form, bool) {
			if x, ok := a.(A); ok {
				return open(x), true
			}
			return Form{}, false
		},
	}
}

func filled[A Action, P declared[A]](a A) A {
	P(&a).form().Fill()
	return a
}

// clientOrNode is a class by whom a fault strikes.
func clientOrNode(name string, client, node promise.Fault) promise.Fault {
	if isClient(name) {
		return client
	}
	return node
}

// isClient reports whether a name is a client's: c0, c1, … or Holder.
func isClient(name string) bool {
	return name == Holder || len(name) > 1 && name[0] == 'c' && '0' <= name[1] && name[1] <= '9'
}

// Needs is the role that the action's target must have where few worlds have one: [Watchers], [ClusterNodes] or
// [Members], 0 for none.
func (f Form) Needs() Role {
	for _, field := range f.Fields {
		if n, ok := field.Holds.(Name); ok && n.Role&^(Watchers|ClusterNodes|Members) == 0 {
			return n.Role
		}
	}
	return 0
}
