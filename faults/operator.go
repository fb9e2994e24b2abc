package faults

import "locksim/lock/promise"

// EditKey is an operator who changes the key of a lock by hand, with the tool of its servers: redis-cli, etcdctl,
// zkCli, consul, kubectl. What the clients of the lock know of it stays as it was.
type EditKey struct {
	// Node is the server that the operator's tool is connected to: "r0".
	Node string
	// How is what the operator does. Empty means EditDelete.
	How Edit
}

// Edit is what an operator does to the key of a lock.
type Edit string

const (
	// EditDelete deletes it, as who forces a lock open does: DEL, etcdctl del, deleteall, consul kv delete, kubectl
	// delete lease. Of a queue it is the key of who is first.
	EditDelete Edit = "delete"
	// EditOverwrite writes another value, as a plain write of the tool does: SET, which takes the TTL away; etcdctl put,
	// which takes the key off its lease; consul kv put, which leaves the session and sets the LockIndex to 0; set of
	// zkCli; kubectl patch of the holder's identity.
	EditOverwrite Edit = "overwrite"
)

// Edits lists what an operator can do to a key, the default first. The caller owns the slice.
func Edits() []Edit { return []Edit{EditDelete, EditOverwrite} }

// Operator is the value that an operator writes.
const Operator = "operator"

// KeyEditor is a server that has the keys of locks.
type KeyEditor interface {
	// EditKeys does it to the keys of the lock that are there, and reports whether there were any. The error is that of a
	// real server.
	EditKeys(how Edit) (done bool, err error)
}

// Kind is "edit_key".
func (EditKey) Kind() string { return "edit_key" }

func (e *EditKey) form() Form {
	return Form{
		Text:  "an operator deletes the lock's key by hand, or writes over it",
		Class: promise.Intervention,
		Fields: []Field{
			{"node", Name{To: &e.Node, Role: Servers}, "which server the operator tells"},
			{"how", Word{(*string)(&e.How), texts(Edits())}, "what the operator does to the key"},
		},
	}
}

// Apply asks the server for it.
func (e EditKey) Apply(world any) error {
	e = filled(e)
	return askServer(e, world, e.Node, func(s KeyEditor) (effect bool, err error) { return s.EditKeys(e.How) })
}

// String is "delete the lock's key on r0 by hand".
func (e EditKey) String() string {
	e = filled(e)
	return string(e.How) + " the lock's key on " + e.Node + " by hand"
}

// EndSession is an operator who ends the session that has the lock: consul session destroy, etcdctl lease revoke, the
// end of a session of ZooKeeper. Its client is not told before it asks.
type EndSession struct {
	// Node is the server that the operator's tool is connected to: "consul0".
	Node string
}

// SessionEnder is a server whose locks end with the sessions that have them.
type SessionEnder interface {
	// EndSessions ends the sessions that have the lock, and reports whether there were any.
	EndSessions() bool
}

// Kind is "end_session".
func (EndSession) Kind() string { return "end_session" }

func (e *EndSession) form() Form {
	return Form{
		Text:   "an operator ends the session that has the lock",
		Class:  promise.Intervention,
		Fields: []Field{{"node", Name{To: &e.Node, Role: Members}, "which server the operator tells"}},
	}
}

// Apply asks the server for it.
func (e EndSession) Apply(world any) error {
	return askServer(e, world, e.Node, func(s SessionEnder) (effect bool, err error) { return s.EndSessions(), nil })
}

// String is "end the session that has the lock on consul0 by hand".
func (e EndSession) String() string {
	return "end the session that has the lock on " + e.Node + " by hand"
}
