package store

import (
	"strings"
	"testing"

	"locksim/lock/fence"
	"locksim/sim/trace"
)

// FuzzStoreRequest looks for panics, for answers that are not one line, and for
// accepted requests that no client could have written.
func FuzzStoreRequest(f *testing.F) {
	for _, s := range []string{"READ r a op 5 g -\n", "WRITE r a op 18446744073709551615 - base\r\nREAD", "\n\n",
		"WRITE r a op -1 - -\n", "READ r a\x00 op 1 - -\n", "ä ö ü 1 2\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, recorded := New(fence.Check), 0
		record := func(trace.Decision) int { recorded++; return recorded }
		for line := range strings.SplitSeq(string(b), "\n") {
			before := recorded
			req, err := parseRequest(line)
			answer := s.Serve(line, record)
			if strings.ContainsAny(answer, "\r\n") || strings.HasPrefix(answer, "ERROR ") != (err != nil) ||
				(recorded > before) != (err == nil) {
				t.Fatalf("%q is answered %q, with %d decisions, %v", line, answer, recorded-before, err)
			}
			if err != nil {
				continue
			}
			op := Op{Resource: req.Resource, Register: req.Register, ID: req.Op, Token: req.Token, Grant: req.Grant,
				Base: req.Base}
			if again, err := parseRequest(requestLine(op, req.Write)); err != nil || again != req {
				t.Fatalf("%q is %+v, which is written %q and read as %+v, %v", line, req, requestLine(op, req.Write), again, err)
			}
			if err := op.validate(); err != nil {
				t.Fatalf("%q was accepted: %v", line, err)
			}
		}
	})
}

func TestSingleLine(t *testing.T) {
	if got := singleLine("stale\r\n  token\n"); got != "stale token" {
		t.Errorf("got %q", got)
	}
}

func TestParseAnswer(t *testing.T) {
	for answer, want := range map[string]string{
		"OK\n": "", "OK c0.1\n": "c0.1", "ERROR what\n": "!", "\n": "!", "OKAY x\n": "!", "REFUSED because of this\n": "!",
	} {
		v, err := parseAnswer(answer)
		if err != nil {
			v = "!"
		}
		if v != want {
			t.Errorf("%q: %q, %v", answer, v, err)
		}
	}
}
