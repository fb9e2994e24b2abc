package zookeeper

import (
	"bytes"
	"testing"

	"locksim/sim"
)

// requests are some that clients send, and some that none does.
func requests() [][]byte {
	w := func() *writer { return (&writer{}).int32(7) }
	return [][]byte{
		w().int32(int32(opCreate)).string("/a").bytes([]byte("1")).int32(1).int32(31).string("world").string("anyone").int32(
			3).packet(),
		w().int32(int32(opCreate)).string("").bytes(nil).int32(0).int32(1).packet(),
		w().int32(int32(opSetWatches)).int64(9).int32(2).string("/b").string("/a").int32(0).int32(1).string("/c").packet(),
		w().int32(int32(opMulti)).int32(int32(opDelete)).bool(false).int32(-1).string("/a").int32(-1).int32(-1).bool(
			true).int32(-1).packet(),
		w().int32(int32(opExists)).string("/").bool(true).packet(),
		w().int32(int32(opPing)).packet(),
		w().int32(int32(opSync)).int32(-5).packet(),
		(&writer{}).int32(0).int64(0).int32(6000).int64(0).bytes(make([]byte, 16)).packet(),
	}
}

// Whatever a client sends is read, described and executed without a panic, and equal bytes are described equally.
func FuzzRequests(f *testing.F) {
	for _, b := range requests() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		canonical := (*Server)(nil).Canonical(b)
		if again := (*Server)(nil).Canonical(canonical); !bytes.Equal(canonical, again) {
			t.Errorf("%q becomes %q, and that %q", b, canonical, again)
		}
		for _, dir := range []sim.Direction{sim.Up, sim.Down} {
			m := Messages{dir, b}
			_, _, _, _ = m.AppendText(nil), m.AppendHash(nil), m.Words(), m.Brief(nil)
		}
		message, _, err := cut(b)
		if message == nil || err != nil {
			return
		}
		q, err := parse(message)
		if err != nil {
			return
		}
		tree := newTree()
		tree.sessions[1] = 4000
		var body []byte
		var failed code
		if q.isWrite() {
			body, failed, _ = tree.apply(1, transaction{session: 1}, q)
		} else {
			body, failed = tree.read(q)
		}
		_ = answerTo(q, 1, failed, body).AppendText(nil)
	})
}

// The watches that a client sets again are in one order.
func TestCanonical(t *testing.T) {
	set := func(paths ...string) []byte {
		w := (&writer{}).int32(7).int32(int32(opSetWatches)).int64(9).int32(int32(len(paths)))
		for _, p := range paths {
			w.string(p)
		}
		return w.int32(0).int32(0).packet()
	}
	var s *Server
	if a, b := s.Canonical(set("/b", "/a")), s.Canonical(set("/a", "/b")); !bytes.Equal(a, b) {
		t.Errorf("%q and %q", a, b)
	}
}
