package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// Deletion is a lock key that a client's command deleted on one node.
type Deletion struct {
	// At is the step of the deletion.
	At Pos
	// Node is where it happened, Resource what the key locks.
	Node, Resource string
	// Owner is the client that had set the key, By the one whose command deleted
	// it. Neither is empty: what a node itself removes is no deletion.
	Owner, By string
}

// Holding is a span in which, by the record of a majority of the nodes, a client
// held a lock without a gap. Where the key goes and comes back, even in one step,
// one span ends and another begins; so the spans of one client may touch, and
// never overlap.
type Holding struct {
	// Client held the lock on Resource.
	Client, Resource string
	// From is the first step of the span, To the first behind it; 0 when the span
	// lasted to the end.
	From, To Pos
}

// Span returns the holding as an interval.
func (s Holding) Span() Interval { return Interval{Start: s.From, End: s.To} }

// foreignReleases finds the keys that a client deleted and another one had set.
// Whether the other one still had a claim does not matter: a lock that deletes
// what is not its own does so by mistake.
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
	return Reason{
		Text: fmt.Sprintf("%s deleted the key of %s on %s at step %d, which %s had set.", d.By, d.Resource, d.Node, d.At, d.Owner),
		At:   []Pos{d.At},
	}
}

// holder is a client and what it may hold.
type holder struct {
	client, resource string
}

// record is the nodes' record of one holder: its spans by their beginning.
type record []Holding

// recordsOf returns the record of each holder.
func recordsOf(h History) map[holder]record {
	all := make(map[holder]record)
	for _, s := range slices.SortedFunc(slices.Values(h.Holdings), byHolder) {
		who := holder{s.Client, s.Resource}
		all[who] = append(all[who], s)
	}
	return all
}

// since returns the span, if there is one, in which the holder had the lock from
// one position to another without a gap.
func (r record) since(from, to Pos) (Holding, bool) {
	begun, _ := slices.BinarySearchFunc(r, from+1, func(s Holding, p Pos) int { return cmp.Compare(s.From, p) })
	if begun == 0 || !r[begun-1].Span().Contains(to) {
		return Holding{}, false
	}
	return r[begun-1], true
}
