// Package search plays drawn or placed scenarios with a lock, counts their results,
// and examines those that fail.
//
// A [spaces.Space] says what can be drawn for a lock, and [Discover] finds out from a run
// without faults what the space leaves open. [Draw] draws a scenario from a space;
// it depends on the choices alone, which [spaces.Seeded] makes from a seed.
//
// [Trials] is the loop of every search: of scenarios.Check and Fuzz, of
// explorations and sweeps. It takes cases, of which [Drawn] makes one from each
// seed, plays each once, repeats one in 20, and yields a [Trial]. A [tally.Tally] counts
// trials, [tally.Courses] counts those that pass by what happened in them, and [failure.Failures]
// has those that fail, one of each shape. [Found.Examine] repeats a failing run ten
// times, makes it minimal by package [locksim/scenarios/shrink], and writes its story.
package search
