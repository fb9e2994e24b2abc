package nats

import (
	"strings"
	"testing"
)

// The answers of one instant are sent in one order, those to one inbox in theirs, and what is no whole message comes
// last.
func TestSorted(t *testing.T) {
	const b, a1, a2, part = "MSG _INBOX.b 1 2\r\nhi\r\n", "MSG _INBOX.a 1 1\r\nx\r\n", "HMSG _INBOX.a 1 0 1\r\ny\r\n",
		"MSG _INBOX.c 1 900\r\nz"
	want := "PONG\r\n" + a1 + a2 + b + part
	if got := string(sorted([]byte(b + a1 + "PONG\r\n" + a2 + part))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever the bytes are, they are described, and none is lost by sorting.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("HPUB $KV.locks.order _INBOX.a 12 13\r\nNATS/1.0\r\n\r\n1\r\nPING\r\n"))
	f.Add([]byte("HPUB $KV.locks.order -5 2\r\nhi\r\n"))
	f.Add([]byte("MSG a 1 -3\r\n\r\nHMSG x\r\nHMSG a 1 99 2\r\nhi\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, _ := frames(b)
		for _, f := range all {
			f.stores()
		}
		described(b).AppendText(nil)
		if got := sorted(b); len(got) != len(b) || strings.Count(string(got), "P") != strings.Count(string(b), "P") {
			t.Errorf("%q became %q", b, got)
		}
	})
}
