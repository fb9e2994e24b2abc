package scene_test

import (
	"slices"
	"strings"
	"testing"

	"locksim/lock"
	"locksim/lock/promise"
	"locksim/reports/scene"
)

// Each duty has a sentence of its own.
func TestPromiseDuties(t *testing.T) {
	p := lock.Promise{Exclusion: lock.Faults()[:1], Duties: promise.Duties(), ReturnsWithin: lock.TermReleaseTimeout}
	parts := scene.Promise(p)
	i := slices.IndexFunc(parts, func(part scene.PromisePart) bool { return part.Name == "Duties" })
	if i < 0 || len(parts[i].Items) != len(promise.Duties()) {
		t.Fatalf("the parts are %+v", parts)
	}
	for j, d := range promise.Duties() {
		name, sentence, _ := strings.Cut(parts[i].Items[j], ": ")
		if name != string(d) || !strings.HasSuffix(sentence, ".") || strings.Count(sentence, " ") < 4 {
			t.Errorf("the sentence of %s is %q", d, parts[i].Items[j])
		}
	}
}

// What a lock does not promise has no part, and each cause with a term of its own is named.
func TestPromiseParts(t *testing.T) {
	names := func(p lock.Promise) (out []string) {
		for _, part := range scene.Promise(p) {
			out = append(out, part.Name)
		}
		return out
	}
	some := lock.Promise{Exclusion: lock.Faults()[:2]}
	if got := names(some); !slices.Equal(got, []string{"Exclusion"}) {
		t.Errorf("the parts are %v", got)
	}
	if got := names(lock.Promise{Duties: promise.Duties()}); got != nil {
		t.Errorf("a lock that promises no exclusion has the parts %v", got)
	}
	fair, _ := lock.PromiseOf("fair")
	if got, want := names(fair), []string{"Exclusion", "Data", "Free again", "Order", "Duties"}; !slices.Equal(got, want) {
		t.Errorf("the parts are %v, want %v", got, want)
	}
	if text := scene.Promise(fair)[2].Text; !strings.Contains(text, string(fair.FreeWithin)) || !strings.Contains(text, `after the cause "expired lease" within drift`) {
		t.Errorf("free again: %s", text)
	}
	some.FreeWithin = lock.TermAnyTime
	if text := scene.Promise(some)[1].Text; strings.Contains(text, string(lock.TermAnyTime)) {
		t.Errorf("free again: %s", text)
	}
}
