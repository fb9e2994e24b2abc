// Package compare compares locks: what each needs, how many round trips it takes,
// and which faults it survives behind which fence.
//
// Only the declarations of a lock in a [Comparison] are written by hand: its
// servers, its tokens, its promise, and for what it is suitable. Round trips are
// counted in a run of one client without faults. What a lock survives is measured
// in the scenarios of the library, for each class of fault: the weakest fence
// behind which the data stayed right in every run, and for each weaker one a run in
// which it did not. A lock from another module is measured in the same way.
//
// The same locks and seeds give the same Comparison on every machine.
package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/spaces"
)

// Version is the version of comparisons as JSON.
const Version = 1

// NoFault takes the place of a class of faults for scenarios without any. The cause
// of a failure there is the client: a section that outlasts the TTL.
const NoFault lock.Fault = spaces.NoFaults

// Comparison is the result of measuring some locks.
type Comparison struct {
	// Version is the version of this document.
	Version int `json:"version"`
	// Seeds are the seeds of every scenario.
	Seeds outcome.Seeds `json:"seeds"`
	// Live says that what the locks survive was seen in live runs, in which a seed decides the workload alone.
	Live bool `json:"live,omitempty"`
	// Classes are the classes of faults: NoFault, and those of [lock.Faults]. Each
	// lock has a Survival for each, in this order.
	Classes []lock.Fault `json:"classes"`
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
	Promise lock.Promise `json:"promise"`
	// Trips is the cost of its calls without contention.
	Trips Trips `json:"trips"`
	// Survives has an entry for each class of [Comparison.Classes].
	Survives []Survival `json:"survives"`
}

// Servers are servers of one kind.
type Servers struct {
	// Kind is the kind of server.
	Kind string `json:"kind"`
	// Count is the number of these servers.
	Count int `json:"count" jsonschema:"minimum=1"`
}

// Survival is the result of a lock under one class of faults.
type Survival struct {
	// Class is the class of faults.
	Class lock.Fault `json:"class"`
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
	// Scenario is the name of the scenario.
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
	return &Comparison{Version: Version, Seeds: seeds, Classes: classes(), Locks: locks}
}

func classes() []lock.Fault { return append([]lock.Fault{NoFault}, lock.Faults()...) }

// ErrUnusable is returned for a lock that cannot be made, or that a client cannot
// acquire, renew and release without contention.
var ErrUnusable = errors.New("a single client cannot use it")

// Options say how a lock is measured.
type Options struct {
	// Seeds are the seeds of each scenario. Required.
	Seeds outcome.Seeds
	// Replay makes the commands of [Seen]. Required.
	Replay matrix.ReplayCommand
	// Step is called after each run of a scenario. Default: none.
	Step func()
	// Play makes a run, in another world than the simulated one. Default: [play.Run]. An error that is a
	// *file.InputError, or wraps [faults.ErrUnable], says that the lock or that world cannot play the scenario.
	Play func(sc *file.Scenario, l play.Lock, seed uint64, mode fence.Mode) (*outcome.ModeRun, error)
}

// Measure measures one lock.
//
// Errors wrap ErrUnusable, or are those of [play.Library] and [play.Run].
func Measure(l play.Lock, opt Options) (*Lock, error) {
	library, err := play.Library([]play.Lock{l})
	if err != nil {
		return nil, err
	}
	about, err := byClass(library)
	if err != nil {
		return nil, err
	}
	trips, asked, err := tripsOf(l)
	if err != nil {
		return nil, fmt.Errorf("count the round trips of %s: %w", l.Name, err)
	}
	m := &Lock{Name: l.Name, About: l.About, ForWhom: l.ForWhom, Servers: serversOf(l), Tokens: l.Tokens, Promise: l.Promise, Trips: trips}
	if opt.Play == nil {
		opt.Play = simulated
	}
	t := trials{lock: l, opt: opt, asked: asked, made: map[trial]result{}}
	for _, class := range classes() {
		s, err := t.survival(class, about[class])
		if err != nil {
			return nil, err
		}
		m.Survives = append(m.Survives, s)
	}
	return m, nil
}

// simulated makes a run in the simulated world.
func simulated(sc *file.Scenario, l play.Lock, seed uint64, mode fence.Mode) (*outcome.ModeRun, error) {
	o, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{mode}, Alone: true})
	if err != nil {
		return nil, err
	}
	return &o.Modes[0], nil
}

// serversOf are the servers that a lock needs.
func serversOf(l play.Lock) []Servers {
	declared := l.Servers
	if declared == nil {
		declared = play.Redis(1)
	}
	all := []Servers{}
	for _, s := range declared {
		all = append(all, Servers{Kind: s.Kind.Name, Count: s.Count})
	}
	return all
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
