package etcdlocks_test

import (
	"testing"

	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
)

// The library names the locks of this package, and knows whether they mint tokens, also in a program without them.
func TestKnownElsewhere(t *testing.T) {
	for _, l := range etcdlocks.All() {
		if path, ok := kinds.Package(l.Name); !ok || path != "locksim/scenarios/etcdlocks" {
			t.Errorf("%s is in package %q", l.Name, path)
		}
		if kinds.RunsIn(l.Name, true) != l.Tokens || !kinds.RunsIn(l.Name, false) {
			t.Errorf("%s mints tokens: %v", l.Name, l.Tokens)
		}
	}
	without, err := play.Library(nil)
	if err != nil {
		t.Fatal(err)
	}
	with, err := play.Library(etcdlocks.All())
	if err != nil {
		t.Fatal(err)
	}
	if len(without) == 0 || len(with) <= len(without) {
		t.Errorf("%d scenarios with these locks, %d without", len(with), len(without))
	}
	for _, sc := range without {
		for _, name := range sc.LockNames() {
			if _, ok := kinds.Package(name); ok {
				t.Errorf("%s names %s", sc.Name, name)
			}
		}
	}
	if _, err := play.FindLock("etcd", nil); err == nil || err.Error() != `there is no lock "etcd" in this program: package locksim/scenarios/etcdlocks has it, for app.Main` {
		t.Error(err)
	}
}
