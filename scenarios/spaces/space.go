package spaces

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock/promise"
	"locksim/scenarios/file"
)

// Space is what scenarios are drawn from.
//
// The zero value is every fault, two to four clients and a lock on one node. Package search makes the space that a
// lock is judged in, and draws from it.
type Space struct {
	// Lock is the name of the lock under test. "" means fenced.
	Lock string `json:"lock"`
	// Store is the name of the store that is under test with it, as a scenario has it; "" for none.
	Store string `json:"store,omitempty"`
	// Redis is the number of Redis nodes. 0 means 1, or none if there are servers
	// of other kinds.
	Redis int `json:"redis"`
	// Servers are the servers of other kinds. Nil means none.
	Servers []file.ServerCount `json:"servers,omitempty"`
	// Replicas is the greatest number of replicas of r0. 0 means none.
	Replicas int `json:"replicas"`
	// LeastReplicas is the least number of them, for a lock that needs some. 0 means none.
	LeastReplicas int `json:"least_replicas,omitempty"`
	// Clients is the number of clients. Zero means 2 to 4.
	Clients Span `json:"clients"`
	// Crowd is how many clients a scenario has now and then. 0 means 12 where Clients is
	// left open, and otherwise none.
	Crowd int `json:"crowd"`
	// Nodes is the number of nodes of a lock over a quorum, now and then. Zero means that
	// of the lock.
	Nodes Span `json:"nodes,omitzero"`
	// OwnerPerRound gives each round of a reentrant lock an owner of its own.
	OwnerPerRound bool `json:"owner_per_round,omitempty"`
	// Rounds is the number of rounds of each client. Zero means 2 to 4.
	Rounds Span `json:"rounds"`
	// TTL is the range of the lock's TTL, in whole milliseconds. All other times
	// are drawn in proportion to it. Zero means 500ms..10s.
	TTL file.Range `json:"ttl"`
	// Faults are the classes of fault that may strike. Nil means all of them, and
	// also the actions that no promise covers; empty means none.
	Faults []promise.Fault `json:"faults" jsonschema:"nullable"`
	// Kinds are kinds of fault that may strike in addition, by their names in
	// scenario files.
	Kinds []string `json:"kinds,omitempty" jsonschema:"minItems=1"`
	// Points are named points that the lock or the workload passes, at which
	// faults may strike as at the driver's own events.
	Points []string `json:"points" jsonschema:"nullable"`
	// NoPools says that the lock's clients register no pool of connections, so that none can be exhausted.
	NoPools bool `json:"no_pools,omitempty"`
	// MaxFaults is the greatest number of faults in a schedule; some come in pairs,
	// a crash with its restart. 0 means 4.
	MaxFaults int `json:"max_faults" jsonschema:"minimum=1"`
	// Nested is the greatest number of nested acquires in a section: 0 for a lock
	// that is not reentrant.
	Nested int `json:"nested"`
	// Waits are the ways in which the lock may wait. Nil means poll.
	Waits []file.WaitMode `json:"waits" jsonschema:"minItems=1"`
	// Profiles are the possible configurations of the lock's clients. Nil means quiet.
	Profiles []file.ClientProfile `json:"profiles" jsonschema:"minItems=1"`
	// Tries lets every second client of a scenario ask without waiting, now and then: for a
	// lock that can.
	Tries bool `json:"tries,omitempty"`
	// Beside lets a client have two locks at once now and then: for a lock without a section of its own.
	Beside bool `json:"beside,omitempty"`
	// Stock gives the lock's clients the defaults of go-redis now and then.
	Stock bool `json:"stock,omitempty"`
	// Data is where the data is that the lock protects. "" means the store.
	Data file.DataPlace `json:"data,omitempty"`
	// Strategy is the way in which scenarios are chosen. "" means mixed.
	Strategy Strategy `json:"strategy,omitempty"`
	// SameClocks says that the wall clocks of the servers agree with those of the clients: none is ahead or behind from
	// the start on.
	SameClocks bool `json:"same_clocks,omitempty"`
	// Workloads are what sections may do. Fill takes the place of one register without
	// nested sections in eight, if both are in the list. Nil means register and fill.
	Workloads []file.WorkloadKind `json:"workloads" jsonschema:"minItems=1"`
	// Settings are the settings of the lock that are drawn. The others are the lock's own. Nil means none.
	Settings []SettingRange `json:"settings,omitempty"`
	// TTLUnit is what the TTL is a whole number of, rounded up, where settings are drawn. 0 is for any.
	TTLUnit time.Duration `json:"ttl_unit,omitempty"`
}

// Span is a range of numbers, both ends included.
type Span struct {
	// Min is the lowest number.
	Min int `json:"min"`
	// Max is the highest number.
	Max int `json:"max"`
}

// LargeCrowd is more clients than names of one digit can number.
const LargeCrowd = 12

