package review

import (
	"slices"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// Lock is the lock that is reviewed.
type Lock struct {
	Name string `json:"name"`
	// About says how it works; empty where nobody has said so.
	About  string `json:"about"`
	Nodes  int    `json:"nodes"`
	Tokens bool   `json:"tokens"`
	// Promises says whether it promises anything, Promise what.
	Promises bool         `json:"promises"`
	Promise  lock.Promise `json:"promise"`
	// Unpromised are the classes of fault of which the promise does not speak.
	Unpromised []lock.Fault `json:"unpromised"`
	// Judged is the fencing mode in which it is judged: that of its promise or,
	// without one, none for a lock that mints no tokens, and else seal.
	Judged fence.Mode `json:"judged_in"`
}

func newReviewLock(l play.Lock) Lock {
	r := Lock{Name: l.Name, About: l.About, Nodes: l.Nodes(), Tokens: l.Tokens,
		Promises: !l.PromisesNothing(), Promise: l.Promise, Unpromised: []lock.Fault{}, Judged: l.JudgedMode()}
	for _, class := range lock.Faults() {
		if !slices.Contains(l.Promise.Exclusion, class) {
			r.Unpromised = append(r.Unpromised, class)
		}
	}
	return r
}
