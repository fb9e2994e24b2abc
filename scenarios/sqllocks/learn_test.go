package sqllocks_test

import (
	"testing"

	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/sqllocks"
)

// Of a database the locks of its sessions are learnt. It does not list what is written in its rows, and it is said that
// nothing is learnt of them.
func TestTheLocksOfSessionsAreLearnt(t *testing.T) {
	const (
		nothing  = "no key was learnt: its servers do not list what they have"
		advisory = `the lock’s key was learnt: "advisory lock 7774916592154454519"`
	)
	want := map[string]string{
		"sql-for-update":             `the lock’s key was learnt: "row lock lock_rows/order"`,
		"sql-advisory":               advisory,
		"sql-advisory-tx":            advisory,
		"broken/sql-advisory-pooled": advisory,
		"broken/sql-two-locks":       `the lock’s keys were learnt: "row lock broken_rows/order/from", "row lock broken_rows/order/to"`,
	}
	for _, l := range sqllocks.All() {
		of, err := play.Learn(l, file.Defaults(), "order")
		if err != nil {
			t.Fatal(err)
		}
		expected, ok := want[l.Name]
		if !ok {
			expected = nothing
		}
		if of.String() != expected {
			t.Errorf("%s: %s; want %s", l.Name, of, expected)
		}
	}
}
