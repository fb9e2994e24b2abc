// Package mysqlbroken has locks in MySQL or MariaDB that are wrong on purpose, as package
// [locksim/lock/broken/sqlbroken] has them for PostgreSQL: each has one mistake that people ship, and the rest is
// right. The harness must catch them. Never use one to guard anything.
//
//	for _, s := range mysqlbroken.All() {
//		fmt.Println(s.Name, s.ID, s.Wrong)
//	}
//
// The locks that are right, and better, are those of package [locksim/lock/sqllock].
package mysqlbroken
