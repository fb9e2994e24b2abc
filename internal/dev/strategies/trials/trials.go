// Package trials has what the program trial tells package strategies.
package trials

import "time"

// Trial is one search for a mistake, which ends with the first run that breaks the promise, or when its CPU time is
// over.
type Trial struct {
	Strategy string        `json:"strategy"`
	First    uint64        `json:"first"` // the seed of its first run
	Found    bool          `json:"found"`
	Runs     int           `json:"runs"`
	CPU      time.Duration `json:"cpu"`            // in nanoseconds
	What     string        `json:"what,omitempty"` // the violation
}
