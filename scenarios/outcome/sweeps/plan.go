package sweeps

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/internal/prose"
	"locksim/lock/promise"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/spaces"
	"locksim/sim/trace"
)

// Version is the version of sweeps as JSON.
const Version = 1

// Plan is everything that decides the result of a sweep, as a value that can be
// stored and sent.
type Plan struct {
	// Scenario is the name of the scenario.
	Scenario string `json:"scenario"`
	// Source is the text of the scenario without its faults.
	Source string `json:"source"`
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Seed is the seed of every run.
	Seed uint64 `json:"seed"`
	// Faults are the classes of fault that are placed. Null means those of [placing.Kinds]
	// that are placed unasked.
	Faults []promise.Fault `json:"faults" jsonschema:"nullable"`
	// Kinds are kinds of fault that are placed in addition, by their names in
	// scenario files.
	Kinds []string           `json:"kinds,omitempty" jsonschema:"minItems=1"`
	Judge explorations.Judge `json:"judge"`
	// TTL is the TTL of the lock, by which faults are measured, in nanoseconds.
	TTL time.Duration `json:"ttl"`
	// TraceHash is the hash of the run without faults, whose boundaries are used.
	TraceHash string `json:"trace_hash" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Boundaries counts the moments at which faults are placed.
	Boundaries int `json:"boundaries"`
	// Placements counts the placements of one fault.
	Placements int `json:"placements"`
	// Equivalent counts the placements that are left out since a fault finds its
	// target there in the same state as in another placement.
	Equivalent int `json:"equivalent"`
	// Idle counts the jumps of client clocks that are left out since the client
	// never reads its clock.
	Idle int `json:"idle"`
	// Servers are the servers of the lock, in the order of the world.
	Servers []Server `json:"servers"`
	// Unplaced are the faults of those asked for that are not placed.
	Unplaced []Unplaced `json:"unplaced,omitempty"`
	// Pairs counts the pairs of placements that are tried.
	Pairs int `json:"pairs"`
	// AllPairs counts all possible pairs.
	AllPairs int `json:"all_pairs"`
	// Block is the number of runs of a job. Some have fewer.
	Block int `json:"block" jsonschema:"minimum=1"`
}

// Server is a server of the lock.
type Server struct {
	// Name is its name.
	Name string `json:"name"`
	// Kind is its kind, as scenario files write it.
	Kind string `json:"kind"`
	// Role is what it does at the start, such as "member" of a cluster.
	Role trace.Role `json:"role"`
	// Placements counts the placements of a fault that strikes this server, and not only a link to it.
	Placements int `json:"placements"`
}

// Unplaced is a kind of fault that is placed nowhere, or not on some servers.
type Unplaced struct {
	// Fault is the kind of fault, by its name in [placing.Kinds].
	Fault string `json:"fault"`
	// Servers are those on which it is not placed. Without any it is placed nowhere.
	Servers []string `json:"servers,omitempty"`
	// Why says why, in a sentence without a stop.
	Why string `json:"why"`
}

// String is "clock_jump on e0, e1: etcd servers have nothing that it could strike".
func (u Unplaced) String() string {
	if len(u.Servers) == 0 {
		return u.Fault + ": " + u.Why
	}
	return fmt.Sprintf("%s on %s: %s", u.Fault, prose.Commas(u.Servers), u.Why)
}

// NotPlaced says which of the faults that were asked for are not placed, and why: a line for each reason.
func (p *Plan) NotPlaced() []string {
	var groups []Unplaced
	for _, u := range p.Unplaced {
		i := slices.IndexFunc(groups, func(g Unplaced) bool { return g.Why == u.Why && slices.Equal(g.Servers, u.Servers) })
		if i < 0 {
			groups = append(groups, u)
		} else {
			groups[i].Fault += ", " + u.Fault
		}
	}
	var lines []string
	for _, g := range groups {
		lines = append(lines, g.String())
	}
	return lines
}

// Problem is what is invalid in a word or a number of the plan.
func (p *Plan) Problem() error {
	switch {
	case p.Block < 1:
		return fmt.Errorf("%d runs to a job: there has to be one", p.Block)
	case p.Faults != nil && len(p.Faults)+len(p.Kinds) == 0:
		return errors.New("a sweep without faults has nothing to place: name some")
	case p.Placements < 0 || p.Pairs < 0:
		return fmt.Errorf("%d placements and %d pairs: there are no fewer than 0", p.Placements, p.Pairs)
	}
	return errors.Join(p.Judge.Validate(), spaces.Space{Faults: p.Faults, Kinds: p.Kinds}.Validate())
}

// Jobs is the number of jobs of the plan: those of the placements, then those of
// the pairs.
func (p *Plan) Jobs() int { return p.Blocks(p.Placements) + p.Blocks(p.Pairs) }

// Runs is the number of runs of the plan.
func (p *Plan) Runs() int { return p.Placements + p.Pairs }

// Blocks is the number of jobs that so many runs take.
func (p *Plan) Blocks(n int) int { return (n + p.Block - 1) / p.Block }

// ReadPlan reads a plan that was written as JSON. The error says what is invalid in
// it.
func ReadPlan(data []byte) (*Plan, error) {
	p := new(Plan)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("this is no plan of a sweep: %w", err)
	}
	if err := p.Problem(); err != nil {
		return nil, fmt.Errorf("this plan of a sweep is invalid: %w", err)
	}
	return p, nil
}
