package postgres

import "locksim/internal/dbworld"

// LeaseTable is a table with leases, whose changes the world's KeyChanges have: that of a row is the key "lease row
// TABLE/ROW". A row without an owner, or whose end is -infinity, is no lease. One that is over is, until somebody takes
// it or gives it back: the server does not end it, and the time that it had left is below 0 then. The fields are
// identifiers of SQL.
type LeaseTable = dbworld.LeaseTable
