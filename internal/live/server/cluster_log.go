package server

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"locksim/sim/trace"
)

// Hear calls f with each thing that a node of a Redis Cluster says that it notices or does, from now on. f is called
// from several goroutines.
func (g *Group) Hear(f func(s *Server, what trace.What)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hears = f
}

func (g *Group) tell(s *Server, what trace.What) {
	g.mu.Lock()
	f := g.hears
	g.mu.Unlock()
	if f != nil {
		f(s, what)
	}
}

// note is a line of the log of a node, with the event of the simulated world that it tells of. About it is what stands
// at $1 and $2, with names in place of ids, and $P is the primary that it follows.
type note struct {
	line         *regexp.Regexp
	event, about string
}

// notes are the lines of Redis 7. A later one has the name of a node behind its id.
var notes = func() (all []note) {
	const id = `([0-9a-f]{40})`
	for _, n := range [][3]string{
		{`Marking node ` + id + `.* as failing \(quorum reached\)`, "fail", "$1"},
		{`FAIL message received from ` + id + `.* about ` + id, "told-fail", "$2"},
		{`Clear FAIL state for node ` + id, "well", "$1"},
		{`Cluster state changed: ok`, "up", ""},
		{`Start of election delayed for (\d+) milliseconds \(rank #(\d+)`, "plans", "$P in $1ms, as number $2"},
		{`Starting a failover election for epoch (\d+)`, "asks", "$P in epoch $1"},
		{`Failover auth granted to ` + id + `.* for epoch (\d+)`, "votes", "$1 in epoch $2"},
		{`Failover auth denied to ` + id + `[^:]*: (.*)`, "no-vote", "$1: $2"},
		{`configEpoch set to (\d+) after successful failover`, "elected", "$P in epoch $1"},
		{`Taking over the master \(user request\)`, "takes-over", "$P"},
		{`Manual failover requested by replica ` + id, "holds", "$1"},
		{`Manual failover timed out`, "gives-up", ""},
		{`configEpoch collision with node ` + id, "collision", "$1"},
	} {
		all = append(all, note{regexp.MustCompile(n[0]), n[1], n[2]})
	}
	return all
}()

var (
	callsDown = regexp.MustCompile(`Cluster state changed: fail`)
	follows   = regexp.MustCompile(`Reconfiguring myself as a replica of ([0-9a-f]{40})`)
)

// hear hears a line of the log of a node.
func (s *Server) hear(line string) {
	if callsDown.MatchString(line) {
		go s.isDownSince()
		return
	}
	if m := follows.FindStringSubmatch(line); m != nil {
		if p := s.group.byID(m[1]); p != nil {
			s.group.tell(s, trace.ReplicaOf{Primary: p.name, Was: s.followed(p.name)})
		}
		return
	}
	for _, n := range notes {
		m := n.line.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		names := []string{"$P", s.followed("")}
		for i, text := range m[1:] {
			if x := s.group.byID(text); x != nil {
				text = x.name
			}
			names = append(names, fmt.Sprint("$", i+1), text)
		}
		s.group.tell(s, trace.Cluster{Event: n.event, About: strings.NewReplacer(names...).Replace(n.about)})
		if n.event == "elected" || n.event == "takes-over" {
			s.leads()
		}
		return
	}
}

// followed is the primary that a node has followed, "" for none, and is followed from now on by that of a name, unless
// it is "".
func (s *Server) followed(next string) (former string) {
	s.logged.Lock()
	defer s.logged.Unlock()
	former = s.primary
	if next != "" {
		s.primary = next
	}
	return former
}

// leads notes that a node follows none any more.
func (s *Server) leads() {
	s.logged.Lock()
	defer s.logged.Unlock()
	s.primary = ""
}

// isDownSince tells why a node calls the cluster down, which its log does not say.
func (s *Server) isDownSince() {
	const soon = time.Second
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	info, err := s.admin.ClusterInfo(ctx).Result()
	why := "it hears no majority of the primaries"
	switch {
	case err != nil:
		why = "it does not say"
	case !strings.Contains(info, "cluster_slots_fail:0\r") || !strings.Contains(info, "cluster_slots_assigned:16384\r"):
		why = "not all slots have a primary"
	}
	s.group.tell(s, trace.Cluster{Event: "down", About: why})
}
