package trace

import (
	"fmt"
	"strings"
)

// Sentinel is what a Sentinel notices or does, as it publishes it: "+sdown", "+odown", "+switch-master".
type Sentinel struct {
	// Event is the name of its channel, About what it says of it, with the names of servers in place of their
	// addresses.
	Event, About string
}

// Kind is "sentinel".
func (Sentinel) Kind() string { return "sentinel" }

// Fields implements [What].
func (s Sentinel) Fields(f Fields) Fields { return f.Texts("event", s.Event, "about", s.About) }

// AppendText appends the event, and what it is about.
func (s Sentinel) AppendText(b []byte) []byte {
	return append(b, strings.TrimSuffix(s.Event+" "+s.About, " ")...)
}

// turns are the events of a failover, in words.
var turns = map[string]string{
	"+sdown":                        "hears nothing of",
	"-sdown":                        "hears again of",
	"+odown":                        "agrees with others that it is down:",
	"-odown":                        "agrees with others no more that it is down:",
	"+try-failover":                 "asks for votes, to replace",
	"+vote-for-leader":              "votes for",
	"+elected-leader":               "WAS ELECTED, to replace",
	"+selected-slave":               "chooses",
	"+switch-master":                "TELLS CLIENTS of the new primary:",
	"+tilt":                         "finds its clock wrong, and does nothing for 30s",
	"-tilt":                         "acts again",
	"-failover-abort-not-elected":   "was not elected",
	"-failover-abort-no-good-slave": "finds no replica that could take over",
	"-failover-abort-slave-timeout": "gives the failover up",
	"+convert-to-slave":             "makes an old primary a replica:",
	"+fix-slave-config":             "makes a replica follow the new primary:",
	"+failover-end-for-timeout":     "ends the failover at its time limit",
	"+config-update-from":           "learns of a failover from",
}

// Words implements [What].
func (s Sentinel) Words(View) Words {
	verb := turns[s.Event]
	if verb == "" {
		return Words{Untold: ofServer}
	}
	told := strings.TrimSuffix(verb+" "+s.About, " ")
	w := Words{Story: told, Lane: told}
	if s.Event == "+sdown" || s.Event == "-sdown" || s.Event == "+vote-for-leader" || s.Event == "+config-update-from" ||
		s.Event == "-odown" {
		w.Untold, w.Story = ofPictures, ""
	}
	return w
}

// ReplicaOf is a server whose role a Sentinel changes, or the cluster of which it is a node.
type ReplicaOf struct {
	// Primary is whom it follows from now on. "" makes it a primary.
	Primary string
	// Was is whom it followed before. "" is for a primary.
	Was string
	// Has is the number of effects that a new primary has, Of that of the one that it followed.
	Has, Of int64
}

// Kind is "replica-of".
func (ReplicaOf) Kind() string { return "replica-of" }

// Fields implements [What].
func (r ReplicaOf) Fields(f Fields) Fields {
	return f.Texts("primary", r.Primary, "was", r.Was).Int("has", r.Has).Int("of", r.Of)
}

// AppendText appends the new role.
func (r ReplicaOf) AppendText(b []byte) []byte {
	switch {
	case r.Primary == "":
		return fmt.Appendf(b, "primary, with %d of the %d effects of %s", r.Has, r.Of, r.Was)
	case r.Was == "":
		return fmt.Appendf(b, "replica of %s, and no primary", r.Primary)
	}
	return fmt.Appendf(b, "replica of %s", r.Primary)
}

// Words implements [What].
func (r ReplicaOf) Words(View) Words {
	switch {
	case r.Primary == "":
		return Words{Story: fmt.Sprintf("BECOMES THE PRIMARY, with %d of the %d effects of %s", r.Has, r.Of, r.Was),
			Lane: "becomes the primary"}
	case r.Was == "":
		told := fmt.Sprintf("is the primary no more, and copies the keys of %s", r.Primary)
		return Words{Story: "IS MADE A REPLICA: it " + told, Lane: told}
	}
	return Words{Untold: ofPictures, Lane: "follows " + r.Primary}
}

// FailoverOrder is an operator who orders a Sentinel to replace the primary.
type FailoverOrder struct{ Answer string }

// Kind is "failover-order".
func (FailoverOrder) Kind() string { return "failover-order" }

// Fields implements [What].
func (o FailoverOrder) Fields(f Fields) Fields { return f.Text("answer", o.Answer) }

// Words implements [What].
func (o FailoverOrder) Words(View) Words {
	return Words{Story: "IS ORDERED TO REPLACE THE PRIMARY: " + o.Answer, Lane: "is ordered to replace the primary"}
}
