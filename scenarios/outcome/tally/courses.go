package tally

import (
	"fmt"

	"locksim/internal/prose"
)

// Course is the class of a run: what its clients went through, and which faults they
// felt. Two runs have the same course if the same classes of fault were felt in them
// and their clients made the same moves. A move is a pair of consecutive steps of one
// client, each with how it ended: from a write that succeeded to a release that
// failed. A lease that ends between two steps is a step too. How often a move was
// made, by which clients, when and with which values is no part of a course, nor are
// the points of a lock, since not every lock names points.
//
// It is coarse enough that runs repeat it. Of the runs of lock single within its
// promise, that many took a course that no other had, by classes of several grains
// (measured when the class was chosen; what is drawn has grown since):
//
//	                               500 runs   1,000   2,000   5,000  10,000
//	the moves alone                    16 %    14 %    10 %     6 %     4 %
//	the steps, and the faults          37 %    28 %    23 %    16 %    12 %
//	the moves, and the faults          47 %    39 %    34 %    27 %    21 %
//	... and where each fault struck    88 %    80 %    75 %    69 %
//
// And it is fine enough that the next violation is probably found in a new course: in
// four specimens of package broken, within the promise of lock single, 1,500 runs each,
// 40 % of the runs without a violation after the first 500 had a course that no earlier
// one had, but 53 to 100 % of those with a violation; by the moves alone, 6 to 71 %.
// With the last grain, nearly every run has a course of its own, however many are made.
//
// It is stored as a digest of 32 bits in hex: of 100,000 courses about one pair has
// the same. The courses of 50,000 runs take 0.4 MB in a journal.
type Course string

// Courses counts the runs of each course. The counts of consecutive parts of a search
// add up to that of the whole.
type Courses map[Course]int

// Add adds the counts of later runs.
func (c *Courses) Add(later Courses) { *c = AddCounts(*c, later) }

// Novelty is an estimate of how much a search has not seen.
type Novelty struct {
	// Courses counts the different courses of the runs that are evidence.
	Courses int `json:"courses"`
	// Once counts the courses of one run each.
	Once int `json:"once"`
	// Rate is the estimated probability that the next run that is evidence has a new
	// course.
	Rate float64 `json:"rate" jsonschema:"maximum=1"`
}

// Novelty estimates how likely the next run is to have a new course, by Good and
// Turing: as likely as a run is to be the only one of its course. The expected value
// of the estimate is the probability itself, but for one part in the number of runs,
// whatever the courses and their frequencies are, as long as the runs are drawn
// independently from one distribution. For the locks single, fair and redlock it was 34,
// 33 and 40 % after 2,000 runs within their promise, and 35, 37 and 41 % of the next
// 3,000 had a course that was new then. Without runs the rate is 1.
//
// The estimate is from Good, "The population frequencies of species and the estimation
// of population parameters", Biometrika 40, 1953; that it says how much a test campaign
// would still discover is from Böhme, "STADS: Software Testing as Species Discovery",
// ACM TOSEM 27, 2018. It means nothing for a systematic search, such as a sweep, whose
// runs are not drawn.
func (c Courses) Novelty() Novelty {
	n, runs := Novelty{Courses: len(c), Rate: 1}, 0
	for _, count := range c {
		runs += count
		if count == 1 {
			n.Once++
		}
	}
	if runs > 0 {
		n.Rate = float64(n.Once) / float64(runs)
	}
	return n
}

// String is the estimate and whether more runs are worth making, as the end of a
// sentence.
func (n Novelty) String() string {
	worth := "much that is new"
	switch {
	case n.Rate < 0.01:
		worth = "hardly anything new"
	case n.Rate < 0.1:
		worth = "little that is new"
	}
	return fmt.Sprintf("about %s of further runs that test the lock would still try something new (%s of %s were seen "+
		"in one run only); more runs would show %s",
		Percent(n.Rate), prose.Thousands(n.Once), prose.Count(n.Courses, "course"), worth)
}
