// Package scene has the content of the reports of runs, independent of their form.
//
// [All] makes a [Scene] of each run of an outcome. A scene has the participants
// ([Scene.Lanes]), their waits, claims and beliefs ([Scene.Periods],
// [Scene.Overlaps]), the faults ([Scene.Faults]), the messages ([Scene.Messages]), the
// decisions and other events at one moment ([Scene.Marks], [Scene.Decision],
// [Scene.Divergence]), and the state after a step ([Scene.StateAfter]). Everything is
// in the units of the run: steps of its trace and virtual time.
//
// The other functions write the outcome in words: [Headline], [Reasons], [Figures],
// [Remarks], [Excerpt] of a story, and [Limits], what the outcome does not prove.
package scene

import (
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

// Scene is one run: its participants, its length, and its decisive step. Its methods
// return what reports show, in the units of the run: steps of its trace, and virtual
// time.
type Scene struct {
	Run     *outcome.ModeRun
	Clients []string
	Servers []string // of any kind, replicas too, without the store
	// End is the time up to which the run is shown.
	End time.Duration
	// Fatal is the number of the decisive step, 0 for none.
	Fatal int
	// Also are the modes whose runs took the same course and that [Merged] removed.
	Also []fence.Mode

	live     bool              // runs on real servers have nothing in common but their schedule
	reworded bool              // the store gives another reason for a refusal in one of them
	owners   map[string]string // cache of sender: the client of each value
}

// Span is a span of time on a lane, between two events.
type Span struct {
	Step  int // the event that began it
	Until int // the event that ended it, 0 for none
	Start time.Duration
	End   time.Duration
	Lane  string // "c0>r0" for a message
}

// during is the begin and the end of a span in words.
func (s Span) during() string {
	return "from " + prose.Seconds(s.Start) + " to " + prose.Seconds(s.End)
}

// All are the scenes of the runs that were made. They all end when the longest one
// does, so that they can be drawn on one axis.
func All(o *outcome.Outcome) []*Scene {
	var scenes []*Scene
	var end time.Duration
	for i := range o.Modes {
		if m := &o.Modes[i]; m.Trace != nil {
			s := New(m)
			scenes, end = append(scenes, s), max(end, s.End)
		}
	}
	for _, s := range scenes {
		s.End, s.live = max(end, time.Millisecond), o.Live != nil
	}
	return scenes
}

// New is the scene of a run, which must have a trace.
func New(m *outcome.ModeRun) *Scene {
	s := &Scene{Run: m, Fatal: decided(m), owners: map[string]string{}}
	for _, e := range m.Trace.Events {
		if s.Hidden(e) {
			continue
		}
		s.addParticipant(e.Actor)
		for _, name := range trace.Parties(e) {
			s.addParticipant(name)
		}
		s.End = max(s.End, e.At)
	}
	slices.SortFunc(s.Clients, byName)
	slices.SortFunc(s.Servers, byName)
	return s
}

// decided is the decisive step of a run: that of the story, or else the first step of
// the first reason; 0 for a run without one.
func decided(m *outcome.ModeRun) int {
	if n := DecisiveStep(m.Story); n > 0 {
		return n
	}
	if m.Verdict.Label.Clean() || len(m.Verdict.Reasons) == 0 || len(m.Verdict.Reasons[0].At) == 0 {
		return 0
	}
	return int(m.Verdict.Reasons[0].At[0])
}

// Hidden reports whether an event is not shown: it belongs to the probe, and the probe
// could take the lock.
func (s *Scene) Hidden(e trace.Event) bool {
	return s.Run.Verdict.Facts.Liveness == checker.LivenessOK && (e.Actor == trace.Probe || e.Peer == trace.Probe)
}

// addParticipant adds a name to the clients or the servers.
func (s *Scene) addParticipant(name string) {
	list := &s.Servers
	switch {
	case IsClient(name):
		list = &s.Clients
	case !s.isServer(name):
		return
	}
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}

// IsClient reports whether a name is that of a client, or of the probe.
func IsClient(name string) bool { return trace.IsClient(name) || name == trace.Probe }

// isServer reports whether a name is that of a server other than the store.
func (s *Scene) isServer(name string) bool {
	is, ok := s.Run.Trace.Servers.Find(name)
	return ok && is.Role != trace.RoleStore
}

// byName orders c2 before c10, and r0 before r0a.
func byName(a, b string) int {
	if len(a) != len(b) && strings.TrimRight(a, "0123456789") == strings.TrimRight(b, "0123456789") {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// At is the time of a step; 0 stands for the end of the run.
func (s *Scene) At(p checker.Pos) time.Duration {
	if p < 1 || int(p) > len(s.Run.Trace.Events) {
		return s.End
	}
	return min(s.Run.Trace.Events[p-1].At, s.End)
}

// Lane is the line of a participant of a run.
type Lane struct {
	Name        string
	Description string // the name with the kind of the participant
	Kind        LaneKind
	Redis       bool // a server of Redis
}

// LaneKind is the kind of the participant of a lane.
type LaneKind string

// The kinds of lanes.
const (
	LaneClient LaneKind = "client"
	LaneRecord LaneKind = "record" // the lock, by the servers' own record
	LaneServer LaneKind = "node"
	LaneStore  LaneKind = "store"
)

// RecordLane is the name of the lane of the lock itself, FenceLane that of the answers of a store under test, which is
// in the place of the lane of s0.
const (
	RecordLane = "lock"
	FenceLane  = "fence"
)

// Lanes are the lanes of a run from top to bottom: the clients, the lock by the
// servers' own record, the servers, the store or, where one is under test, its answers.
func (s *Scene) Lanes() []Lane {
	var lanes []Lane
	for _, c := range s.Clients {
		lanes = append(lanes, Lane{Name: c, Description: "client " + c, Kind: LaneClient})
	}
	if len(s.Run.History.Holdings) > 0 {
		lanes = append(lanes, Lane{Name: RecordLane, Description: "the lock, by the nodes' own record", Kind: LaneRecord})
	}
	for _, n := range s.Servers {
		is, _ := s.Run.Trace.Servers.Find(n)
		says, redis := "server "+n, is.Kind == server.Redis.Name
		if redis {
			says = "Redis node " + n
		}
		lanes = append(lanes, Lane{Name: n, Description: says, Kind: LaneServer, Redis: redis})
	}
	if s.Run.History.Fence != "" {
		return append(lanes, Lane{Name: FenceLane, Description: "the answers of the fence", Kind: LaneStore})
	}
	return append(lanes, Lane{Name: trace.Store, Description: "the store " + trace.Store, Kind: LaneStore})
}

// storeLane is the name of the lane of the store.
func (s *Scene) storeLane() string {
	if s.Run.History.Fence != "" {
		return FenceLane
	}
	return trace.Store
}

// LaneKind is the kind of the lane of a name, "" where it has no lane.
func (s *Scene) LaneKind(name string) LaneKind {
	switch {
	case slices.Contains(s.Clients, name):
		return LaneClient
	case slices.Contains(s.Servers, name):
		return LaneServer
	case name == s.storeLane():
		return LaneStore
	case name == RecordLane && len(s.Run.History.Holdings) > 0:
		return LaneRecord
	}
	return ""
}
