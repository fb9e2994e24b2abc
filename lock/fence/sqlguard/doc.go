// Package sqlguard guards the rows of SQL tables with the rules of package fence: a holder that has lost its lock
// cannot overwrite its successor's data. A write is one conditional UPDATE, and the number of rows that it has changed
// is the decision; to ignore that number is the classic mistake of optimistic locking (F67 in the project's catalogue
// of failure modes). The package imports database/sql and no driver.
//
//	guard, err := sqlguard.New(sqlguard.Options{Mode: fence.Seal, Table: "accounts"})
//	...
//	op := fence.Op{Token: lease.Token()}
//	var balance int
//	_, err = guard.Read(ctx, db, id, op, sqlguard.Column{Name: "balance", Value: &balance})
//	...
//	err = guard.Write(ctx, db, id, op, sqlguard.Column{Name: "balance", Value: balance + 7})
//	if errors.Is(err, fence.ErrStale) {
//		// not written: another client holds the lock by now
//	}
//
// # The table
//
// The row is the resource of the rules, and their only register. Besides its own columns it has those that the rule
// needs:
//
//	fence_token    BIGINT       NOT NULL DEFAULT 0    -- Check, Seal, Strict
//	fence_grant    VARCHAR(255) NOT NULL DEFAULT ''   -- Strict, Claim
//	fence_version  BIGINT       NOT NULL DEFAULT 0    -- every rule
//
// Existing rows are guarded from then on; new ones are inserted with the defaults. Grant ids must be compared byte by
// byte: in MySQL give the column a binary collation, since the usual ones treat "a" and "A" as equal. fence_version
// increases by one with each statement of a guard. CAS compares it; the other rules need it only so that each statement
// changes its row, since MySQL counts rows that were changed, not rows that were found. Under CAS reads do not increase
// it.
//
// # What it needs
//
//   - Every write to the guarded columns goes through a guard of the same rule, and so does every read
//     that a write is based on. A row that is deleted and inserted again has lost its fence.
//   - Reads go to the database that takes the writes, not to a replica.
//   - The isolation level READ COMMITTED or a higher one, which is the default everywhere. The statements
//     need no transaction: the UPDATE waits for another one of the same row and then decides on its
//     result. At REPEATABLE READ and above PostgreSQL fails instead, with a serialization error, and
//     nothing is written.
//   - In a transaction of the caller's ([database/sql.Tx] is a [DB]) a decision counts once it has
//     committed. All other writes of the transaction are then guarded together with the row, which is
//     the way to guard more than one. It must begin after the lock was granted: at MySQL's default,
//     REPEATABLE READ, it reads the data as of its first read.
//   - Tokens and versions below 2^63, the limit of BIGINT. Larger ones are refused before anything is sent.
//
// The dialects differ only in their placeholders: "?" for MySQL, MariaDB and SQLite, "$1" for PostgreSQL.
package sqlguard
