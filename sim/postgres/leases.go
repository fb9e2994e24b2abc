//go:build linux

package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/internal/dbworld"
	"locksim/sim/trace"
)

// query asks for the leases that somebody has: the row, the owner, and the end in microseconds since 1970, nothing for
// never.
func query(t LeaseTable) string {
	return fmt.Sprintf(`SELECT %[2]s::text, %[3]s::text, CASE WHEN isfinite(%[4]s) THEN (extract(epoch FROM %[4]s) * 1000000)::bigint::text ELSE '' END
		FROM %[1]s WHERE %[3]s <> '' AND %[4]s > '-infinity'`, t.Table, t.Key, t.Owner, t.Until)
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
		b.machine.truth.TellLeases(b.machine.leasesNow(false), trace.KeyChange{Step: b.step, By: b.conn.Client(),
			Asked: b.conn.Client(), Request: b.asked.Kind()})
	}
}

// leasesNow are the leases that somebody has, by their keys.
func (m *machine) leasesNow(first bool) map[string]dbworld.Lease {
	now := map[string]dbworld.Lease{}
	for _, t := range m.kind.Leases {
		for _, row := range m.askOften(query(t)) {
			is := dbworld.Lease{Owner: row[1], First: first}
			if us, err := strconv.ParseInt(row[2], 10, 64); err == nil {
				is.Until = time.UnixMicro(us)
			}
			now[t.Lease(row[0])] = is
		}
	}
	return now
}
