//go:build linux

package postgres

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locksim/sim/trace"
)

// holder is the session that has a lock, by the id of its backend, and the client that took it there. With a pooling
// proxy one session serves all clients: after a statement of another one the client is empty, since the server grants a
// session again what it has, and does not know for whom.
type holder struct {
	session int32
	client  string
}

// advisoryLocks are the advisory locks that a session has for itself alone: a number, or two with a comma between them.
const advisoryLocks = `SELECT pid, 'advisory lock ' || CASE objsubid
	WHEN 1 THEN ((classid::bigint << 32) | objid::bigint)::text
	ELSE classid::bigint::int || ',' || objid::bigint::int END
	FROM pg_locks WHERE locktype = 'advisory' AND granted AND mode = 'ExclusiveLock'`

// keyedTables are the tables of the clients that have a primary key, and an expression for its value in a row.
const keyedTables = `SELECT quote_ident(c.relname), string_agg(quote_ident(a.attname) || '::text', ' || '','' || ' ORDER BY a.attnum)
	FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
	JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
	WHERE c.relnamespace = 'public'::regnamespace GROUP BY c.oid, c.relname ORDER BY c.oid`

// rowLocks are the rows of a table that a transaction has locked: its id is in xmax. A row that it has made is not
// seen.
const rowLocks = `SELECT l.pid, '` + rowLock + `' || %[3]s || '/' || (%[2]s) FROM %[1]s t
	JOIN pg_locks l ON l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock' AND l.transactionid = t.xmax`

// rowLock is how the name of a lock on a row begins.
const rowLock = "row lock "

// sessionLocks are the locks that sessions have at present, by their names; those on rows only if they are asked for. A
// session loses them when it ends.
func (m *machine) sessionLocks(rows bool) map[string]int32 {
	all := map[string]int32{}
	query := []string{advisoryLocks}
	var tables [][]string
	if rows {
		tables = m.askOften(keyedTables)
	}
	for _, table := range tables {
		name := "'" + strings.ReplaceAll(table[0], "'", "''") + "'"
		query = append(query, fmt.Sprintf(rowLocks, table[0], table[1], name))
	}
	for _, row := range m.askOften(strings.Join(query, " UNION ALL ")) {
		pid, _ := strconv.Atoi(row[0]) // it is a column of integers
		if i := slices.IndexFunc(m.backends, func(b *backend) bool { return b.pid == int32(pid) }); i >= 0 {
			all[row[1]] = m.backends[i].id
		}
	}
	return all
}

// SessionLocks implements [sim.SessionLocker].
func (m *machine) SessionLocks() []trace.Key {
	if m.server.down {
		return nil
	}
	var all []trace.Key
	for name, session := range m.sessionLocks(true) {
		all = append(all, trace.Key{Name: name, Value: valueOf(session)})
	}
	slices.SortFunc(all, func(a, b trace.Key) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// valueOf is what a lock has for a value: no two sessions have the same.
func valueOf(session int32) string { return fmt.Sprintf("session %d", session) }

// WatchKeys implements [sim.KeyWatcher]: a key is the lock of a session.
func (m *machine) WatchKeys(names []string) {
	for _, name := range names {
		if !slices.Contains(m.watched, name) {
			m.watched = append(m.watched, name)
		}
	}
}

// whileOpen is the time that a lock of a session has left.
var whileOpen = trace.TimeLeft{End: trace.EndSession}

// tell adds to the ground truth which of the watched locks have changed hands, by what a client has sent, or without
// one.
func (m *machine) tell(by string) {
	if len(m.watched) == 0 {
		return
	}
	var now map[string]int32
	if !m.server.down {
		now = m.sessionLocks(slices.ContainsFunc(m.watched,
			func(name string) bool { return strings.HasPrefix(name, rowLock) }))
	}
	for _, name := range m.watched {
		before, session := m.holders[name], now[name]
		if session == before.session {
			m.share(name, before)
			continue
		}
		if m.step == 0 { // no statement has done it: a session has ended
			m.step = m.node.Note(by, trace.Apply{Effects: trace.Text("a session ends")})
		}
		if before.session != 0 {
			change := trace.KeyChange{Step: m.step, Key: name, By: by, Change: trace.KeyDeleted, Left: whileOpen}
			if by == before.client { // no other client's statement gives up what a session has
				change.Asked, change.Request = by, m.requests[by]
			}
			change.Session = m.server.down ||
				!slices.ContainsFunc(m.backends, func(b *backend) bool { return b.id == before.session })
			if by == "" {
				change.Change = trace.KeyExpired
			}
			m.node.KeyChanged(change)
			delete(m.holders, name)
		}
		if i := slices.IndexFunc(m.backends, func(b *backend) bool { return b.id == session }); i >= 0 {
			client := m.backends[i].conn.Client()
			m.holders[name] = holder{session, client}
			change := trace.KeyChange{Step: m.step, Key: name, Value: valueOf(session), By: client, Change: trace.KeySet,
				Asked: by, Request: m.requests[by]}
			if waited, ok := m.requests[client]; ok {
				change.Asked, change.Request = client, waited
			}
			m.node.KeyChanged(change)
		}
	}
}

// share tells that a lock is of no one client any more, once its session has carried out a statement of another one.
func (m *machine) share(name string, has holder) {
	if m.step == 0 || has.client == "" {
		return
	}
	if i := slices.IndexFunc(m.backends, func(b *backend) bool { return b.id == has.session }); i >= 0 &&
		m.backends[i].conn.Client() != has.client {
		asked := m.backends[i].conn.Client()
		m.holders[name] = holder{session: has.session}
		m.node.KeyChanged(trace.KeyChange{
			Step: m.step, Key: name, Value: valueOf(has.session), Change: trace.KeySet, Asked: asked, Request: m.requests[asked],
			Left: whileOpen,
		})
	}
}
