package sim

import "time"

// KeyChange is a change of a watched key on one node, as that node has it: the
// ground truth that no client sees. Only the key's existence and value count;
// that it is to expire at another time is no change.
type KeyChange struct {
	// Step is the number of the event in the trace, 0 in an untraced world.
	Step int
	// At is the virtual time since the start of the run.
	At time.Duration
	// Node is the Redis node, Key the key in its database 0.
	Node, Key string
	// Value is what the key holds from now on: a string as it is, a hash as
	// "field=value" for each field, in the order of their names, with spaces
	// between, another type as its elements, a sorted set as member and score in
	// the order of the members. It is empty where the key is gone.
	Value string
	// By is the process whose command did it, empty where the node did it.
	By string
	// Kind is what happened.
	Kind KeyChangeKind
}

// KeyChangeKind is what happened to a watched key.
type KeyChangeKind string

// The kinds.
const (
	KeySet        KeyChangeKind = "set"        // a command gave it a value
	KeyDeleted    KeyChangeKind = "deleted"    // a command deleted it
	KeyExpired    KeyChangeKind = "expired"    // its time was up, or that of a field of it
	KeyEvicted    KeyChangeKind = "evicted"    // the node had no memory left
	KeyFlushed    KeyChangeKind = "flushed"    // the node was emptied, by FLUSHALL or FLUSHDB
	KeyReplicated KeyChangeKind = "replicated" // the node follows another, which has changed it
	// KeyRestored is what a node has after a restart, a promotion or a
	// resynchronisation: told of each watched key that it had before or has now.
	// It is also what a replica shows again when its clock has gone back.
	KeyRestored KeyChangeKind = "restored"
)

// WatchKeys keeps a record of these keys on every node, in database 0, from now
// on: see [World.KeyChanges]. Call it before the workload begins. It may be
// called again for further keys.
func (w *World) WatchKeys(keys ...string) {
	if w.watched == nil {
		w.watched = map[string]bool{}
	}
	for _, k := range keys {
		w.watched[k] = true
	}
	for _, n := range w.everyNode() {
		if n.ledger == nil && len(keys) > 0 {
			n.ledger = newLedger(n)
			n.ledger.only = w.watched
		}
	}
}

// KeyChanges are the changes of the watched keys so far, in their order.
func (w *World) KeyChanges() []KeyChange { return w.changes }

// origin is who or what changes keys, and at which step.
type origin struct {
	step int
	by   string
	kind KeyChangeKind // of what vanishes, and of what is not set by a command
}

// changed records a change of a key on a node, if it is one that is watched.
func (n *RedisNode) changed(p place, was, is datum, why origin) {
	if p.db != 0 || !n.w.watched[p.key] {
		return
	}
	if was.sameValue(is) && (why.kind != KeyRestored || !is.exists()) {
		return
	}
	kind := why.kind
	if kind == KeyDeleted && is.exists() || kind == KeyFlushed && is.exists() {
		kind = KeySet
	}
	n.w.changes = append(n.w.changes, KeyChange{
		Step: why.step, At: n.w.Now(), Node: n.id, Key: p.key, Value: is.String(), By: why.by, Kind: kind,
	})
}
