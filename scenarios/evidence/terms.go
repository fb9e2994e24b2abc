package evidence

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/file"
)

// LeaseForm says how the end of a lease is known.
type LeaseForm string

// The forms. The empty one counts as LeaseUntil.
const (
	// LeaseUntil is a lease whose Until is its end, on the holder's clock.
	LeaseUntil LeaseForm = "until"
	// LeaseCounted is a lease that does not tell its end, and that lasts for its TTL from the call of Acquire.
	LeaseCounted LeaseForm = "counted"
	// LeaseHeld is a lease without an end: its holder has the lock until it releases it or is told of its loss.
	LeaseHeld LeaseForm = "held"
)

// Terms are what a lock is judged by: its promise, and what is known of it. They are data: a stored run has them too.
type Terms struct {
	Promise promise.Promise `json:"promise"`
	Lease   LeaseForm       `json:"lease,omitempty"`
	// Detection is how long a holder of a lease that is held may take to learn of a loss; 0 is the TTL of the scenario.
	Detection time.Duration `json:"detection,omitempty"`
	// LeaseTTL is how long a lease that is held lasts after the last write of its holder, where no server ends it: 0 if
	// that is not known.
	LeaseTTL time.Duration `json:"lease_ttl,omitempty"`
	// Named says that the errors are known with which it says that it is taken.
	Named bool `json:"taken_named,omitempty"`
	// Nodes is the number of servers that it needs, Voters that of those that grant it independently of each other: a
	// cluster is one. Quorum says that it asks a majority, also where there is one.
	Nodes  int  `json:"nodes"`
	Voters int  `json:"voters"`
	Quorum bool `json:"quorum,omitempty"`
	// Replicas is how many replicas it needs to be granted at all. Watched says that some servers watch others, and
	// replace a primary that does not answer. Sharded says that they are the nodes of a Redis Cluster.
	Replicas int  `json:"replicas,omitempty"`
	Watched  bool `json:"watched,omitempty"`
	Sharded  bool `json:"sharded,omitempty"`
	// Settles is how long its servers take to serve again after trouble of one of them, where they form a cluster. Leaders
	// are the names of whichever of them leads.
	Settles time.Duration `json:"settles,omitempty"`
	Leaders []string      `json:"leaders,omitempty"`
	// Late is how long an answer that has arrived may be kept from the code of the lock.
	Late time.Duration `json:"late,omitempty"`
	// FollowsSpec says that TTL and backoff are those of the scenario. Pause is the pause between two tries, for a lock
	// with a backoff of its own that says it.
	FollowsSpec bool          `json:"follows_spec,omitempty"`
	Pause       time.Duration `json:"pause,omitempty"`
	// Messages is how many messages a client needs to a grant, 0 for a lock that does not say it; GrantTime what an
	// Acquire takes besides.
	Messages  int           `json:"messages,omitempty"`
	GrantTime time.Duration `json:"grant_time,omitempty"`
	// Section says that it has a section of its own, which writes the registers of Writes.
	Section bool     `json:"section,omitempty"`
	Writes  []string `json:"writes,omitempty"`
	// Fence is the rule of a store that is itself under test: see [checker.History].
	Fence fence.Mode `json:"fence,omitempty"`
}

// reading is one reading of a record. It modifies nothing of it.
type reading struct {
	*Record
	limits
}

func read(sc *file.Scenario, terms Terms, rec *Record) reading {
	sc, rec = Strikes(sc, rec)
	return reading{rec, limits{sc, terms, rec.Learnt}}
}

// has reports whether the lock promises a duty.
func (r reading) has(d promise.Duty) bool { return slices.Contains(r.terms.Promise.Duties, d) }

// fills says that sections fill values, or run jobs: the lock has no section of its own.
func (r reading) fills() bool { return r.sc.Workload.Fills() && !r.terms.Section }

// leads says that sections are the terms of a leader: the lock has no section of its own.
func (r reading) leads() bool { return r.sc.Workload.Leads() && !r.terms.Section }

// stock is the stock of which sections take, or nil: the lock has no section of its own.
func (r reading) stock() *checker.Stock {
	if !r.sc.Workload.Sells() || r.terms.Section {
		return nil
	}
	units, each := r.sc.Workload.Units()
	return &checker.Stock{Units: units, Each: each}
}

// looks says that sections may check their lease by a step of their own.
func (r reading) looks() bool {
	return r.terms.Section || slices.Contains(r.sc.Workload.Section, file.Step{Do: file.StepCheck})
}
