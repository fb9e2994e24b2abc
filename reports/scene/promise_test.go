package scene_test

import (
	"slices"
	"strings"
	"testing"

	"locksim/lock/promise"
	"locksim/reports/scene"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// fair is a lock that promises an order, and a term for a single cause.
func fair(t *testing.T) subject.Lock {
	t.Helper()
	l, err := redislocks.Kind("fair")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Each duty has a sentence of its own.
func TestPromiseDuties(t *testing.T) {
	l := fair(t)
	l.Promise.Duties = promise.Duties()
	parts := scene.Promise(l.Promise, l.Tokens)
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
	names := func(l subject.Lock) (out []string) {
		for _, part := range scene.Promise(l.Promise, l.Tokens) {
			out = append(out, part.Name)
		}
		return out
	}
	l := fair(t)
	if got, want := names(l), []string{"Exclusion", "Data", "Own key", "Free again", "Order", "Duties"}; !slices.Equal(got,
		want) {
		t.Errorf("the parts are %v, want %v", got, want)
	}
	if text := scene.Promise(l.Promise, l.Tokens)[3].Text; !strings.Contains(text, ": "+string(l.Promise.FreeWithin)+
		";") || !strings.Contains(text, `after the cause "expired lease": drift`) {
		t.Errorf("free again: %s", text)
	}
	if text := scene.Promise(l.Promise, l.Tokens)[2].Text; !strings.Contains(text, "MaxRetries is -1") {
		t.Errorf("its own key: %s", text)
	}
	l.Promise.SelfExcludes = true
	if text := scene.Promise(l.Promise, l.Tokens)[2].Text; !strings.Contains(text, "may leave its key behind") {
		t.Errorf("its own key, always: %s", text)
	}
	l.Promise.Data, l.Promise.FreeWithin, l.Promise.Order, l.Promise.Duties = "", "", "", nil
	l.Promise.SelfExcludes, l.Promise.ResendExcludes = false, false
	if got := names(l); !slices.Equal(got, []string{"Exclusion"}) {
		t.Errorf("the parts are %v", got)
	}
	if got := names(fair(t).DutiesAlone()); got != nil {
		t.Errorf("a lock that promises no exclusion has the parts %v", got)
	}
}
