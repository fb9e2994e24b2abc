package testruns

import (
	"os"
	"testing"

	"locksim/sim/postgres"
)

// NeedsPostgres skips the test where there can be no PostgreSQL, or fails it with LOCKSIM_REQUIRE_LIVE=1.
func NeedsPostgres(t testing.TB) {
	t.Helper()
	switch err := postgres.Missing(); {
	case err == nil:
	case os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1":
		t.Fatal(err)
	default:
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
}
