// Package broken holds locks that are wrong on purpose. Each is a mistake that stands in published
// tutorials or libraries, or that the literature warns of; each has a file of its own, and one mistake in
// it, so that everything else is as good as it usually is where the mistake is found. They are there for
// the harness to catch: a checker that lets one pass is no checker.
//
//	for _, s := range broken.All() {
//		fmt.Println(s.Name, s.ID, s.Wrong)
//	}
//	s, err := broken.Find("del-without-owner") // in del_without_owner.go
//	...
//	locks, err := s.New(clients, broken.Options{...})
//
// A [Specimen] says in data what is wrong, under which faults it shows, and which detector must see it.
// Never use one to guard anything.
//
// What the published originals lack, the specimens lack too: those on one node do not give back a grant
// whose validity was over when the answer came, and none cleans up after a request without an answer.
// Package locksim/lock does both. F numbers are entries of the project's catalogue of failure modes.
package broken
