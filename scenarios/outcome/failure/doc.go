// Package failure has the ways in which a lock was broken as data: the minimal run, its story, and how often it
// replays. Package [locksim/scenarios/search] finds and examines them, reports show them.
package failure
