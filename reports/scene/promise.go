package scene

import (
	"fmt"
	"maps"
	"slices"

	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/play"
)

// PromisePart is one part of what a lock promises: a text, and the words or the sentences
// that it introduces.
type PromisePart struct {
	Name, Text string
	Words      []string
	Items      []string
}

// Promise is what a lock promises, in its parts: nil where it promises no exclusion.
func Promise(l play.Lock) []PromisePart {
	p := l.Promise
	if len(p.Exclusion) == 0 {
		return nil
	}
	exclusion := PromisePart{Name: "Exclusion", Text: "Two claims on one resource never overlap, under these faults:"}
	for _, f := range p.Exclusion {
		exclusion.Words = append(exclusion.Words, string(f))
	}
	parts := []PromisePart{exclusion}
	if p.Data != "" {
		parts = append(parts, PromisePart{Name: "Data", Text: fmt.Sprintf("Under those faults the data stays right in mode %s. %s Every section must write once. Without a fence, nothing is promised about data.", p.Data, Rule(fence.Mode(p.Data)))})
	}
	switch {
	case l.Tokens && p.TokensUnordered:
		parts = append(parts, PromisePart{Name: "Tokens", Text: "Nothing is promised about the order of its tokens."})
	case l.Tokens:
		parts = append(parts, PromisePart{Name: "Tokens", Text: "Each grant has a higher token than the grants before it."})
	}
	if p.FreeWithin != "" {
		parts = append(parts, PromisePart{Name: "Free again", Text: freeAgain(l)})
	}
	if p.Order != "" {
		parts = append(parts, PromisePart{Name: "Order", Text: fmt.Sprintf("Those who wait are granted the lock in this order: %s.", p.Order)})
	}
	if len(p.Duties) > 0 {
		duties := PromisePart{Name: "Duties", Text: "Its calls do this too, wherever nothing excuses them:"}
		for _, d := range p.Duties {
			duties.Items = append(duties.Items, duty(d, l))
		}
		parts = append(parts, duties)
	}
	return parts
}

func freeAgain(l play.Lock) string {
	p := l.Promise
	text := fmt.Sprintf("How soon it can be acquired again, once its last holder is gone: %s", p.FreeWithin)
	for _, c := range slices.Sorted(maps.Keys(p.FreeAfter)) {
		text += fmt.Sprintf("; after the cause %q: %s", c, p.FreeAfter[c])
	}
	return text + "."
}

// dutyMeans says what each duty is, in a sentence that follows its name.
var dutyMeans = map[promise.Duty]string{
	promise.DutyEnds:     "an Acquire whose context ends returns, and leaves nothing behind.",
	promise.DutyWaits:    "an Acquire does not give up before its context ends.",
	promise.DutyReports:  "a Release without an error has freed the lock, and none fails where nothing is wrong.",
	promise.DutyRenews:   "a lease is renewed until it is released.",
	promise.DutyTells:    "the loss of a lease is announced when its validity ends, at the latest.",
	promise.DutyTries:    "a TryAcquire does not wait for the lock.",
	promise.DutyExplains: "the error of an Acquire whose context has ended wraps that of the context.",
	promise.DutyKeeps:    "a lease has its token, its context and its length as its interface says.",
	promise.DutyWakes:    "a release wakes those who wait.",
	promise.DutySpares:   "a client asks the servers no more often than its options say.",
}

func duty(d promise.Duty, l play.Lock) string {
	if d == promise.DutyReturns {
		return fmt.Sprintf("%s: a Release returns within %s, and an Acquire within as much after its deadline, also if no server answers.", d, l.Promise.ReturnsWithin)
	}
	return fmt.Sprintf("%s: %s", d, dutyMeans[d])
}
