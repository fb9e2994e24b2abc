package sqllocks_test

import (
	"testing"

	"locksim/scenarios/file"
	"locksim/scenarios/sqllocks"
)

// A database does not list its rows and locks, and it is said that nothing is learnt of them.
func TestNothingIsLearntOfADatabase(t *testing.T) {
	for _, l := range sqllocks.All() {
		of, err := l.Learn(file.Defaults(), "order")
		if err != nil {
			t.Fatal(err)
		}
		if want := "no key was learnt: its servers do not list what they have"; of.String() != want {
			t.Errorf("%s: %s; want %s", l.Name, of, want)
		}
	}
}
