package main

import "fmt"

// options are how much is measured.
type options struct {
	Rounds    int // of the contests of speed
	Sections  int // acquires with their releases in a turn of those
	Handovers int // rounds of the contest of hand-overs
}

func (o options) validate() error {
	if o.Rounds < 1 || o.Sections < 1 || o.Handovers < 1 {
		return fmt.Errorf("-rounds %d, -sections %d, -handovers %d: each must be at least 1", o.Rounds, o.Sections, o.Handovers)
	}
	return nil
}
