package scene

import (
	"fmt"
	"maps"
	"slices"

	"locksim/lock/fence"
	"locksim/lock/promise"
)

// PromisePart is one part of what a lock promises: a text, and the words or the sentences
// that it introduces.
type PromisePart struct {
	Name, Text string
	Words      []string
	Items      []string
}

// Promise is what a lock promises, in its parts: nil where it promises no exclusion. tokens says that it mints tokens.
func Promise(p promise.Promise, tokens bool) []PromisePart {
	if len(p.Exclusion) == 0 {
		return nil
	}
	exclusion := PromisePart{Name: "Exclusion", Text: "Two claims on one resource never overlap, under these faults:"}
	if p.Unlocked {
		exclusion = PromisePart{Name: "Data", Text: "There is no lock, and no exclusion is promised: clients may work at " +
			"once. A write that would undo another one is refused. So no update is lost in mode " + p.Data +
			", under these faults:"}
	}
	for _, f := range p.Exclusion {
		exclusion.Words = append(exclusion.Words, string(f))
	}
	parts := []PromisePart{exclusion}
	if p.Data != "" && !p.Unlocked {
		parts = append(parts, PromisePart{Name: "Data", Text: fmt.Sprintf("Under those faults the data stays right in mode "+
			"%s. %s Every section must write once. Without a fence, nothing is promised about data.", p.Data,
			Rule(fence.Mode(p.Data)))})
	}
	switch {
	case tokens && p.TokensUnordered:
		parts = append(parts, PromisePart{Name: "Tokens", Text: "Nothing is promised about the order of its tokens."})
	case tokens:
		parts = append(parts, PromisePart{Name: "Tokens", Text: "Each grant has a higher token than the grants before it."})
	}
	switch {
	case p.SelfExcludes:
		parts = append(parts, PromisePart{Name: "Own key", Text: "A request that was not granted may leave its key behind, " +
			"and keep its own client out."})
	case p.ResendExcludes:
		parts = append(parts, PromisePart{Name: "Own key", Text: "A client that sends a request again by itself when the " +
			"reply is lost, as go-redis does unless MaxRetries is -1, may be kept out by its own key until that ends."})
	}
	if p.FreeWithin != "" {
		parts = append(parts, PromisePart{Name: "Free again", Text: freeAgain(p)})
	}
	if p.Order != "" {
		parts = append(parts, PromisePart{Name: "Order", Text: fmt.Sprintf("Those who wait are granted the lock in this "+
			"order: %s.", p.Order)})
	}
	if len(p.Duties) > 0 {
		duties := PromisePart{Name: "Duties", Text: "Its calls do this too, wherever nothing excuses them:"}
		for _, d := range p.Duties {
			duties.Items = append(duties.Items, duty(d, p))
		}
		parts = append(parts, duties)
	}
	return parts
}

func freeAgain(p promise.Promise) string {
	text := fmt.Sprintf("How soon it can be acquired again, once its last holder is gone: %s", p.FreeWithin)
	for _, c := range slices.Sorted(maps.Keys(p.FreeAfter)) {
		text += fmt.Sprintf("; after the cause %q: %s", c, p.FreeAfter[c])
	}
	return text + "."
}

func duty(d promise.Duty, p promise.Promise) string {
	text := fmt.Sprintf("%s: %s", d, d.Means())
	if d == promise.DutyReturns {
		text += fmt.Sprintf(" That time: %s.", p.ReturnsWithin)
	}
	return text
}
