// Package sqlbroken has locks in a PostgreSQL database that are wrong on purpose, as package [locksim/lock/broken] has
// them for Redis: each has one mistake that is easily made with a database, and the rest is right. The harness must
// catch them. Never use one to guard anything.
//
//	for _, s := range sqlbroken.All() {
//		fmt.Println(s.Name, s.ID, s.Wrong)
//	}
//
// Most of them have a row for each resource, with the owner, the end of the lease by the clock of the database, and a
// number for each grant, and ask again after a random time while the row is another's. The locks that are right, and
// better, are those of package [locksim/lock/sqllock].
package sqlbroken
