package trials

import "testing"

// A lock that ends the program is told from a program that was called wrongly.
func TestFatal(t *testing.T) {
	for stderr, want := range map[string]string{
		"fatal error: sync: unlock of unlocked mutex\n\ngoroutine 16": "ends the program: sync: unlock of unlocked mutex",
		"x\npanic: no\n":             "ends the program: no",
		"trial: usage: trial PLAN\n": "",
		"":                           "",
	} {
		if got, ended := fatal(stderr); got != want || ended != (want != "") {
			t.Errorf("%q: %q, %v; want %q", stderr, got, ended, want)
		}
	}
	plan := Plan{Strategies: []string{"a", "b"}, Firsts: []uint64{1, 2, 3}}
	if all := each(plan, "x"); len(all) != 6 || !all[5].Found || all[5].First != 3 || all[5].Strategy != "b" {
		t.Errorf("searches of the plan: %+v", all)
	}
}
