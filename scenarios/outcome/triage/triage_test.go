package triage_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/triage"
)

// Four rounds: a violation is new, still there, gone, and back. One that is not drawn is played again by its schedule.
func TestRounds(t *testing.T) {
	h := &triage.History{Version: triage.Version, Kind: triage.Kind}
	broken := map[string]bool{} // the shapes that their stored schedules still show
	again := func(runs []*outcome.RunFile) ([]bool, []error, error) {
		fails := make([]bool, len(runs))
		for i, r := range runs {
			fails[i] = broken[r.Source]
		}
		return fails, make([]error, len(runs)), nil
	}
	replay := func(f *failure.Failure) string { return "locksim " + f.Shape }
	found := func(shapes ...string) (all failure.Failures) {
		for i, shape := range shapes {
			all = append(all, failure.Failure{Shape: shape, Run: &outcome.RunFile{Seed: uint64(i), Source: shape}})
		}
		return all
	}
	for i, round := range []struct {
		found  failure.Failures
		broken []string
		want   map[string]triage.State
		text   string
		worse  bool
	}{
		{found("a", "b"), nil, map[string]triage.State{"a": triage.New, "b": triage.New}, "Round 1: 2 new.", true},
		{found("a"), []string{"b"}, map[string]triage.State{"a": triage.Still, "b": triage.Still}, "Round 2: 2 still there.",
			false},
		{found("c"), []string{"a"}, map[string]triage.State{"a": triage.Still, "b": triage.Gone, "c": triage.New},
			"Round 3: 1 new, 1 still there, 1 gone.", true},
		{found("b", "c"), nil, map[string]triage.State{"a": triage.Gone, "b": triage.Back, "c": triage.Still},
			"Round 4: 1 back, 1 still there, 1 gone.", true},
		{found("b", "c"), nil, map[string]triage.State{"a": triage.Gone, "b": triage.Still, "c": triage.Still},
			"Round 5: 2 still there.", false},
		{nil, nil, map[string]triage.State{"a": triage.Gone, "b": triage.Gone, "c": triage.Gone}, "Round 6: 2 gone.", false},
		{nil, nil, map[string]triage.State{"a": triage.Gone, "b": triage.Gone, "c": triage.Gone}, "Round 7: no violation.",
			false},
	} {
		broken = map[string]bool{}
		for _, shape := range round.broken {
			broken[shape] = true
		}
		s, err := h.Take("mylock", "everything", round.found, replay, again)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]triage.State{}
		for _, shape := range s.Shapes {
			got[shape.Shape] = shape.State
		}
		if diff := cmp.Diff(round.want, got); diff != "" || s.Text() != round.text || s.Worse() != round.worse {
			t.Errorf("round %d: %q, worse %v\n%s", i+1, s.Text(), s.Worse(), diff)
		}
		data, err := h.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if h, err = triage.Read("triage.json", data); err != nil {
			t.Fatal(err)
		}
	}
}

// A schedule that cannot be played proves nothing: its violation is not gone. Locks and judges have rounds of their
// own.
func TestUnplayable(t *testing.T) {
	h := &triage.History{Version: triage.Version, Kind: triage.Kind}
	problem := func(runs []*outcome.RunFile) ([]bool, []error, error) {
		return make([]bool, len(runs)), slices.Repeat([]error{errors.New("no such key\nhint")}, len(runs)), nil
	}
	one := failure.Failures{{Shape: "a", Run: &outcome.RunFile{}}}
	for _, judge := range []string{"promise", "everything", "promise"} {
		found := one
		if len(h.Subjects) == 2 {
			found = nil
		}
		if _, err := h.Take("mylock", judge, found, func(*failure.Failure) string { return "" }, problem); err != nil {
			t.Fatal(err)
		}
	}
	rounds := map[string]int{}
	for _, s := range h.Subjects {
		rounds[s.Judge] = s.Rounds
	}
	if want := map[string]int{"promise": 2, "everything": 1}; !maps.Equal(rounds, want) {
		t.Errorf("rounds %v", rounds)
	}
	shape := h.Subjects[1].Shapes[0]
	if shape.State != triage.Still || shape.Last != 1 || shape.Problem != "no such key" {
		t.Errorf("%+v", shape)
	}
}

// A file that is something else is refused by its name.
func TestReadOther(t *testing.T) {
	for _, text := range []string{"", "[]", `{"version":1,"kind":"explore"}`, `{"version":9,"kind":"triage"}`} {
		if _, err := triage.Read("triage.json", []byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
