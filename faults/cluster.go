package faults

import "locksim/lock/promise"

// ClusterFailover is an operator who orders a replica of a Redis Cluster to replace its primary, by CLUSTER FAILOVER.
type ClusterFailover struct {
	// On is the replica: "rc3". A primary refuses.
	On string
	// Mode is how. Empty means FailoverAgreed.
	Mode FailoverMode
}

// FailoverMode is how a replica of a Redis Cluster replaces its primary.
type FailoverMode string

const (
	// FailoverAgreed stops the writes at the primary until the replica has all of them: none is lost.
	FailoverAgreed FailoverMode = "agreed"
	// FailoverForce asks the other primaries for votes, and not the primary: what the replica has not received is lost.
	FailoverForce FailoverMode = "force"
	// FailoverTakeover asks none of them: for a moment there are two primaries, which both take writes.
	FailoverTakeover FailoverMode = "takeover"
)

// FailoverModes lists the modes, the default first. The caller owns the slice.
func FailoverModes() []FailoverMode {
	return []FailoverMode{FailoverAgreed, FailoverForce, FailoverTakeover}
}

// ReplicaPromoter is a node of a Redis Cluster that can be ordered to replace its primary.
type ReplicaPromoter interface {
	// ReplacePrimary starts it, and reports whether it has.
	ReplacePrimary(mode FailoverMode) bool
}

// Kind is "cluster_failover".
func (ClusterFailover) Kind() string { return "cluster_failover" }

func (c *ClusterFailover) form() Form {
	return Form{
		Text:  "an operator orders a replica of a Redis Cluster to replace its primary",
		Class: promise.Failover,
		Stays: true,
		Fields: []Field{
			{"on", Name{To: &c.On, Role: ClusterNodes}, "which replica is told"},
			{"mode", Word{(*string)(&c.Mode), texts(FailoverModes())}, "whom it asks first"},
		},
	}
}

// Apply asks the replica for it.
func (c ClusterFailover) Apply(world any) error {
	c = filled(c)
	return askServer(c, world, c.On, func(x ReplicaPromoter) (effect bool, err error) {
		return x.ReplacePrimary(c.Mode), nil
	})
}

// String is "order rc3 to replace its primary (agreed)".
func (c ClusterFailover) String() string {
	c = filled(c)
	return "order " + c.On + " to replace its primary (" + string(c.Mode) + ")"
}

// MoveSlot is an operator who moves the slot of the lock's keys in a Redis Cluster to another primary, or a part of
// that work. Meanwhile clients are sent to and fro.
type MoveSlot struct {
	// To is the primary that gets the slot: "rc1".
	To string
	// Until is how far it is done. What comes before is done too, as far as it was not. Empty means MoveEnds.
	Until MoveStep
}

// MoveStep is a step of the move of a slot.
type MoveStep string

const (
	// MoveEnds tells the nodes whose the slot is now: CLUSTER SETSLOT NODE.
	MoveEnds MoveStep = "end"
	// MoveKeys takes the keys to the other node: MIGRATE.
	MoveKeys MoveStep = "keys"
	// MoveStarts announces the move to both nodes: CLUSTER SETSLOT MIGRATING and IMPORTING.
	MoveStarts MoveStep = "start"
)

// MoveSteps lists the steps, the default, which is the last, first. The caller owns the slice.
func MoveSteps() []MoveStep { return []MoveStep{MoveEnds, MoveKeys, MoveStarts} }

// SlotTaker is a node of a Redis Cluster that can be given the slot of the lock.
type SlotTaker interface {
	// TakeSlot does the steps up to this one, and reports whether it had to do any. The error says that the cluster does
	// not know which slot is meant.
	TakeSlot(until MoveStep) (bool, error)
}

// Kind is "move_slot".
func (MoveSlot) Kind() string { return "move_slot" }

func (m *MoveSlot) form() Form {
	return Form{
		Text:  "an operator moves the slot of the lock to another primary of a Redis Cluster",
		Class: promise.Failover,
		Stays: true,
		Fields: []Field{
			{"to", Name{To: &m.To, Role: ClusterNodes}, "which primary gets it"},
			{"until", Word{(*string)(&m.Until), texts(MoveSteps())}, "the last step that is done"},
		},
	}
}

// Apply asks the node that gets the slot for it.
func (m MoveSlot) Apply(world any) error {
	m = filled(m)
	return askServer(m, world, m.To, func(x SlotTaker) (effect bool, err error) { return x.TakeSlot(m.Until) })
}

// String is "move the slot of the lock to rc1 (end)".
func (m MoveSlot) String() string {
	m = filled(m)
	return "move the slot of the lock to " + m.To + " (" + string(m.Until) + ")"
}
