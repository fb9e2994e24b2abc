package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Deletion is a lock key that a client's command deleted on one node.
type Deletion struct {
	// At is the step of the deletion.
	At Pos
	// Node had the key, Resource is what the key locks.
	Node     string
	Resource Resource
	// Owner is the client that had set the key, By the one whose command
	// deleted it. Neither is empty: a key that a node itself removes is no
	// deletion.
	Owner, By string
	// Over says that the command put another value in its place.
	Over bool
}

// Holding is a span in which, by the record of a majority of the nodes, a
// client held a lock without a gap. If the key is removed and set again, even
// in one step, one span ends and another begins; so the spans of one client may
// touch, but never overlap.
type Holding struct {
	// Client held the lock on Resource.
	Client   string
	Resource Resource
	// From is the first step of the span, To the first after it; 0 if the span
	// lasted to the end.
	From, To Pos
	// Again is the first step of the span, after its first, at which a node carried out a request
	// of the client of the kind that began the span (a command, a script, a statement); 0 if there
	// is none.
	Again Pos
	// Ended is the instant of the end, which may be before that of To: a server removes a key whose time is over by
	// itself. 0 means that of To.
	Ended time.Duration
}

// Taking is a request that took a lock from its holder, who had it by the record of a majority of the nodes: a
// request of another client that set, overwrote or deleted the holder's key, or one of the holder's own process that
// gave the key up. A key that ends by itself, or with the session of its client, is not taken. It is ground truth, as
// a [Holding] is, and is known only where the record says how long the key would have lasted.
type Taking struct {
	// Client had the lock on Resource, and By made the request.
	Client, By string
	Resource   Resource
	// At is the step of the request, Taken its instant.
	At    Pos
	Taken time.Duration
	// Until is the instant until which the holder would have had its key, by the record of the nodes; 0 if only its client
	// could end it.
	Until time.Duration
}

// Vote is a change of the number of nodes that have the key of a client.
type Vote struct {
	// Client and Resource are whose key it is, and what it locks.
	Client   string
	Resource Resource
	// At is the step of the change, Nodes the number from there on. There is one at most for a client and a resource at
	// a step.
	At    Pos
	Nodes int
}

// Span returns the holding as an interval.
func (s Holding) Span() Interval { return Interval{Start: s.From, End: s.To} }

// foreignReleases finds the keys that a client deleted and another one had set.
// Whether the other one still had a claim does not matter: a lock must never
// delete another client's key.
func foreignReleases(h History) *tally {
	found := &tally{more: "keys that a client deleted and another one had set"}
	sorted := slices.SortedFunc(slices.Values(h.Deletions), func(a, b Deletion) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Resource, b.Resource),
			cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.By, b.By))
	})
	for _, d := range sorted {
		if d.Owner != d.By {
			found.add(func() Reason { return foreignReason(d) })
		}
	}
	return found
}

func foreignReason(d Deletion) Reason {
	did := "deleted"
	if d.Over {
		did = "wrote over"
	}
	return Reason{
		Text: fmt.Sprintf("%s %s the key of %s on %s at step %d, which %s had set.", d.By, did, d.Resource, d.Node, d.At,
			d.Owner),
		At: []Pos{d.At},
	}
}

// holder is a client and a resource.
type holder struct {
	client   string
	resource Resource
}

// holdings are the spans of one holder, sorted by their beginning.
type holdings []Holding

func holdingsOf(h History) map[holder]holdings {
	all := make(map[holder]holdings)
	for _, s := range slices.SortedFunc(slices.Values(h.Holdings), byHolder) {
		who := holder{s.Client, s.Resource}
		all[who] = append(all[who], s)
	}
	return all
}

// since returns the span, if any, in which the holder had the lock from one
// position to another without a gap.
func (r holdings) since(from, to Pos) (Holding, bool) {
	begun, _ := slices.BinarySearchFunc(r, from+1, func(s Holding, p Pos) int { return cmp.Compare(s.From, p) })
	if begun == 0 || !r[begun-1].Span().Contains(to) {
		return Holding{}, false
	}
	return r[begun-1], true
}
