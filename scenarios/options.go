package scenarios

import (
	"fmt"

	"locksim/lock"
	"locksim/scenarios/search"
)

// Options say what [Check] and [Fuzz] try. The zero value is a good default.
type Options struct {
	// Runs is how many schedules are tried, rounded up to a multiple of 100. 0
	// means 2,000, and 200 with -short, which otherwise makes a fifth of it.
	// -rapid.checks=N makes N hundredths of it.
	Runs int
	// Seed is the seed of the first schedule, the others follow. 0 leaves the
	// seeds to rapid: others each time, or those of -rapid.seed.
	Seed uint64
	// Faults are the classes of fault that may strike. Nil means those that the
	// lock promises to stand or, for a lock that promises nothing, all.
	Faults []lock.Fault
	// Space narrows down what is drawn further: what it leaves zero is found out
	// from a run without faults.
	Space Space
	// Dir is the folder of the failures that were found, which later runs try
	// first. "" means testdata/locksim.
	Dir string
}

// DefaultDir is where Check and Fuzz store failures, below the folder of the
// test's package.
const DefaultDir = "testdata/locksim"

// defaultRuns is how many schedules are tried, shortRuns with -short.
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

// validate refuses what no run can be made of.
func (o Options) validate() error {
	if o.Runs < 0 {
		return fmt.Errorf("scenarios: Options.Runs is %d: give 0 for the default of %d, or a number of schedules", o.Runs, defaultRuns)
	}
	if o.Faults != nil && o.Space.Faults != nil {
		return fmt.Errorf("scenarios: Options.Faults and Options.Space.Faults are both set: leave one of them out")
	}
	return nil
}

// discover is the space that schedules are drawn from.
func (o Options) discover(l Lock) (Space, error) {
	if err := o.validate(); err != nil {
		return Space{}, err
	}
	space := o.Space
	if o.Faults != nil {
		space.Faults = o.Faults
	}
	return search.Discover(l, space)
}
