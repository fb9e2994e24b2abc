// Package compare sets locks side by side: what each needs, how many round trips
// it takes, and which faults it survives behind which fence.
//
// Nothing in a [Comparison] is written by hand but what a lock declares of itself:
// its servers, its tokens, its promise, and for whom it is. Round trips are counted
// in a run of one client, to which nothing happens. What a lock survives is measured
// in the scenarios of the library, fault class by fault class: the weakest fence
// behind which the data stayed right in every run, and for each weaker one a run in
// which it did not. A lock that another module brings is measured in the same way.
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
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// Version is the version of comparisons as JSON.
const Version = 1

// NoFault stands in the place of a class of faults for scenarios without any. What
// goes wrong there is the client's doing: a section that outlasts the TTL.
const NoFault lock.Fault = "no-fault"

// Comparison is what was found out about some locks.
type Comparison struct {
	// Version is the version of this document.
	Version int `json:"version"`
	// Seeds are those that every scenario was played with.
	Seeds search.Seeds `json:"seeds"`
	// Classes are the classes of faults: NoFault, and those of [lock.Faults]. Each
	// lock has a Survival for each, in this order.
	Classes []lock.Fault `json:"classes"`
	// Locks are the locks, in the order in which they were asked for.
	Locks []Lock `json:"locks"`
}

// Lock is what is known of one lock.
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
	// Trips is what its requests take when nobody else wants the lock.
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

// Survival is what became of a lock under one class of faults.
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
	// run ended with wrong data or a lock that is stuck; fence.None means that no
	// fence is needed. It is empty where every mode failed, or nothing was played.
	Fence fence.Mode `json:"fence,omitempty"`
	// Refused is a run in which that fence refused a client that rightfully held the
	// lock; nil where there was none. A mode without such a run is preferred to a
	// weaker one with one.
	Refused *Seen `json:"refused,omitempty"`
	// Others has a run for each other mode that was tried, in which it failed, or
	// refused a rightful holder. Modes after Fence are tried only where it refused one.
	Others []Seen `json:"others"`
	// Overlap is a run in which the claims of two clients overlapped: the lock itself
	// had two holders. It is nil where there was none.
	Overlap *Seen `json:"overlap,omitempty"`
}

// Seen is a run that shows something.
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

// Stuck reports whether every mode failed since nobody could have the lock any more.
// No fence helps with that.
func (s Survival) Stuck() bool {
	return s.Fence == "" && len(s.Others) > 0 &&
		!slices.ContainsFunc(s.Others, func(o Seen) bool { return o.Label != checker.Stuck })
}

// New is a comparison of locks that were measured with these seeds.
func New(seeds search.Seeds, locks []Lock) *Comparison {
	return &Comparison{Version: Version, Seeds: seeds, Classes: classes(), Locks: locks}
}

func classes() []lock.Fault { return append([]lock.Fault{NoFault}, lock.Faults()...) }

// ErrUnusable is returned for a lock that cannot be made, or that a client cannot
// acquire, renew and release although nobody else wants it.
var ErrUnusable = errors.New("a client that is alone cannot use it")

// Options say how a lock is measured.
type Options struct {
	// Seeds are those that each scenario is played with. Required.
	Seeds search.Seeds
	// Replay makes the commands of [Seen]. Required.
	Replay matrix.ReplayCommand
	// Step is called after each run of a scenario. Default: nobody asks.
	Step func()
}

// Measure finds out about one lock.
//
// Errors wrap ErrUnusable, or are those of [file.Library] and [play.Run].
func Measure(l play.Lock, opt Options) (*Lock, error) {
	library, err := file.Library()
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
