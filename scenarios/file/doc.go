// Package file reads and writes scenarios. A [Scenario] says who takes part, what
// they do, what goes wrong, and how the run should end; a file says the same in
// YAML.
//
// [Parse] reads the content of a file, fills in defaults for missing keys, and
// checks all of it: every error is an [*InputError] with the line, the column and a
// caret. [Format] writes a scenario that was built or changed in Go, so that Parse
// reads it back unchanged. [Load] finds a scenario in the library, or in a file.
//
// A Scenario is data: nothing here plays it, package [locksim/scenarios/play] does.
package file
