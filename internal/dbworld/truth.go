package dbworld

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"locksim/sim"
	"locksim/sim/trace"
)

// LeaseTable is a table with leases, whose changes the world's KeyChanges have: that of a row is the key "lease row
// TABLE/ROW". A row without an owner, or whose end is -infinity, is no lease. One that is over is, until somebody takes
// it or gives it back: the server does not end it, and the time that it had left is below 0 then. The fields are
// identifiers of SQL.
type LeaseTable struct {
	Table string
	// Key is the column whose value names a row, Owner that with the owner, and Until that with the end, a timestamptz of
	// PostgreSQL, or a DATETIME(6) in UTC.
	Key, Owner, Until string
}

// Lease is the name of a lease in the ground truth.
func (t LeaseTable) Lease(row string) string { return "lease row " + t.Table + "/" + row }

// Lease is a row that somebody has.
type Lease struct {
	Owner string
	Until time.Time // by the server's clock; 0 for never
	First bool      // it was there when the world began
}

func (l Lease) left(there bool, now time.Time) trace.TimeLeft {
	switch {
	case !there:
		return trace.TimeLeft{End: trace.EndNone}
	case l.Until.IsZero():
		return trace.TimeLeft{End: trace.EndNever}
	}
	return trace.LeftFor(l.Until.Sub(now))
}

// Truth is who has which lock of a server, as the world is told. It is for the world's goroutine.
type Truth struct {
	Node *sim.Node
	// Client is the client of a session; false if the session has ended.
	Client func(session int32) (client string, ok bool)

	Watched []string // locks of sessions
	holders map[string]holder
	step    int               // of the last statement in the trace; 0 if there was none since that was told
	asked   map[string]string // by client, what it has asked for since then
	leases  map[string]Lease  // by the names of their keys
}

// holder is the session that has a lock, and the client that took it there. With a pooling proxy one session serves all
// clients: after a statement of another one the client is empty, since the server grants a session again what it has,
// and does not know for whom.
type holder struct {
	session int32
	client  string
}

// Did notes a statement: its event in the trace, and what the client had asked for; "" leaves that as it was.
func (t *Truth) Did(step int, client, asked string) {
	if t.step = step; asked == "" {
		return
	}
	if t.asked == nil {
		t.asked = map[string]string{}
	}
	t.asked[client] = asked
}

// Watch adds to the locks of sessions whose changes are told.
func (t *Truth) Watch(names []string) {
	for _, name := range names {
		if !slices.Contains(t.Watched, name) {
			t.Watched = append(t.Watched, name)
		}
	}
}

// Value is what a lock has for a value: no two sessions have the same.
func Value(session int32) string { return fmt.Sprintf("session %d", session) }

// whileOpen is the time that a lock of a session has left.
var whileOpen = trace.TimeLeft{End: trace.EndSession}

// Tell adds to the ground truth which of the watched locks have changed hands, by what a client has sent, or without
// one: now are the sessions that have them. down says that the server has crashed.
func (t *Truth) Tell(by string, now map[string]int32, down bool) {
	if t.holders == nil {
		t.holders = map[string]holder{}
	}
	for _, name := range t.Watched {
		before, session := t.holders[name], now[name]
		if session == before.session {
			t.share(name, before)
			continue
		}
		if t.step == 0 { // no statement has done it: a session has ended
			t.step = t.Node.Note(by, trace.Apply{Effects: trace.Text("a session ends")})
		}
		if before.session != 0 {
			change := trace.KeyChange{Step: t.step, Key: name, By: by, Change: trace.KeyDeleted, Left: whileOpen}
			if by == before.client { // no other client's statement gives up what a session has
				change.Asked, change.Request = by, t.asked[by]
			}
			_, there := t.Client(before.session)
			change.Session = down || !there
			if by == "" {
				change.Change = trace.KeyExpired
			}
			t.Node.KeyChanged(change)
			delete(t.holders, name)
		}
		if client, there := t.Client(session); there {
			t.holders[name] = holder{session, client}
			change := trace.KeyChange{Step: t.step, Key: name, Value: Value(session), By: client, Change: trace.KeySet,
				Asked: by, Request: t.asked[by]}
			if waited, ok := t.asked[client]; ok {
				change.Asked, change.Request = client, waited
			}
			t.Node.KeyChanged(change)
		}
	}
}

// share tells that a lock is of no one client any more, once its session has carried out a statement of another one.
func (t *Truth) share(name string, has holder) {
	if t.step == 0 || has.client == "" {
		return
	}
	if asked, there := t.Client(has.session); there && asked != has.client {
		t.holders[name] = holder{session: has.session}
		t.Node.KeyChanged(trace.KeyChange{
			Step: t.step, Key: name, Value: Value(has.session), Change: trace.KeySet, Asked: asked, Request: t.asked[asked],
			Left: whileOpen,
		})
	}
}

// Told says that the ground truth has what the last statements did.
func (t *Truth) Told() {
	t.step = 0
	clear(t.asked)
}

// Begin notes the leases with which a world begins.
func (t *Truth) Begin(leases map[string]Lease) { t.leases = leases }

// TellLeases adds to the ground truth which leases are others than before. A lease that is over stays until somebody
// takes it.
func (t *Truth) TellLeases(now map[string]Lease, why trace.KeyChange) {
	keys := slices.Collect(maps.Keys(now))
	for key := range t.leases {
		if _, there := now[key]; !there {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		before, was := t.leases[key]
		is, there := now[key]
		if was && there && is.Owner == before.Owner {
			is.First = before.First
			now[key] = is
		}
		c := why
		c.Key, c.Value, c.Change = key, is.Owner, trace.KeySet
		switch {
		case !there:
			c.Change = trace.KeyDeleted
		case was && is.Owner == before.Owner && is.Until.Equal(before.Until):
			continue
		case was && is.Owner == before.Owner:
			c.Change = trace.KeyProlonged
		}
		if c.Left = before.left(was, t.Node.Now()); before.First {
			c.Was, c.Over = before.Owner, c.Change == trace.KeySet
		}
		t.Node.KeyChanged(c)
	}
	t.leases = now
}
