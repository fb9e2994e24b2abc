package etcdlocks_test

import (
	"slices"
	"testing"

	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// What is learnt of each lock are the keys that it names.
func TestLearntKeysAreTheNamedOnes(t *testing.T) {
	for _, l := range etcdlocks.All() {
		of, err := play.Learn(l, file.Defaults(), "order")
		if err != nil {
			t.Fatal(err)
		}
		if l.Keys == nil {
			t.Log(l.Name, of)
			continue
		}
		if want := l.Keys("order"); !slices.Equal(of.Keys, want) {
			t.Errorf("%s: %s; want %q", l.Name, of, want)
		}
	}
}
