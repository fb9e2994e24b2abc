//go:build linux

package postgres

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locksim/internal/dbworld"
	"locksim/sim/trace"
)

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
		all = append(all, trace.Key{Name: name, Value: dbworld.Value(session)})
	}
	slices.SortFunc(all, func(a, b trace.Key) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// WatchKeys implements [sim.KeyWatcher]: a key is the lock of a session.
func (m *machine) WatchKeys(names []string) { m.truth.Watch(names) }

// tell adds to the ground truth which of the watched locks have changed hands, by what a client has sent, or without
// one.
func (m *machine) tell(by string) {
	watched := m.truth.Watched
	if len(watched) == 0 {
		return
	}
	var now map[string]int32
	if !m.server.down {
		now = m.sessionLocks(slices.ContainsFunc(watched,
			func(name string) bool { return strings.HasPrefix(name, rowLock) }))
	}
	m.truth.Tell(by, now, m.server.down)
}

// client is the client of a session; false if the session has ended.
func (m *machine) client(session int32) (string, bool) {
	i := slices.IndexFunc(m.backends, func(b *backend) bool { return b.id == session })
	if i < 0 {
		return "", false
	}
	return m.backends[i].conn.Client(), true
}
