package zkbroken

import (
	"errors"
	"io"
	"time"

	"github.com/go-zookeeper/zk"

	"locksim/lock"
)

// Specimen is one mistake, with its properties.
type Specimen struct {
	// Name is the name of the lock, after "broken/" in flags and scenario files.
	Name string
	// ID is its entry in the catalogue of failure modes, such as F58; "" if it has none.
	ID string
	// Wrong says in one sentence what is wrong.
	Wrong string
	// Held says that its leases have no end that the holder knows: it takes the lock for its own until it releases it.
	Held bool
	// Fixed says that it has one node in place of a queue.
	Fixed bool

	mistake mistake
}

// mistake is what differs from the recipe.
type mistake struct {
	flags   int32 // of the node; 0: ephemeral and sequential
	herd    bool  // a waiter watches all nodes
	adopts  bool  // a node with the client's name counts, whatever session owns it
	forever bool  // the lease has no end
}

// Options configure a specimen. All are required.
type Options struct {
	// SessionTimeout is that of the connection's session.
	SessionTimeout time.Duration
	// Retry is the time between two tries without a connection.
	Retry time.Duration
	// Name is the client's name, the same after a restart.
	Name string
	// Clock is the source of time, Entropy that of ids.
	Clock   lock.Clock
	Entropy io.Reader
}

// All lists the specimens. The caller owns the slice.
func All() []Specimen {
	return []Specimen{
		{
			Name: "zk-herd", ID: "F55", mistake: mistake{herd: true},
			Wrong: "Each waiter watches the whole queue, so that every release wakes all of them, and all ask again.",
		},
		{
			Name: "zk-persistent", ID: "F01", mistake: mistake{flags: zk.FlagSequence},
			Wrong: "Its node is not ephemeral, so that a holder that crashes keeps the lock for ever.",
		},
		{
			Name: "zk-believes", ID: "F58", Held: true, mistake: mistake{forever: true},
			Wrong: "Its holder believes through a pause or a disconnection that it has the lock, although its session may " +
				"have ended.",
		},
		{
			Name: "zk-fixed-path", ID: "F02", Fixed: true, mistake: mistake{flags: zk.FlagEphemeral},
			Wrong: "It has one node of a fixed name, and deletes it by that name, also where another client has created it.",
		},
		{
			Name: "zk-adopts", ID: "F59", mistake: mistake{adopts: true},
			Wrong: "It takes the node that has its client’s name for its own, although a former session owns it, and the node " +
				"ends with that.",
		},
	}
}

// New returns the lock of one client. It sends nothing.
func (s Specimen) New(conn *zk.Conn, o Options) (lock.Locker, error) {
	if conn == nil || o.SessionTimeout <= 0 || o.Retry <= 0 || o.Name == "" || o.Clock == nil || o.Entropy == nil {
		return nil, errors.New("make broken/" + s.Name + ": a connection, a SessionTimeout, a Retry, a Name, a Clock and " +
			"an Entropy are needed")
	}
	return &recipe{Specimen: s, conn: conn, opt: o}, nil
}
