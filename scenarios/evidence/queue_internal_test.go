package evidence

import (
	"testing"

	"locksim/checker"
)

// A grant had the place that its request joined before it took the lock, if it is the only one: the one that it left
// as it took the lock, or else one that it kept, or left later. An attempt had the only place that it joined until it
// returned.
func TestPlacesOfRequests(t *testing.T) {
	for name, c := range map[string]struct {
		takes        []checker.Pos // of the grant's client, which asked at 10 and had its answer at 20
		places       []place
		grant        checker.Pos
		joined, left checker.Pos // of the attempt, from 10 to 20, of another client
		never        bool        // the attempt did not return
	}{
		"left as it took the lock": {takes: []checker.Pos{15},
			places: []place{{client: "c0", joined: 12, left: 15}}, grant: 12},
		"kept": {takes: []checker.Pos{15}, places: []place{{client: "c0", joined: 12}},
			grant: 12},
		"left later": {takes: []checker.Pos{15},
			places: []place{{client: "c0", joined: 12, left: 18}}, grant: 12},
		"left before": {takes: []checker.Pos{15},
			places: []place{{client: "c0", joined: 12, left: 14}}},
		"joined as it took it": {takes: []checker.Pos{15}, places: []place{{client: "c0", joined: 15}},
			grant: 15},
		"joined afterwards":      {takes: []checker.Pos{15}, places: []place{{client: "c0", joined: 16}}},
		"joined before the call": {takes: []checker.Pos{15}, places: []place{{client: "c0", joined: 10}}},
		"of another client": {takes: []checker.Pos{15},
			places: []place{{client: "c2", joined: 12, left: 15}}},
		"never seen to take it":   {places: []place{{client: "c0", joined: 12}}},
		"took it before the call": {takes: []checker.Pos{10}, places: []place{{client: "c0", joined: 9}}},
		"took it at the return": {takes: []checker.Pos{20},
			places: []place{{client: "c0", joined: 12, left: 20}}, grant: 12},
		"took it after the return": {takes: []checker.Pos{21},
			places: []place{{client: "c0", joined: 12, left: 21}}},
		"took it twice": {takes: []checker.Pos{13, 17},
			places: []place{{client: "c0", joined: 12, left: 17}}, grant: 12},
		"two places, one left": {takes: []checker.Pos{15},
			places: []place{{client: "c0", joined: 12, left: 15}, {client: "c0", joined: 13}}, grant: 12},
		"two places, both left": {takes: []checker.Pos{15},
			places: []place{{client: "c0", joined: 12, left: 15}, {client: "c0", joined: 13, left: 15}}},
		"two places, both kept": {takes: []checker.Pos{15}, places: []place{{client: "c0", joined: 12},
			{client: "c0", joined: 13}}},
		"a place of an attempt": {places: []place{{client: "c1", joined: 12, left: 18}}, joined: 12,
			left: 18},
		"one that is left late": {places: []place{{client: "c1", joined: 12, left: 30}}, joined: 12,
			left: 30},
		"one that is kept":                           {places: []place{{client: "c1", joined: 20}}, joined: 20},
		"one joined after the call":                  {places: []place{{client: "c1", joined: 21}}},
		"one joined late by one that never returned": {places: []place{{client: "c1", joined: 21}}, never: true, joined: 21},
		"two places of an attempt": {places: []place{{client: "c1", joined: 12},
			{client: "c1", joined: 13}}},
		"one of before the attempt": {places: []place{{client: "c1", joined: 10}}},
	} {
		h := checker.History{
			Grants: []checker.Grant{{Client: "c0", Resource: "a", Invoked: 10, Granted: 20},
				{Client: "c0", Resource: "b", Invoked: 10, Granted: 20}},
			Attempts: []checker.Attempt{{Client: "c1", Resource: "a", Invoked: 10, Returned: 20},
				{Client: "c1", Resource: "b", Invoked: 10, Returned: 20}},
		}
		if c.never {
			h.Attempts[0].Returned = 0
		}
		queueing{resource: "a", places: c.places, takes: map[string][]checker.Pos{"c0": c.takes}}.into(&h)
		if got := h.Grants[0].Enqueued; got != c.grant {
			t.Errorf("%s: the grant joined at %d, want %d", name, got, c.grant)
		}
		if a := h.Attempts[0]; a.Enqueued != c.joined || a.Left != c.left {
			t.Errorf("%s: the attempt joined at %d and left at %d, want %d and %d", name, a.Enqueued, a.Left, c.joined, c.left)
		}
		if g, a := h.Grants[1], h.Attempts[1]; g.Enqueued+a.Enqueued+a.Left > 0 {
			t.Errorf("%s: a request for another resource has the place", name)
		}
	}
}
