package file

import (
	"fmt"
	"slices"

	"locksim/faults"
)

// validateSides is validateNames for what strikes the network. A reply is on its
// way to a client, and clients dial nodes; all else may name anybody.
func (s checked) validateSides(action faults.Action) error {
	between, and := sidesOf(action)
	here := append(s.with(s.clients()), s.store())
	there := here
	switch action.(type) {
	case faults.LoseReply, faults.Reset:
		here, there = here[:1], here[1:]
	}
	for i, name := range between {
		if err := known(fmt.Sprintf("%s.between[%d]", action.Kind(), i), name, here...); err != nil {
			return err
		}
	}
	for i, name := range and {
		if err := known(fmt.Sprintf("%s.and[%d]", action.Kind(), i), name, there...); err != nil {
			return err
		}
	}
	return nil
}

// sidesOf are the two sides of a fault of the network.
func sidesOf(action faults.Action) (between, and []string) {
	switch a := action.(type) {
	case faults.Latency:
		return a.Between, a.And
	case faults.Bandwidth:
		return a.Between, a.And
	case faults.Slice:
		return a.Between, a.And
	case faults.SlowClose:
		return a.Between, a.And
	case faults.LoseReply:
		return a.Between, a.And
	case faults.DelayMessage:
		return a.Between, a.And
	case faults.Partition:
		return a.Between, a.And
	case faults.Reset:
		return a.Between, a.And
	}
	return nil, nil
}

// validateLinks checks that a link leads from one side to the other.
func (s checked) validateLinks(action faults.Action) error {
	between, and := sidesOf(action)
	if len(between) == 0 {
		return nil
	}
	if len(and) == 0 {
		for _, r := range append(s.with(s.clients()), s.store()) {
			and = append(and, r.names...)
		}
	}
	_, cut := action.(faults.Partition)
	for _, one := range between {
		for _, other := range and {
			if !slices.Contains(between, other) && (s.dials(one, other) || cut && s.replicates(one, other)) {
				return nil
			}
		}
	}
	return wrong(action.Kind()+".between", "no link of this kind leads from one side to the other: put clients on one and nodes on the other; "+
		"between r0 and its replicas only a partition can be")
}

// dials reports whether one of the two is a client and the other a node.
func (s checked) dials(one, other string) bool {
	clients := s.clients().names
	return slices.Contains(clients, one) != slices.Contains(clients, other)
}

// replicates reports whether both are among r0 and its replicas.
func (s checked) replicates(one, other string) bool {
	for _, r := range s.others() { // whether they have links to each other is for the world to say
		if slices.Contains(r.names, one) && slices.Contains(r.names, other) {
			return true
		}
	}
	family := append(s.replicas().names, "r0")
	return slices.Contains(family, one) && slices.Contains(family, other)
}
