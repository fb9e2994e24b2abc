package search

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"locksim/lock"
	"locksim/lock/broken/mistake"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// SpaceOf is the space in which a lock is judged: the faults that its promise
// covers, or every fault for a lock that promises nothing.
func SpaceOf(l subject.Lock) spaces.Space { return For(l, spaces.Space{}) }

// For is a space with what SpaceOf has, where it leaves the lock, the faults and the
// servers open.
func For(l subject.Lock, s spaces.Space) spaces.Space {
	s.Lock, s.Store = l.Kind(), l.Fence()
	if s.Faults == nil {
		s.Faults = l.Promise.Exclusion
	}
	return equipped(s, l)
}

// equipped is a space with the servers that a lock needs, and with the place of its data.
func equipped(s spaces.Space, l subject.Lock) spaces.Space {
	w := file.World{Redis: s.Redis, Servers: s.Servers, Replicas: s.LeastReplicas}
	subject.Equip(&w, l)
	s.Redis, s.Servers, s.LeastReplicas = w.Redis, w.Servers, w.Replicas
	s.Replicas = max(s.Replicas, s.LeastReplicas)
	if l.TestsFence() {
		s.Workloads = []file.WorkloadKind{file.WorkloadLate}
		if s.Rounds == (spaces.Span{}) { // for many writes, of which some are late
			s.Rounds = spaces.Span{Min: 4, Max: 8}
		}
		if s.Profiles == nil { // whether its client sends requests again is a part of the fence
			s.Profiles = []file.ClientProfile{file.ClientQuiet}
		}
	}
	if l.WorksWithin() {
		s.Data = cmp.Or(s.Data, file.DataTransaction)
	}
	return s
}

// SpecimenSpace is the space in which the mistake of a lock of package broken
// shows, by the description of the specimen: its class of fault, its range of
// TTLs within the default one, and leaders if it needs them. [Discover] finds out the rest. The name is one of
// [kinds.Specimens]; the error lists them.
func SpecimenSpace(name string) (spaces.Space, error) {
	s, err := mistake.Find(strings.TrimPrefix(name, kinds.BrokenPrefix))
	if err != nil {
		return spaces.Space{}, fmt.Errorf("the space of %s: %w", name, err)
	}
	usual := spaces.Space{}.WithDefaults().TTL
	ttl := file.Range{Min: max(s.MinTTL, usual.Min), Max: min(s.MaxTTL, usual.Max)}
	classes := []lock.Fault{}
	if s.Fault != "" {
		classes = append(classes, s.Fault)
	}
	var workloads []file.WorkloadKind
	if s.Leads {
		workloads = []file.WorkloadKind{file.WorkloadLeader}
	}
	return spaces.Space{Faults: classes, Workloads: workloads, TTL: file.Range{Min: ttl.Min.Truncate(time.Millisecond),
		Max: ttl.Max.Truncate(time.Millisecond)}}, nil
}
