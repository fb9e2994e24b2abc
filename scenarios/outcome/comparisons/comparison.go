package comparisons

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/outcome"
	"locksim/scenarios/spaces"
)

// Version is the version of comparisons as JSON.
const Version = 1

// NoFault takes the place of a class of faults for scenarios without any. The cause
// of a failure there is the client: a section that outlasts the TTL.
const NoFault promise.Fault = spaces.NoFaults

// Comparison is the result of measuring some locks.
type Comparison struct {
	// Version is the version of this document.
	Version int `json:"version"`
	// Seeds are the seeds of every scenario.
	Seeds outcome.Seeds `json:"seeds"`
	// Live says that what the locks survive was seen in live runs, in which a seed decides the workload alone.
	Live bool `json:"live,omitempty"`
	// Also are the files of scenarios that were played beside those of the library, as they were asked for: paths, or
	// patterns of paths. Each is played with the locks that it names.
	Also []string `json:"also,omitempty"`
	// Classes are the classes of faults: NoFault, and those of [promise.Faults]. Each
	// lock has a Survival for each, in this order.
	Classes []promise.Fault `json:"classes"`
	// Locks are the locks, in the order in which they were asked for.
	Locks []Lock `json:"locks"`
}

// Lock is the declarations and the measurements of one lock.
type Lock struct {
	// Name is the name of the lock.
	Name string `json:"name"`
	// About says how the lock works; empty where its author has not written that.
	About string `json:"about,omitempty"`
	// ForWhom says for whom the lock is; empty where its author has not written that.
	ForWhom string `json:"for_whom,omitempty"`
	// Servers are the servers that it needs.
	Servers []Servers `json:"servers"`
	// Tokens says whether its leases carry fencing tokens.
	Tokens bool `json:"tokens"`
	// Promise is what the lock is judged by.
	Promise promise.Promise `json:"promise"`
	// Trips is the cost of its calls without contention.
	Trips Trips `json:"trips"`
	// Crowd is how long clients wait that all want it at once; absent if none waited.
	Crowd *Crowd `json:"crowd,omitempty"`
	// Availability is for how long it is not to be had after a trouble; absent if there is no lock.
	Availability *Availability `json:"availability,omitempty"`
	// Survives has an entry for each class of [Comparison.Classes].
	Survives []Survival `json:"survives"`
}

// Servers are servers of one kind.
type Servers struct {
	// Kind is the kind of server.
	Kind string `json:"kind"`
	// Count is the number of these servers.
	Count int `json:"count" jsonschema:"minimum=1"`
	// Uncompared says that the simulated servers were written after documentation, and were compared with no real ones.
	Uncompared bool `json:"uncompared,omitempty"`
}

// Survival is the result of a lock under one class of faults.
type Survival struct {
	// Class is the class of faults.
	Class promise.Fault `json:"class"`
	// Promised says whether the lock promises that claims exclude each other under
	// these faults.
	Promised bool `json:"promised"`
	// Scenarios counts the scenarios that were played.
	Scenarios int `json:"scenarios"`
	// Runs counts the runs that were played. Only runs count in which every fault
	// struck, and in which clients contended or the class is to blame for a harm.
	Runs int `json:"runs"`
	// Fence is the weakest fencing mode, in the order of [fence.Modes], in which no
	// run ended with wrong data or a stuck lock; fence.None means that no fence is
	// needed. It is empty if every mode failed, or nothing was played.
	Fence fence.Mode `json:"fence,omitempty"`
	// Refused is a run in which that fence refused a client that rightfully held
	// the lock; nil if there was none. A mode without such a run is preferred to a
	// weaker one with one.
	Refused *Seen `json:"refused,omitempty"`
	// Others has a run for each other mode that was tried, in which it failed, or
	// refused a rightful holder. Modes after Fence are tried only if Fence refused
	// one.
	Others []Seen `json:"others"`
	// Overlap is a run in which the claims of two clients overlapped: the lock
	// itself had two holders. It is nil if there was none.
	Overlap *Seen `json:"overlap,omitempty"`
}

// Seen is a run that shows a failure, a refusal or an overlap.
type Seen struct {
	// Mode is the fencing mode of the run.
	Mode fence.Mode `json:"mode"`
	// Label is the label of the run.
	Label checker.Label `json:"label"`
	// Scenario is the name of the scenario, or its file where it is not in the library.
	Scenario string `json:"scenario"`
	// Seed is the seed of the run.
	Seed uint64 `json:"seed"`
	// Replay is the command that makes it again.
	Replay string `json:"replay"`
}

// Stuck reports whether every mode failed because no client could acquire the lock
// any more. No fence helps with that.
func (s Survival) Stuck() bool {
	return s.Fence == "" && len(s.Others) > 0 &&
		!slices.ContainsFunc(s.Others, func(o Seen) bool { return o.Label != checker.Stuck })
}

// New is a comparison of locks that were measured with these seeds.
func New(seeds outcome.Seeds, locks []Lock) *Comparison {
	return &Comparison{Version: Version, Seeds: seeds, Classes: Classes(), Locks: locks}
}

// Classes are the classes of faults of every comparison: NoFault, and those of [promise.Faults].
func Classes() []promise.Fault { return append([]promise.Fault{NoFault}, promise.Faults()...) }

// Trips is the cost of the calls of a lock without contention.
type Trips struct {
	// Acquire is what a call of Acquire takes.
	Acquire Trip `json:"acquire"`
	// Release is what a call of Release takes.
	Release Trip `json:"release"`
	// Renew is nil if a lease is no [lock.Extender].
	Renew *Trip `json:"renew,omitempty"`
	// Unasked says that the lock sends requests while it is held and without a
	// call: it renews its leases by itself.
	Unasked bool `json:"unasked"`
}

// Crowd is how long five clients wait of which each wants the lock twelve times, for 50 ms, and again as soon as it has
// released it.
type Crowd struct {
	// Waits counts the acquires that were kept out.
	Waits int `json:"waits"`
	// MedianSeconds is how long half of them waited at least.
	MedianSeconds float64 `json:"median_seconds"`
	// LongestSeconds is how long the longest one waited.
	LongestSeconds float64 `json:"longest_seconds"`
	// Starved counts those that starved: see [checker.Facts.Starved].
	Starved int `json:"starved"`
}

// Trip is the cost of one call, over open connections and with scripts that the
// servers have cached.
type Trip struct {
	// RoundTrips is the time from the call to its return, in round trips of the
	// network: simultaneous ones count once.
	RoundTrips int `json:"round_trips"`
	// Messages counts the messages that the client sends, to all servers.
	Messages int `json:"messages"`
	// WaitsSeconds is for how long it waits beside: for a time to pass, such as the rest of a lease that its last holder
	// could not give back.
	WaitsSeconds float64 `json:"waits_seconds,omitempty"`
}

// JSON is the comparison as one indented document.
func (c *Comparison) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(c); err != nil {
		return nil, fmt.Errorf("write the comparison as JSON: %w", err)
	}
	return b.Bytes(), nil
}
