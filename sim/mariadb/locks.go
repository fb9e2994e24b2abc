//go:build linux

package mariadb

import (
	"cmp"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/internal/dbworld"
	"locksim/sim/trace"
)

// The names of locks begin so.
const (
	namedLock = "named lock "
	rowLock   = "row lock "
)

// namedLocks are the locks that sessions have taken with GET_LOCK.
const namedLocks = "SELECT thread_id, table_schema FROM information_schema.metadata_lock_info WHERE " +
	"lock_type = 'User lock'"

// sessionLocks are the locks that sessions have at present, by their names; those on rows only if they are asked for.
func (m *machine) sessionLocks(rows bool) map[string]int32 {
	all := map[string]int32{}
	for _, row := range m.ask(namedLocks) {
		m.note(all, row[0], namedLock+row[1])
	}
	if !rows {
		return all
	}
	for _, row := range m.ask("SHOW ENGINE INNODB STATUS") {
		for _, l := range lockedRows(row[2]) {
			m.note(all, l[0], rowLock+l[1])
		}
	}
	return all
}

// note notes a lock of the thread with an id of the server.
func (m *machine) note(all map[string]int32, thread, name string) {
	id, _ := strconv.ParseUint(thread, 10, 32) // it is a number
	for _, s := range m.sessions {
		if uint64(s.real) == id {
			all[name] = s.id
		}
	}
}

var (
	threadLine = regexp.MustCompile(`^(?:MariaDB|MySQL) thread id (\d+),`)
	lockLine   = regexp.MustCompile("^RECORD LOCKS .* index PRIMARY of table `[^`]*`\\.`([^`]*)` trx id \\d+ lock_mode X")
	fieldLine  = regexp.MustCompile(`^ 0: len \d+; hex ([0-9a-f]*);`)
)

// lockedRows are the rows whose locks transactions have, by what InnoDB says of itself: the thread, and the name of the
// row, which is that of its table and its key.
func lockedRows(status string) (all [][2]string) {
	thread, table := "", ""
	for line := range strings.Lines(status) {
		if strings.HasPrefix(line, "---TRANSACTION") || strings.HasPrefix(line, "------- TRX HAS BEEN WAITING") {
			table = ""
		}
		if found := threadLine.FindStringSubmatch(line); found != nil {
			thread = found[1]
		}
		if strings.HasPrefix(line, "RECORD LOCKS") || strings.HasPrefix(line, "TABLE LOCK") {
			table = ""
			if found := lockLine.FindStringSubmatch(line); found != nil && !strings.Contains(line, " waiting") {
				table = found[1]
			}
		}
		if found := fieldLine.FindStringSubmatch(line); found != nil && table != "" {
			all = append(all, [2]string{thread, table + "/" + keyOf(found[1])})
		}
	}
	return all
}

// keyOf is a key as InnoDB has it: a text, or else its bytes in hexadecimal.
func keyOf(digits string) string {
	key, err := hex.DecodeString(digits)
	if err != nil || len(key) == 0 || slices.ContainsFunc(key, func(c byte) bool { return c < ' ' || c > '~' }) {
		return "0x" + digits
	}
	return string(key)
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

// LeaseTable is a table with leases, whose changes the world's KeyChanges have: see [dbworld.LeaseTable].
type LeaseTable = dbworld.LeaseTable

// query asks for the leases that somebody has: the row, the owner, and the end in microseconds since 1970.
func query(t LeaseTable) string {
	return "SELECT " + t.Key + ", " + t.Owner + ", TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + t.Until + ") FROM " +
		t.Table + " WHERE " + t.Owner + " <> '' ORDER BY " + t.Key
}

// leaseWork is whether the statements of a session since its last transaction may have changed leases.
type leaseWork struct{ named, changed bool }

// asked takes note of a statement: one that changes a lease names its table.
func (w *leaseWork) asked(tables []LeaseTable, statement string) {
	w.named = w.named || slices.ContainsFunc(tables,
		func(t LeaseTable) bool { return strings.Contains(statement, t.Table) })
}

// done takes note of what a statement did.
func (w *leaseWork) done(r reply) {
	w.changed = w.changed || w.named && r.failure == nil && r.affected > 0
}

// lookAtLeases looks, at the end of a transaction that may have changed leases, which ones it has changed. It is told
// at once, before the server does anything else. The look is not in the trace.
func (s *session) lookAtLeases(a asking) {
	changed := s.leases.changed
	s.leases = leaseWork{}
	if changed && !s.undone {
		s.machine.truth.TellLeases(s.machine.leasesNow(false), trace.KeyChange{Step: s.step, By: s.conn.Client(),
			Asked: s.conn.Client(), Request: a.words})
	}
}

// leasesNow are the leases that somebody has, by their keys.
func (m *machine) leasesNow(first bool) map[string]dbworld.Lease {
	now := map[string]dbworld.Lease{}
	for _, t := range m.kind.Leases {
		for _, row := range m.ask(query(t)) {
			is := dbworld.Lease{Owner: row[1], First: first}
			if us, err := strconv.ParseInt(row[2], 10, 64); err == nil {
				is.Until = time.UnixMicro(us)
			}
			now[t.Lease(row[0])] = is
		}
	}
	return now
}
