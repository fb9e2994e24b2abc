// Package broken has locks that are wrong on purpose. Each has a mistake from published tutorials or libraries, or one
// that the literature warns of; each is in its own file, with only that mistake: the rest is as good as usual in code
// with the mistake. The harness must catch them: a checker that accepts one is wrong.
//
//	for _, s := range broken.All() {
//		fmt.Println(s.Name, s.ID, s.Wrong)
//	}
//	s, err := broken.Find("del-without-owner") // in del_without_owner.go
//	...
//	locks, err := s.New(clients, broken.Options{...})
//
// A [Specimen] is a lock with what package mistake knows of it: what is wrong, under which faults it shows, and which
// detector must see it. Never use one to guard anything.
//
// The specimens have a gap of the published originals: those on one node do not give back a grant whose answer arrived
// after the end of its validity. Package locksim/lock does. F numbers are entries of the project's catalogue of failure
// modes.
package broken
