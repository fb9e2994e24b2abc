package promise_test

import (
	"slices"
	"strings"
	"testing"

	"locksim/lock/promise"
)

// Each duty says what it is, and what a lock that breaks it does better, in whole sentences.
func TestEachDutyHasItsAdvice(t *testing.T) {
	seen := map[string]promise.Duty{}
	for _, d := range promise.Duties() {
		means, remedy, advice := d.Means(), d.Remedy(), d.Advice()
		if !strings.HasSuffix(means, ".") || !strings.HasPrefix(advice, `This breaks the duty "`+string(d)+`": `+means+" Remedy: ") ||
			!strings.HasSuffix(advice, "if your lock does not promise it.") {
			t.Errorf("%s means %q, with the advice %q", d, means, advice)
		}
		if len(remedy) < 20 || strings.ToUpper(remedy[:1]) != remedy[:1] || !strings.HasSuffix(advice, remedy[1:]) {
			t.Errorf("%s has the remedy %q, and the advice %q", d, remedy, advice)
		}
		if other, twice := seen[means]; twice {
			t.Errorf("%s and %s mean the same", d, other)
		}
		seen[means] = d
	}
	all := promise.Duties()
	if slices.Sort(all); len(slices.Compact(all)) != len(promise.Duties()) || len(all) < 11 {
		t.Errorf("the duties are %q", promise.Duties())
	}
	if d := promise.Duty("unknown"); d.Means() != "" || d.Remedy() != "" || d.Advice() != "" {
		t.Errorf("an unknown duty has the advice %q", d.Advice())
	}
}
