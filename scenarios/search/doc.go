// Package search draws scenarios at random and examines those that fail.
//
// A [Space] says what can be drawn for a lock, and [Discover] finds out from a run
// without faults what the space leaves open. [Draw] draws a scenario from a space; it
// depends on the choices alone, which a seed feeds by [Seeded]. A [Found] is a failure:
// [Examine] makes it again ten times, makes it minimal by package
// [locksim/scenarios/shrink], and tells its story.
package search
