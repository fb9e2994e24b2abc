package blame_test

import (
	"fmt"
	"testing"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/blame"
)

// sent is an operation on a store under test, under the grant whose id is its token.
func sent(id string, kind checker.OpKind, token int, from, to checker.Pos, saw string) checker.Op {
	o := checker.Op{ID: id, Client: fmt.Sprintf("c%d", token), Grant: token, Resource: "order", Register: "value",
		Kind: kind, Token: uint64(token), Invoked: from, Returned: to, Outcome: checker.OutcomeOK, Saw: saw}
	return o
}

// turnedAway is an operation that the store refused.
func turnedAway(id string, token int, from, to checker.Pos) checker.Op {
	o := sent(id, checker.Write, token, from, to, "")
	o.Outcome = checker.OutcomeRefused
	return o
}

// onTrial is the history of a store under test, beside a lock whose grants follow each other.
func onTrial(ops ...checker.Op) checker.History {
	h := checker.History{Care: checker.CareNever, Fence: fence.Check, Ops: ops}
	for id := 1; id <= 3; id++ {
		at := checker.Pos(2*id - 1)
		h.Grants = append(h.Grants, checker.Grant{ID: id, Client: fmt.Sprintf("c%d", id), Resource: "order",
			Token: uint64(id), Invoked: at, Granted: at, Released: at + 1, ReleaseReturned: at + 1})
	}
	return h
}

// What a store under test did is found by its answers, and decided at the answer that is wrong. The first deed of the
// table counts, whatever the lock did, and whatever failed.
func TestStore(t *testing.T) {
	const read, write = checker.Read, checker.Write
	stale := []checker.Op{sent("a", write, 2, 10, 20, ""), sent("b", write, 1, 30, 40, "")}
	gone := []checker.Op{sent("a", write, 1, 10, 20, ""), sent("r", read, 2, 30, 40, "")}
	other := func(ops ...checker.Op) (all []checker.Op) { // the same on another register
		for _, o := range ops {
			o.ID, o.Register = o.ID+"'", "other"
			if o.Saw != "" {
				o.Saw += "'"
			}
			all = append(all, o)
		}
		return all
	}
	overlapping := func(h checker.History) checker.History {
		for i := range h.Grants {
			h.Grants[i].Released, h.Grants[i].ReleaseReturned = 0, 0
		}
		return h
	}
	regressed := func(h checker.History) checker.History {
		h.Grants[2].Token = 1
		return h
	}
	stuck := func(h checker.History) checker.History {
		h.Ending.Asked = time.Second
		return h
	}
	panicked := func(h checker.History) checker.History {
		h.Panics = []checker.Panic{{Client: "c1", At: 90, Text: "oh"}}
		return h
	}
	for name, c := range map[string]struct {
		h       checker.History
		culprit blame.Culprit
		deed    blame.Deed
		remedy  blame.Remedy
		at      checker.Pos
	}{
		"it takes a stale write": {onTrial(stale...), blame.Store, blame.TakesStale, blame.MendStore, 40},
		"it forgets": {onTrial(sent("a", write, 3, 10, 20, ""), turnedAway("b", 2, 22, 24), sent("c", write, 1, 30, 40, "")),
			blame.Store, blame.ForgetsToken, blame.MendStore, 40},
		"a stale write takes the place of a newer one": {onTrial(sent("a", write, 1, 10, 40, ""),
			sent("b", write, 2, 20, 30, ""), sent("r", read, 2, 50, 60, "a")), blame.Store, blame.LetsOverwrite,
			blame.MendStore, 30},
		"it loses a write": {onTrial(gone...), blame.Store, blame.LosesWrite, blame.MendStore, 20},
		"it refuses a holder": {onTrial(sent("a", write, 1, 10, 20, ""), turnedAway("b", 2, 30, 40)), blame.Store,
			blame.RefusesHolder, blame.MendStore, 40},
		"it contradicts itself": {onTrial(sent("r", read, 2, 10, 20, "x")), blame.Store, blame.Contradicts, blame.MendStore,
			20},
		"it forgets and takes": {onTrial(append(other(sent("a", write, 3, 10, 20, ""), turnedAway("b", 2, 22, 24),
			sent("c", write, 1, 30, 41, "")), stale...)...), blame.Store, blame.ForgetsToken, blame.MendStore, 41},
		"it loses one and lets another be overwritten": {onTrial(append(other(sent("a", write, 1, 10, 40, ""),
			sent("b", write, 2, 20, 31, ""), sent("r", read, 2, 50, 60, "a")), gone...)...), blame.Store, blame.LetsOverwrite,
			blame.MendStore, 31},
		"it takes and loses": {onTrial(append(other(gone...), stale...)...), blame.Store, blame.TakesStale, blame.MendStore,
			40},
		"it loses and refuses": {onTrial(append(other(sent("a", write, 1, 10, 20, ""), turnedAway("b", 2, 30, 39)),
			gone...)...), blame.Store, blame.LosesWrite, blame.MendStore, 20},
		"it takes under a lock that lets two in": {overlapping(onTrial(stale...)), blame.Store, blame.TakesStale,
			blame.MendStore, 40},
		"it takes under a lock whose tokens do not grow": {regressed(onTrial(stale...)), blame.Store, blame.TakesStale,
			blame.MendStore, 40},
		"the lock is stuck, and it refuses a holder": {stuck(onTrial(sent("a", write, 1, 10, 20, ""),
			turnedAway("b", 2, 30, 40))), blame.Choice, blame.Unsurvived, blame.Choose, 5},
		"the lock panicked": {panicked(onTrial(gone...)), blame.Lock, blame.Panics, blame.MendLock, 20},
		"nothing is wrong": {onTrial(stale[0], turnedAway("b", 1, 30, 40)), blame.NoOne, "", blame.Nothing,
			0},
		"the lock alone is wrong, after a fault": {regressed(onTrial(stale[0])), blame.Choice, blame.Unsurvived, blame.Choose,
			5},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := checker.Judge(c.h, nil)
			if err != nil {
				t.Fatal(err)
			}
			f := blame.Find(blame.Case{Scenario: &file.Scenario{}, Mode: fence.Check, Verdict: v, History: c.h,
				Failed: []promise.Fault{promise.NodeCrash}})
			if f.Culprit != c.culprit || f.Deed != c.deed || f.Remedy() != c.remedy || f.At != c.at || f.Besides != nil {
				t.Errorf("%s, %+v: want %s, %s, %s at %d", v.Label, f, c.culprit, c.deed, c.remedy, c.at)
			}
			if f.Culprit == blame.Store && (f.Does() == "" || f.Mend() == "") {
				t.Errorf("nothing is said of %s", f.Deed)
			}
		})
	}
}
