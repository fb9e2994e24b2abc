package checker_test

import (
	"errors"
	"strings"
	"testing"

	"locksim/checker"
)

// A panic outweighs that the lock is stuck, of which it may be the cause, and not that the data is wrong.
func TestPanics(t *testing.T) {
	h := checker.History{Ending: checker.Ending{Loops: "the key stayed"}, Panics: []checker.Panic{
		{Client: "c1", At: 7, Text: "nil map, in shop.(*mutex).Lock (mutex.go:31)"},
		{Client: "c0", At: 9, Text: "oh, in shop.run (run.go:3)"},
	}}
	v, err := checker.Judge(h, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v.Label != checker.Panicked || v.Facts.Panics != 2 {
		t.Errorf("%s with %d panics, want panicked with 2", v.Label, v.Facts.Panics)
	}
	want := "The code of the lock ended the process of c1 at step 7 by a panic: nil map, in shop.(*mutex).Lock " +
		"(mutex.go:31)."
	if r := v.Reasons[0]; r.Text != want || len(r.At) != 1 || r.At[0] != 7 ||
		!strings.Contains(v.Reasons[1].Text, "c0 at step 9") {
		t.Errorf("reasons %+v", v.Reasons)
	}
	h.Panics, h.Ending = nil, checker.Ending{}
	if v, err := checker.Judge(h, nil); err != nil || v.Label != checker.Untested {
		t.Errorf("without a panic: %s, %v", v.Label, err)
	}
	for _, p := range []checker.Panic{{At: 1, Text: "x"}, {Client: "c0", Text: "x"}, {Client: "c0", At: 1}} {
		h.Panics = []checker.Panic{p}
		if _, err := checker.Judge(h, nil); !errors.Is(err, checker.ErrMalformed) {
			t.Errorf("%+v: error %v", p, err)
		}
	}
}
