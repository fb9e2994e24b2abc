//go:build linux

package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/sim/trace"
)

// key is the name of a lease in the ground truth.
func (t LeaseTable) key(row string) string { return "lease row " + t.Table + "/" + row }

// query asks for the leases that somebody has: the row, the owner, and the end in microseconds since 1970, nothing for
// never.
func (t LeaseTable) query() string {
	return fmt.Sprintf(`SELECT %[2]s::text, %[3]s::text, CASE WHEN isfinite(%[4]s) THEN (extract(epoch FROM %[4]s) * 1000000)::bigint::text ELSE '' END
		FROM %[1]s WHERE %[3]s <> '' AND %[4]s > '-infinity'`, t.Table, t.Key, t.Owner, t.Until)
}

// lease is a row that somebody has.
type lease struct {
	owner string
	until time.Time // by the server's clock; 0 for never
	first bool      // it was there when the world began
}

// leaseWork is whether the statements of a backend since its last transaction may have changed leases.
type leaseWork struct{ named, changed bool }

// asked takes note of a statement: one that changes a lease names its table.
func (w *leaseWork) asked(tables []LeaseTable, statement string) {
	w.named = w.named || slices.ContainsFunc(tables,
		func(t LeaseTable) bool { return strings.Contains(statement, t.Table) })
}

// done takes note of what a statement did, by its tag: "UPDATE 0" did nothing.
func (w *leaseWork) done(tag string) {
	w.changed = w.changed || w.named && !strings.HasSuffix(tag, " 0")
}

// lookAtLeases looks, at the end of a transaction that may have changed leases, which ones it has changed: status is
// that of ReadyForQuery. It is told at once, before the server does anything else. The look is not in the trace.
func (b *backend) lookAtLeases(status byte) {
	if status != 'I' {
		return
	}
	changed := b.leases.changed
	b.leases = leaseWork{}
	if changed && !b.undone {
		b.machine.tellLeases(trace.KeyChange{Step: b.step, By: b.conn.Client(), Asked: b.conn.Client(),
			Request: b.asked.Kind()})
	}
}

// leasesNow are the leases that somebody has, by their keys.
func (m *machine) leasesNow(first bool) map[string]lease {
	now := map[string]lease{}
	for _, t := range m.kind.Leases {
		for _, row := range m.askOften(t.query()) {
			is := lease{owner: row[1], first: first}
			if us, err := strconv.ParseInt(row[2], 10, 64); err == nil {
				is.until = time.UnixMicro(us)
			}
			now[t.key(row[0])] = is
		}
	}
	return now
}

// tellLeases adds to the ground truth which leases are others than before. A lease that is over stays until somebody
// takes it.
func (m *machine) tellLeases(why trace.KeyChange) {
	now := m.leasesNow(false)
	keys := slices.Collect(maps.Keys(now))
	for key := range m.leases {
		if _, there := now[key]; !there {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		before, was := m.leases[key]
		is, there := now[key]
		if was && there && is.owner == before.owner {
			is.first = before.first
			now[key] = is
		}
		c := why
		c.Key, c.Value, c.Change = key, is.owner, trace.KeySet
		switch {
		case !there:
			c.Change = trace.KeyDeleted
		case was && is.owner == before.owner && is.until.Equal(before.until):
			continue
		case was && is.owner == before.owner:
			c.Change = trace.KeyProlonged
		}
		if c.Left = before.left(was, m.node.Now()); before.first {
			c.Was, c.Over = before.owner, c.Change == trace.KeySet
		}
		m.node.KeyChanged(c)
	}
	m.leases = now
}

func (l lease) left(there bool, now time.Time) trace.TimeLeft {
	switch {
	case !there:
		return trace.TimeLeft{End: trace.EndNone}
	case l.until.IsZero():
		return trace.TimeLeft{End: trace.EndNever}
	}
	return trace.LeftFor(l.until.Sub(now))
}
