package trace

import (
	"fmt"
	"strings"
)

// Cluster is what a node of a Redis Cluster notices or does on its own.
type Cluster struct {
	// Event is what, in a word: "fail?", "fail", "elected". About says of whom or of what.
	Event, About string
}

// Kind is "cluster".
func (Cluster) Kind() string { return "cluster" }

// Fields implements [What].
func (c Cluster) Fields(f Fields) Fields { return f.Texts("event", c.Event, "about", c.About) }

// AppendText appends the event in words.
func (c Cluster) AppendText(b []byte) []byte {
	return append(b, c.told()...)
}

// told is the event in words, and what it is about.
func (c Cluster) told() string {
	verb := clusterEvents[c.Event].told
	first, second, two := strings.Cut(c.About, ", ")
	switch n := strings.Count(verb, "%s"); {
	case verb == "":
		verb = c.Event
	case n == 2 && two:
		return fmt.Sprintf(verb, first, second)
	case n == 1:
		return fmt.Sprintf(verb, c.About)
	}
	return strings.TrimSuffix(verb+" "+c.About, " ")
}

// clusterEvents are the events in words, with what they are about at the end or in place of each %s, with whether a
// story has them, or only a picture.
var clusterEvents = map[string]struct {
	told  string
	story bool
}{
	"fail?":      {"hears nothing of", false},
	"hears":      {"hears again of", false},
	"fail":       {"takes %s for failed, as a majority of the primaries does", true},
	"told-fail":  {"is told that %s has failed", false},
	"well":       {"takes %s for well again", false},
	"down":       {"CALLS THE CLUSTER DOWN, and serves no key, since", true},
	"up":         {"calls the cluster up, and serves its keys again", true},
	"plans":      {"plans an election to replace", false},
	"asks":       {"asks the primaries for votes, to replace", true},
	"votes":      {"votes for", false},
	"no-vote":    {"does not vote for", false},
	"elected":    {"WAS ELECTED, to replace", true},
	"takes-over": {"TAKES OVER without any votes, to replace", true},
	"holds":      {"holds writes back, to hand over to", true},
	"gives-up":   {"gives up the failover that was ordered", true},
	"collision":  {"has the same epoch as", false},
	"epoch":      {"takes, without any votes, the epoch", false},
	"migrating":  {"begins to give the slot %s to %s", true},
	"importing":  {"begins to take the slot %s from %s", true},
	"slot":       {"is told that the slot %s is that of %s", true},
	"stable":     {"ends the move of the slot", true},
}

// Words implements [What].
func (c Cluster) Words(View) Words {
	e := clusterEvents[c.Event]
	if e.told == "" {
		return Words{Untold: ofServer}
	}
	if !e.story {
		return Words{Untold: ofPictures, Lane: c.told()}
	}
	return Words{Story: c.told(), Lane: c.told()}
}

// ClusterOrder is an operator who orders something of a node of a Redis Cluster.
type ClusterOrder struct{ Order, Answer string }

// Kind is "cluster-order".
func (ClusterOrder) Kind() string { return "cluster-order" }

// Fields implements [What].
func (o ClusterOrder) Fields(f Fields) Fields { return f.Texts("order", o.Order, "answer", o.Answer) }

// AppendText appends the order and the answer.
func (o ClusterOrder) AppendText(b []byte) []byte { return append(b, o.Order+": "+o.Answer...) }

// Words implements [What].
func (o ClusterOrder) Words(View) Words {
	return Words{Story: "IS ORDERED TO " + o.Order + ": " + o.Answer, Lane: "is ordered to " + strings.ToLower(o.Order)}
}
