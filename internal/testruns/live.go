package testruns

import (
	"errors"
	"os"
	"testing"

	"locksim/internal/mariadbserver"
	"locksim/internal/pgserver"
	"locksim/sim/mariadb"
	"locksim/sim/postgres"
)

// WithoutPostgres reports whether an error says that there can be no PostgreSQL here, or no MariaDB. With
// LOCKSIM_REQUIRE_LIVE=1 none does.
func WithoutPostgres(err error) bool {
	missing := errors.Is(err, pgserver.ErrMissing) || errors.Is(err, pgserver.ErrNoCompiler) ||
		errors.Is(err, mariadbserver.ErrMissing)
	return missing && os.Getenv("LOCKSIM_REQUIRE_LIVE") != "1"
}

// NeedsPostgres skips the test where there can be no PostgreSQL, or fails it with LOCKSIM_REQUIRE_LIVE=1.
func NeedsPostgres(t testing.TB) {
	t.Helper()
	needs(t, postgres.Missing())
}

// NeedsMariaDB is the same for MariaDB.
func NeedsMariaDB(t testing.TB) {
	t.Helper()
	needs(t, mariadb.Missing())
}

func needs(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case !WithoutPostgres(err):
		t.Fatal(err)
	default:
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
}
