package reports

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

// scene is a run as a diagram and a story need it: who takes part, and how long
// it lasts.
type scene struct {
	run     *play.ModeRun
	clients []string
	nodes   []string // servers, replicas too, without the store
	end     time.Duration
	fatal   int               // the number of the decisive step, 0 for none
	owners  map[string]string // who has sent a value to a node, as far as asked
	also    []fence.Mode      // modes whose runs were the same, and are not shown apart
}

// newScenes are the runs that were made, all of them as long as the longest.
func newScenes(o *play.Outcome) []*scene {
	var scenes []*scene
	var end time.Duration
	for i := range o.Modes {
		if m := &o.Modes[i]; m.Trace != nil {
			s := newScene(m)
			scenes, end = append(scenes, s), max(end, s.end)
		}
	}
	for _, s := range scenes {
		s.end = max(end, time.Millisecond)
	}
	return scenes
}

func newScene(m *play.ModeRun) *scene {
	s := &scene{run: m, fatal: decided(m), owners: map[string]string{}}
	for _, e := range m.Trace.Events {
		if s.hidden(e) {
			continue
		}
		s.meet(e.Actor)
		for _, name := range trace.Parties(e) {
			s.meet(name)
		}
		s.end = max(s.end, e.At)
	}
	slices.SortFunc(s.clients, byName)
	slices.SortFunc(s.nodes, byName)
	return s
}

// decided is the decisive step of a run: the story's, or else the first that the
// first reason speaks of; 0 for a run in which nothing was decided.
func decided(m *play.ModeRun) int {
	if i := fatal(m.Story); i >= 0 {
		return m.Story[i].N
	}
	if m.Verdict.Label == checker.Safe || len(m.Verdict.Reasons) == 0 || len(m.Verdict.Reasons[0].At) == 0 {
		return 0
	}
	return int(m.Verdict.Reasons[0].At[0])
}

// prober is the client that the harness sends at the end to find out whether
// the lock can still be taken.
const prober = "probe"

// hidden says that an event belongs to the probe, in a run that it found in
// order: there it has nothing to show.
func (s *scene) hidden(e trace.Event) bool {
	return s.run.Verdict.Facts.Liveness == checker.LivenessOK && (e.Actor == prober || e.Peer == prober)
}

// meet notes a name that takes part.
func (s *scene) meet(name string) {
	list := &s.nodes
	switch {
	case isClient(name):
		list = &s.clients
	case !isServer(name):
		return
	}
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}

func isClient(name string) bool { return clientName.MatchString(name) || name == prober }

// isServer says that a name is that of a server other than the store.
func isServer(name string) bool {
	return serverName.MatchString(name) && !isClient(name) && name != "s0"
}

var (
	clientName = regexp.MustCompile(`^c[0-9]+$`)
	serverName = regexp.MustCompile(`^[a-z]+[0-9]+[a-z]?$`)
)

// byName orders c2 before c10, and r0 before r0a.
func byName(a, b string) int {
	if len(a) != len(b) && strings.TrimRight(a, "0123456789") == strings.TrimRight(b, "0123456789") {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// at is the time of a step; 0 stands for the end of the run.
func (s *scene) at(p checker.Pos) time.Duration {
	if p < 1 || int(p) > len(s.run.Trace.Events) {
		return s.end
	}
	return min(s.run.Trace.Events[p-1].At, s.end)
}