// WithDefaults is the space with defaults in the fields that it leaves open.
func (s Space) WithDefaults() Space {
	if s.Lock == "" {
		s.Lock = "fenced"
	}
	if len(s.Servers) == 0 {
		s.Redis = max(s.Redis, 1)
	}
	if s.Clients == (Span{}) {
		s.Clients, s.Crowd = Span{2, 4}, cmp.Or(s.Crowd, LargeCrowd)
	}
	if s.Rounds == (Span{}) {
		s.Rounds = Span{2, 4}
	}
	if s.TTL == (file.Range{}) {
		s.TTL = file.Range{Min: 500 * time.Millisecond, Max: 10 * time.Second}
	}
	if s.MaxFaults == 0 {
		s.MaxFaults = 4
	}
	if len(s.Waits) == 0 {
		s.Waits = []file.WaitMode{file.WaitPoll}
	}
	if len(s.Profiles) == 0 {
		s.Profiles = []file.ClientProfile{file.ClientQuiet}
	}
	if len(s.Workloads) == 0 {
		s.Workloads = []file.WorkloadKind{file.WorkloadRegister, file.WorkloadFill}
	}
	return s
}

// Validate returns an error that names every field from which no scenario can
// be drawn, or nil.
func (s Space) Validate() error {
	s = s.WithDefaults()
	errs := []error{
		s.Strategy.known(), inSpan("Clients", s.Clients, file.MaxClients), inSpan("Rounds", s.Rounds, file.MaxRounds),
		inSpan("Nodes", s.Nodes.orNone(true), file.MaxRedis),
		inSpan("Redis", Span{s.Redis, s.Redis}.orNone(len(s.Servers) > 0), file.MaxRedis),
	}
	if s.TTL.Min < 10*time.Millisecond || s.TTL.Max < s.TTL.Min || s.TTL.Max > time.Hour {
		errs = append(errs, fmt.Errorf("TTL %v: give a range from 10ms to 1h", s.TTL))
	}
	if s.TTL.Min%time.Millisecond != 0 || s.TTL.Max%time.Millisecond != 0 {
		errs = append(errs, fmt.Errorf("TTL %v: give whole milliseconds, Redis counts no finer", s.TTL))
	}
	for _, f := range s.Faults {
		if !slices.Contains(promise.Faults(), f) {
			errs = append(errs, fmt.Errorf("there is no class %q: choose from %s", f, prose.Commas(promise.Faults())))
		}
	}
	for _, k := range s.Kinds {
		if known := kindNames(); !slices.Contains(known, k) {
			errs = append(errs, fmt.Errorf("there is no kind of fault %q: %s", k, prose.Choose(k, known)))
		}
	}
	for _, p := range s.Points {
		if err := (faults.Event{Client: "c0", Name: p, Nth: 1}).Validate(); err != nil {
			errs = append(errs, fmt.Errorf("points: %w", err))
		}
	}
	for _, n := range []struct {
		field       string
		value, most int
	}{{"MaxFaults", s.MaxFaults, file.MaxFaults / 2}, {"Nested", s.Nested, file.MaxNested},
		{"Replicas", s.Replicas, file.MaxReplicas}, {"Crowd", s.Crowd, file.MaxClients}} {
		if n.value < 0 || n.value > n.most {
			errs = append(errs, fmt.Errorf("%s %d: give a number from 0 to %d", n.field, n.value, n.most))
		}
	}
	for i, r := range s.Settings {
		errs = append(errs, r.check())
		if slices.ContainsFunc(s.Settings[:i], func(other SettingRange) bool { return other.Name == r.Name }) {
			errs = append(errs, fmt.Errorf("the setting %s is named twice", r.Name))
		}
	}
	if s.LeastReplicas < 0 || s.LeastReplicas > s.Replicas {
		errs = append(errs, fmt.Errorf("LeastReplicas %d: give a number from 0 to Replicas, which is %d", s.LeastReplicas,
			s.Replicas))
	}
	return errors.Join(errs...)
}

// kindNames are the kinds of fault that a space may name.
func kindNames() []string {
	var names []string
	for _, k := range faults.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// OnlyNamed reports whether faults of a class are drawn only where it or they are named, since all of its kinds were
// added later than the searches.
func OnlyNamed(class promise.Fault) bool { return class == promise.Intervention }

// Classes are the classes of fault that may strike, those of the kinds included.
func (s Space) Classes() []promise.Fault {
	all := slices.Clone(s.Faults)
	if s.Faults == nil {
		all = slices.DeleteFunc(promise.Faults(), OnlyNamed)
	}
	if s.NoPools {
		all = slices.DeleteFunc(all, func(f promise.Fault) bool { return f == promise.Pool })
	}
	if s.Faults == nil {
		return all
	}
	for _, k := range faults.Kinds() {
		for _, class := range k.Classes() {
			if slices.Contains(s.Kinds, k.Name) && !slices.Contains(all, class) {
				all = append(all, class)
			}
		}
	}
	return all
}

// String is the span as one number, or as both, such as 2..4.
func (s Span) String() string {
	if s.Min == s.Max {
		return strconv.Itoa(s.Min)
	}
	return fmt.Sprintf("%d..%d", s.Min, s.Max)
}

// orNone is the range, or a valid one if the range may be zero and is.
func (s Span) orNone(none bool) Span {
	if none && s == (Span{}) {
		return Span{1, 1}
	}
	return s
}

func inSpan(field string, s Span, most int) error {
	if s.Min < 1 || s.Max < s.Min || s.Max > most {
		return fmt.Errorf("%s %v: give numbers from 1 to %d, the smaller one first", field, s, most)
	}
	return nil
}
