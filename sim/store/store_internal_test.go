package store

import (
	"strings"
	"testing"
)

// FuzzStoreRequest: no panic, progress, and what is taken for a request is
// one that a client could have written.
func FuzzStoreRequest(f *testing.F) {
	for _, s := range []string{"READ r a op 5 g -\n", "WRITE r a op 18446744073709551615 - base\r\nREAD", "\n\n", "WRITE r a op -1 - -\n", "READ r a\x00 op 1 - -\n", "ä ö ü 1 2\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			line, n := nextLine(b)
			if n < 0 || n > len(b) || len(line) > n {
				t.Fatalf("%q takes %d of %d bytes", line, n, len(b))
			}
			if n == 0 {
				return
			}
			b = b[n:]
			req, err := parseStoreRequest(line)
			if err != nil {
				if strings.ContainsAny(err.Error(), "\r\n") {
					t.Fatalf("error on several lines: %q", err)
				}
				continue
			}
			if again, err := parseStoreRequest(req.String()); err != nil || again != req {
				t.Fatalf("%q is %+v, which is written %q and read as %+v, %v", line, req, req, again, err)
			}
			op := StoreOp{Resource: req.resource, Register: req.register, ID: req.op, Token: req.token, Grant: req.grant, Base: req.base}
			if err := op.validate(); err != nil {
				t.Fatalf("%q was taken: %v", line, err)
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
