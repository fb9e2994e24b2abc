package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"locksim/internal/book"
	"locksim/scenarios/outcome/comparisons"
)

// result is a line of the results: one of its parts is set.
type result struct {
	ID     string    `json:"id"`
	Start  *start    `json:"start,omitempty"`
	Server *about    `json:"server,omitempty"`
	Disk   *disk     `json:"disk,omitempty"`
	Cell   *measured `json:"cell,omitempty"`
}

// start is what a measurement began with.
type start struct {
	Commit    string        `json:"commit"` // as book.Checkout.State has it
	Date      string        `json:"date"`   // of the commit
	Load      string        `json:"load"`   // of the machine before: the averages of 1, 5 and 15 minutes
	Rounds    int           `json:"rounds"`
	Warm      time.Duration `json:"warm"`
	Window    time.Duration `json:"window"`
	Base      time.Duration `json:"base"`
	Work      time.Duration `json:"work"`
	Only      string        `json:"only,omitempty"`
	Processor string        `json:"processor"`
	Cores     int           `json:"cores"`
	Go        string        `json:"go"`
	Folder    string        `json:"folder"` // of the data
	Files     string        `json:"files"`  // its type of file system
	Device    string        `json:"device"`
	// Missing says for a system why it was left out.
	Missing map[string]string `json:"missing,omitempty"`
	// Trips are the round trips of the locks in the simulated world, by the names of locks.
	Trips map[string]comparisons.Trips `json:"trips"`
}

// about is what is known of the servers of a system.
type about struct {
	System  string `json:"system"`
	Version string `json:"version"`
	Keeps   string `json:"keeps"`
}

// disk is how long a write of 4 KiB and its fsync take in the folder of the data, in one round.
type disk struct {
	Round int     `json:"round"`
	Sync  latency `json:"sync"`
}

// measured is a row under a load in one round, and the SETs that were measured right before.
type measured struct {
	Row string `json:"row"`
	load
	Round int  `json:"round"`
	Cell  cell `json:"lock"`
	Base  cell `json:"set"`

	set unit // by which its figures are divided
}

// unit is a SET by so many clients in a round: the median of those that were measured beside the cells. One of them
// alone would have in it what else the machine did in its second.
type unit struct {
	rate float64       // of all clients in a second
	p50  time.Duration // of one
}

// unitOf is the unit of some cells.
func unitOf(cells []*measured) unit {
	rate := over(cells, func(c *measured) float64 { return c.Base.rate() })
	p50 := over(cells, func(c *measured) float64 { return float64(c.Base.Acquire.P50) })
	return unit{rate.Median, time.Duration(p50.Median)}
}

func cellID(row string, l load, round int) string {
	return fmt.Sprintf("%s %d/%d round %d", row, l.Clients, l.Keys, round)
}

const startID = "start"

// results are those of one measurement.
type results struct{ *book.Book[string, result] }

func idOf(r result) string { return r.ID }

// readResults reads those that are stored.
func readResults(file string) (results, error) {
	b, err := book.Read(file, idOf)
	if err != nil {
		return results{}, fmt.Errorf("read the stored results: %w", err)
	}
	if r := (results{b}); r.start() == nil {
		return r, fmt.Errorf("%s has no line %q: measure first", file, startID)
	}
	return results{b}, nil
}

// openResults opens those of a measurement that was interrupted, if it began as this one does, with so many cells to
// do. Otherwise it begins with none.
func openResults(file string, now start, all int) (results, error) {
	b, err := book.Open(file, idOf)
	if err != nil {
		return results{}, err
	}
	r := results{b}
	s := r.start()
	goesOn := false
	if s != nil && len(r.cells()) < all {
		goesOn = s.sameAs(now)
	}
	if goesOn {
		return r, nil
	}
	if err := errors.Join(r.Close(), os.Truncate(file, 0)); err != nil {
		return results{}, err
	}
	if b, err = book.Open(file, idOf); err != nil {
		return results{}, err
	}
	return results{b}, b.Add(result{ID: startID, Start: &now})
}

// sameAs says that a measurement can go on with one that began so: the same of everything but the date, at a commit.
func (s *start) sameAs(now start) bool {
	return s.Commit == now.Commit && !book.Dirty(s.Commit) && s.Rounds == now.Rounds && s.Warm == now.Warm &&
		s.Window == now.Window && s.Base == now.Base && s.Work == now.Work && s.Only == now.Only &&
		s.Processor == now.Processor && s.Files == now.Files
}

// start is what the measurement began with, nil without a measurement.
func (r results) start() *start {
	if l, ok := r.Latest(startID); ok {
		return l.Start
	}
	return nil
}

// cells are the measured cells, with their units: of those with one id the latest.
func (r results) cells() (all []*measured) {
	seen := map[string]bool{}
	for _, l := range slices.Backward(r.All()) {
		if l.Cell != nil && !seen[l.ID] {
			all = append(all, l.Cell)
		}
		seen[l.ID] = true
	}
	slices.Reverse(all)
	type group struct{ round, clients int }
	groups := map[group][]*measured{}
	for _, c := range all {
		groups[group{c.Round, c.Clients}] = append(groups[group{c.Round, c.Clients}], c)
	}
	for _, g := range groups {
		u := unitOf(g)
		for _, c := range g {
			c.set = u
		}
	}
	return all
}

// of are the cells of a row under a load, one for each round.
func (r results) of(row string, l load) (all []*measured) {
	for _, c := range r.cells() {
		if c.Row == row && c.load == l {
			all = append(all, c)
		}
	}
	return all
}
