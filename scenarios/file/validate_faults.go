package file

import (
	"errors"
	"fmt"
	"slices"

	"locksim/faults"
)

func (s checked) validateFaults() error {
	if len(s.Faults) > MaxFaults {
		return wrong("faults", "there are %d: a scenario has at most %d", len(s.Faults), MaxFaults)
	}
	for i, f := range s.Faults {
		err := first(s.validateTrigger(f), f.Validate(), s.validateAction(f.Action), s.validateMoment(f))
		if field, ok := errors.AsType[*faults.FieldError](err); ok {
			return &faults.FieldError{Field: fmt.Sprintf("faults[%d].%s", i, field.Field), Problem: field.Problem}
		}
	}
	return nil
}

// validateMoment checks that the trigger can fire.
func (s checked) validateMoment(f faults.Fault) error {
	if err := inLimits("every", f.Every, 0); err != nil {
		return err
	}
	if f.When == nil {
		return inLimits("at", f.At, 0)
	}
	if err := inLimits("after", f.After, 0); err != nil {
		return err
	}
	often := 1
	switch f.When.Name {
	case faults.EventRead:
		often = len(s.Workload.Registers())
	case faults.EventWrite, faults.EventWritten:
		often = len(s.Workload.Writes())
	}
	ofSections := []string{"reading", faults.EventRead, faults.EventWrite, faults.EventWritten}
	if slices.Contains(ofSections, f.When.Name) {
		often *= s.Workload.Sections()
	}
	if often == 0 {
		return wrong("when.event", "%s never passes %s: no step of workload.section does that", f.When.Client, f.When.Name)
	}
	lives := 1 + s.restarts(f.When.Client)
	if slices.Contains(faults.Events(), f.When.Name) && f.When.Nth > often*lives*s.Workload.Rounds {
		return wrong("when.nth", "%d is too many: %s passes %s %s a round, and workload.rounds is %d; lower nth or raise "+
			"the rounds",
			f.When.Nth, f.When.Client, f.When.Name, times(often), s.Workload.Rounds)
	}
	return nil
}

// times is a number of times in words.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// restarts is how often a client can begin its rounds again.
func (s checked) restarts(client string) int {
	count := 0
	for _, f := range s.Faults {
		if r, ok := f.Action.(faults.Restart); ok && (r.Process == client || r.Process == faults.Holder) {
			count += f.Most()
		}
	}
	return count
}

// validateTrigger checks that the world has the client whose event it is.
func (s checked) validateTrigger(f faults.Fault) error {
	if f.When == nil {
		return nil
	}
	if f.When.Client == faults.Holder {
		return wrong("when.client", "an event is that of one client: name it, such as c0, or let the fault strike at a time")
	}
	return s.known("when.client", f.When.Client, faults.Clients)
}

// validateAction checks that the world has the processes that the fault names, and
// that no time is too long.
func (s checked) validateAction(action faults.Action) error {
	form, ok := faults.Open(action)
	if !ok {
		return nil
	}
	for _, field := range form.Fields {
		if err := s.validateField(form.Name, field); err != nil {
			return err
		}
	}
	return s.validateLinks(form)
}

func (s checked) validateField(fault string, field faults.Field) error {
	path := fault + "." + field.Key
	switch holds := field.Holds.(type) {
	case faults.Name:
		if holds.Role.Has(faults.Family) && s.World.Replicas == 0 {
			return wrong(path, "r0 has no replica to promote; set world.replicas to 1 or more")
		}
		if *holds.To != "" {
			return s.struck(path, *holds.To, holds.Role, fault)
		}
	case faults.Names:
		for i, name := range *holds.To {
			if err := s.known(fmt.Sprintf("%s[%d]", path, i), name, holds.Role); err != nil {
				return err
			}
		}
	case faults.Length:
		return inLimits(path, *holds.To, 0)
	case faults.Offset:
		return inLimits(path, max(*holds.To, -*holds.To), 0)
	}
	return nil
}

// validateLinks checks that a link leads from one side to the other.
func (s checked) validateLinks(form faults.Form) error {
	between, and := form.Sides()
	if len(between) == 0 {
		return nil
	}
	if len(and) == 0 {
		for _, r := range s.roles(faults.Anybody) {
			and = append(and, r.names...)
		}
	}
	for _, one := range between {
		for _, other := range and {
			if !slices.Contains(between, other) && (s.dials(one, other) || form.Cuts && s.replicates(one, other)) {
				return nil
			}
		}
	}
	return wrong(form.Name+".between", "no link of this kind leads from one side to the other: put clients on one and "+
		"nodes on the other; between r0 and its replicas only a partition can be")
}

// dials reports whether one of the two is a client and the other a node.
func (s checked) dials(one, other string) bool {
	clients := s.clients()
	return clients.has(one) != clients.has(other)
}

// replicates reports whether servers may have a link: both are among r0 and its replicas, or one asks the other.
func (s checked) replicates(one, other string) bool {
	for _, r := range s.others() { // the world checks whether they have links to each other
		if r.has(one) && r.has(other) {
			return true
		}
	}
	family := append(s.replicas().names, "r0")
	for _, c := range s.World.Servers {
		names := Numbered(c.Prefix, c.Count)
		// the world checks whether they have links
		if c.Behind && slices.Contains(names, one) != slices.Contains(names, other) {
			return true
		}
		if c.Watches &&
			(slices.Contains(names, one) && slices.Contains(family, other) || slices.Contains(names, other) &&
				slices.Contains(family, one)) {
			return true
		}
	}
	return slices.Contains(family, one) && slices.Contains(family, other)
}
