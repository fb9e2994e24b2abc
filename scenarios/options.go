package scenarios

import (
	"fmt"
	"io"

	"locksim/lock"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// Options say what [Check] and [Fuzz] try. The zero value is a good default.
type Options struct {
	// Runs is the number of schedules to try, rounded up to a multiple of 100 if it is more than that. 0
	// means 2,000, or 200 with -short; -short reduces any other number to a fifth.
	// -rapid.checks=N scales the number by N/100.
	Runs int
	// Seed is the seed of the first schedule; the others follow it. With 0 rapid
	// chooses the seeds: new ones each time, or those of -rapid.seed.
	Seed uint64
	// Faults are the classes of fault that may strike, such as lock.FaultPause, and
	// single kinds by their names in scenario files, such as "half_open": the names
	// that locksim explore --faults takes. Nil means the classes under which the lock
	// keeps its promise or, for a lock that promises nothing, all.
	Faults []lock.Fault
	// Claims asks only whether two claims ever overlap, under every fault, whatever
	// the lock promises.
	Claims bool
	// Space restricts further what is drawn. A run without faults finds the values
	// of the fields that are zero.
	Space Space
	// Dir is the folder of the failures that were found, which later runs try
	// first. "" means testdata/locksim.
	Dir string
	// Page writes the page of a failure, which Check stores beside it. replay is the
	// command that runs the test again. Nil means that there is no page. This one is
	// of the packages locksim/reports and locksim/reports/html:
	//
	//	Page: func(w io.Writer, o *scenarios.Outcome, replay string) error {
	//		return html.Run(w, o, reports.Options{Replay: replay})
	//	}
	Page func(w io.Writer, o *Outcome, replay string) error
	// Markdown writes a failure for the summary of a CI job, with a diagram, which Check stores beside it too. Nil
	// means that there is none. This one is of the packages locksim/reports and locksim/reports/markdown:
	//
	//	Markdown: func(w io.Writer, o *scenarios.Outcome, replay string) error {
	//		return markdown.Run(w, o, reports.Options{Replay: replay})
	//	}
	Markdown func(w io.Writer, o *Outcome, replay string) error
}

// DefaultDir is where Check and Fuzz store failures, below the folder of the
// test's package.
const DefaultDir = search.StoredDir

// defaultRuns is the number of schedules, shortRuns that with -short.
const (
	defaultRuns = 2_000
	shortRuns   = 200
)

func (o Options) dir() string {
	if o.Dir == "" {
		return DefaultDir
	}
	return o.Dir
}

// validate refuses options of which no run can be made.
func (o Options) validate() error {
	if o.Runs < 0 {
		return fmt.Errorf("Options.Runs is %d: give 0 for the default of %d, or a number of schedules", o.Runs, defaultRuns)
	}
	if o.Faults != nil && (o.Space.Faults != nil || o.Space.Kinds != nil) {
		return fmt.Errorf("Options.Faults and the Faults or Kinds of Options.Space are both set: leave one of them out")
	}
	return nil
}

// space is what the options say of the space that schedules are drawn from.
func (o Options) space() (Space, error) {
	if err := o.validate(); err != nil {
		return Space{}, err
	}
	space := o.Space
	if o.Faults != nil {
		var err error
		if space.Faults, space.Kinds, err = spaces.NamedFaults(o.Faults); err != nil {
			return Space{}, fmt.Errorf("Options.Faults: %w", err)
		}
	}
	return space, nil
}
