package bruteforce_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
)

// noFence are the facts of the run without a fence, for the label rescued.
var noFence = &checker.Facts{Data: checker.DataCorrupted}

// TestSmallHistoriesAreJudgedTheSame makes random histories, 100,000 with
// LOCKSIM_SOAK=1: both judges have the same label and the same facts. Each fact and
// each label occurs, but unknown.
func TestSmallHistoriesAreJudgedTheSame(t *testing.T) {
	n := testruns.Soak(t, 100_000, 0.02)
	reached := map[string]int{}
	valid, wrong := 0, 0
	refused := map[string]int{}
	for seed := range uint64(n) {
		h := randomHistory(seed)
		v, err := judge(h)
		if err != nil {
			refused[err.Error()]++
			continue
		}
		valid++
		reached["label "+string(v.Label)]++
		for _, rule := range decided(t, h, v.Facts.Misconduct) {
			reached[rule]++
		}
		for _, kind := range endingShows(h.Ending, v.Facts.Liveness) {
			reached["ending "+kind]++
		}
		facts := reflect.ValueOf(v.Facts)
		for i := range facts.NumField() {
			name, _, _ := strings.Cut(facts.Type().Field(i).Tag.Get("json"), ",")
			if facts.Field(i).Kind() == reflect.String {
				reached[name+" "+facts.Field(i).String()]++
			} else if !facts.Field(i).IsZero() {
				reached[name]++
			}
		}
		if what := contradicted(h, v); what != "" {
			t.Errorf("seed %d: %s", seed, what)
		}
		for _, s := range v.Slack {
			reached["slack "+string(s.Kind)]++
			if s.Broken() {
				reached["broken "+string(s.Kind)]++
			}
		}
		if v.Facts.Data == checker.DataCorrupted && v.Facts.LostUpdates+v.Facts.TornSections == 0 {
			reached[disorder]++
		}
		all := differences(h, noFence, v)
		if len(all) == 0 {
			continue
		}
		if wrong++; wrong <= 10 {
			h = smaller(h)
			v, _ := judge(h)
			t.Errorf("seed %d: %s\n%s", seed, strings.Join(differences(h, noFence, v), "; "), text(reflect.ValueOf(h)))
		}
	}
	t.Logf("%d histories, %d of them valid, %d judged differently", n, valid, wrong)
	for _, name := range slices.Sorted(maps.Keys(reached)) {
		t.Logf("%6.2f %% %s", 100*float64(reached[name])/float64(valid), name)
	}
	if valid < 1000 {
		return
	}
	expected := []string{disorder, "data right", "data corrupted", "liveness ok", "liveness stuck", "liveness leaked",
		"ending loops", "ending waits for ever", "ending stuck by a minority", "ending stuck for the probe", "ending leaked",
		"ending leaked by learnt keys", "ending keys excused", "ending learnt keys excused", "label safe"}
	for _, f := range checker.FactList() {
		switch {
		case f.Of == checker.OfFence, f.Name == "panics", f.Name == "starved", f.Name == "starved_in_turn":
			// random histories have none, or too few waits
			continue
		case f.Name != "data" && f.Name != "liveness": // their values are above
			expected = append(expected, f.Name)
		}
		if f.Label != "" && f.Label != checker.Misconduct {
			expected = append(expected, "label "+string(f.Label))
		}
	}
	for _, name := range expected {
		if reached[name] < valid/1000 || reached[name] == 0 {
			t.Errorf("only %d of %d histories have %s", reached[name], valid, name)
		}
	}
	for _, rule := range rulesOfGrants {
		if reached[rule] < n/40 { // 500 of 20,000
			t.Errorf("only in %d of %d histories: %s", reached[rule], n, rule)
		}
	}
	for _, kind := range checker.SlackKinds() {
		for _, name := range []string{"slack " + string(kind), "broken " + string(kind)} {
			if few := reached[name] < valid/1000 || reached[name] == 0; few && name != "broken release" {
				t.Errorf("only %d of %d histories have %s", reached[name], valid, name)
			}
		}
	}
	if n > 2*valid {
		t.Errorf("only %d of %d histories are valid: %v", valid, n, refused)
	}
}

// rulesOfGrants are rules about a single grant by which a history is misconduct.
var rulesOfGrants = []string{"the lease was over before", "the loss was known"}

// decided are those of them without which a history has less misconduct.
func decided(t *testing.T, h checker.History, misconduct int) (out []string) {
	for i, change := range []func(g *checker.Grant){
		func(g *checker.Grant) { g.OverBefore = false },
		func(g *checker.Grant) { g.Known = 0 },
	} {
		if misconduct == 0 {
			return nil
		}
		other := h
		other.Grants = slices.Clone(h.Grants)
		for j := range other.Grants {
			change(&other.Grants[j])
		}
		v, err := judge(other)
		if err != nil {
			t.Fatal(err)
		}
		if v.Facts.Misconduct < misconduct {
			out = append(out, rulesOfGrants[i])
		}
	}
	return out
}

