package trace

import "strings"

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
	if verb == "" {
		verb = c.Event
	}
	return strings.TrimSuffix(verb+" "+c.About, " ")
}

// clusterEvents are the events in words, with whether a story has them, or only a picture.
var clusterEvents = map[string]struct {
	told  string
	story bool
}{
	"fail?":      {"hears nothing of", false},
	"hears":      {"hears again of", false},
	"fail":       {"agrees with a majority of the primaries that it has failed:", true},
	"told-fail":  {"is told that it has failed:", false},
	"well":       {"takes it for well again:", false},
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
	"migrating":  {"begins to give a slot away:", true},
	"importing":  {"begins to take a slot:", true},
	"slot":       {"is told whose a slot is:", true},
	"stable":     {"ends the move of a slot:", true},
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
