package scenarios

import (
	"errors"
	"fmt"
	"slices"

	"locksim/faults"
)

func (s *Scenario) validateFaults() error {
	if len(s.Faults) > MaxFaults {
		return wrong("faults", "there are %d: a scenario has at most %d", len(s.Faults), MaxFaults)
	}
	for i, f := range s.Faults {
		err := first(s.validateNames(f), f.Validate(), s.validateMoment(f), validateLength(f.Action))
		if field, ok := errors.AsType[*faults.FieldError](err); ok {
			return &faults.FieldError{Field: fmt.Sprintf("faults[%d].%s", i, field.Field), Problem: field.Problem}
		}
	}
	return nil
}

// validateNames checks that the world has whom the fault is about.
func (s *Scenario) validateNames(f faults.Fault) error {
	if f.When != nil {
		if err := s.client("when.client", f.When.Client); err != nil {
			return err
		}
	}
	switch a := f.Action.(type) {
	case faults.Pause:
		return s.client("pause.process", a.Process)
	case faults.Crash:
		return s.client("crash.process", a.Process)
	case faults.Partition:
		return first(s.nodes("partition.between", a.Between), s.nodes("partition.and", a.And))
	}
	return nil
}

// validateMoment checks that the trigger can come about.
func (s *Scenario) validateMoment(f faults.Fault) error {
	if f.When == nil {
		return lasts("at", f.At, 0)
	}
	if slices.Contains(faults.Events(), f.When.Name) && f.When.Nth > s.Workload.Rounds {
		return wrong("when.nth", "%d is too many: %s passes %s once a round, and workload.rounds is %d; lower nth or raise the rounds",
			f.When.Nth, f.When.Client, f.When.Name, s.Workload.Rounds)
	}
	return nil
}

func validateLength(action faults.Action) error {
	switch a := action.(type) {
	case faults.Pause:
		return lasts("pause.for", a.For, 0)
	case faults.Partition:
		return lasts("partition.for", a.For, 0)
	}
	return nil
}

// client checks that there is such a client.
func (s *Scenario) client(path, name string) error {
	clients := numbered("c", s.World.Clients)
	if slices.Contains(clients, name) {
		return nil
	}
	return wrong(path, "there is no client %q: world.clients makes %s", name, interval(clients))
}

// nodes checks that there are such nodes of the network.
func (s *Scenario) nodes(path string, names []string) error {
	clients, redis := numbered("c", s.World.Clients), numbered("r", s.World.Redis)
	for i, name := range names {
		if name != "s0" && !slices.Contains(clients, name) && !slices.Contains(redis, name) {
			return wrong(fmt.Sprintf("%s[%d]", path, i), "there is no node %q: the world has the clients %s, the Redis nodes %s, and the store s0",
				name, interval(clients), interval(redis))
		}
	}
	return nil
}

// numbered is c0, c1, … for "c".
func numbered(prefix string, count int) []string {
	all := make([]string, max(count, 0))
	for i := range all {
		all[i] = fmt.Sprint(prefix, i)
	}
	return all
}

// interval is "c0", "c0 and c1", or "c0 to c3".
func interval(names []string) string {
	first, last := names[0], names[len(names)-1]
	switch len(names) {
	case 1:
		return first
	case 2:
		return first + " and " + last
	}
	return first + " to " + last
}