// contradicted says which slack contradicts the fact of its kind; "" for none.
func contradicted(h checker.History, v checker.Verdict) string {
	broken := func(kind checker.SlackKind) bool {
		s, ok := v.SlackOf(kind)
		return ok && s.Broken()
	}
	f := v.Facts
	switch {
	case broken(checker.SlackLease) != (f.ClaimOverlaps > 0 && h.Timing != nil), broken(checker.SlackRelease):
		return fmt.Sprintf("slack %v with %d overlaps of claims", v.Slack, f.ClaimOverlaps)
	case broken(checker.SlackTokens) != (f.TokenRegressions+f.TokenDuplicates > 0):
		return fmt.Sprintf("slack %v with %d and %d wrong tokens", v.Slack, f.TokenRegressions, f.TokenDuplicates)
	case broken(checker.SlackWait) && f.Overdue == 0: // an idle time over all Acquires has no slack
		return fmt.Sprintf("slack %v with %d overdue", v.Slack, f.Overdue)
	case broken(checker.SlackNotice) && f.Misconduct == 0:
		return fmt.Sprintf("slack %v without misconduct", v.Slack)
	}
	return ""
}

// disorder is data that is wrong although nothing is lost or torn.
const disorder = "data in a wrong order"

// judge is checker.Judge, for histories in which it may panic too.
func judge(h checker.History) (v checker.Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			v.Label = checker.Label(fmt.Sprint("PANIC ", p))
			v.Facts.Liveness = "panic"
		}
	}()
	return checker.Judge(h, noFence)
}

// smaller removes parts of a history as long as the first difference stays.
func smaller(h checker.History) checker.History {
	first := func(h checker.History) string {
		v, err := judge(h)
		if err != nil {
			return ""
		}
		all := differences(h, noFence, v)
		if len(all) == 0 {
			return ""
		}
		name, _, _ := strings.Cut(all[0], ":")
		return name
	}
	want := first(h)
	for {
		i := slices.IndexFunc(parts(h), func(c checker.History) bool { return first(c) == want })
		if i < 0 {
			return h
		}
		h = parts(h)[i]
	}
}

// parts are the histories that lack one part of a history.
func parts(h checker.History) (all []checker.History) {
	for i, g := range h.Grants {
		c := h
		c.Grants = without(h.Grants, i)
		c.Ops = slices.DeleteFunc(slices.Clone(h.Ops), func(o checker.Op) bool { return o.Grant == g.ID })
		all = append(all, c)
	}
	for i := range h.Attempts {
		c := h
		c.Attempts = without(h.Attempts, i)
		all = append(all, c)
	}
	for i := range h.Ops {
		c := h
		c.Ops = without(h.Ops, i)
		all = append(all, c)
	}
	for i := range h.Holdings {
		c := h
		c.Holdings = without(h.Holdings, i)
		all = append(all, c)
	}
	for i := range h.Deletions {
		c := h
		c.Deletions = without(h.Deletions, i)
		all = append(all, c)
	}
	if h.Timing != nil {
		c := h
		c.Timing = nil
		all = append(all, c)
		for _, client := range slices.Sorted(maps.Keys(h.Timing.Away)) {
			for i := range h.Timing.Away[client] {
				timing := *h.Timing
				timing.Away = maps.Clone(h.Timing.Away)
				timing.Away[client] = without(h.Timing.Away[client], i)
				c.Timing = &timing
				all = append(all, c)
			}
		}
	}
	for i, g := range h.Grants {
		for f := range reflect.ValueOf(g).NumField() {
			c := h
			c.Grants = slices.Clone(h.Grants)
			field := reflect.ValueOf(&c.Grants[i]).Elem().Field(f)
			if !field.IsZero() {
				field.SetZero()
				all = append(all, c)
			}
		}
	}
	return all
}

func without[T any](s []T, i int) []T { return slices.Delete(slices.Clone(s), i, i+1) }

// TestTooManyOperationsAreUndecided reaches the label unknown.
func TestTooManyOperationsAreUndecided(t *testing.T) {
	if testruns.Soak(t, 100, 0) < 100 {
		t.Skip("it takes seconds: for make soak")
	}
	h := checker.History{Grants: []checker.Grant{{ID: 1, Client: "c0", Resource: "a", Invoked: 1, Granted: 2}},
		Final: map[checker.Cell]string{{Resource: "a", Register: "x"}: ""}}
	for i := range checker.MaxOperations + 1 {
		p := checker.Pos(3 + 3*i)
		h.Ops = append(h.Ops, checker.Op{ID: fmt.Sprint(i), Client: "c0", Grant: 1, Resource: "a", Register: "x",
			Kind: checker.Read, Invoked: p, Applied: p + 1,
			Returned: p + 2, Accepted: true, Outcome: checker.OutcomeOK})
	}
	v, err := checker.Judge(h, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := differences(h, nil, v); len(all) > 0 || v.Label != checker.Unknown {
		t.Errorf("label %s: %v", v.Label, all)
	}
}
