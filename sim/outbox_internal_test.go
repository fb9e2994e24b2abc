package sim

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyEntry draws a request out of few values, so that equal ones are common.
func anyEntry(conns []*conn) *rapid.Generator[entry] {
	return rapid.Custom(func(t *rapid.T) entry {
		return entry{
			where: rapid.SampledFrom([]string{"c0", "c0>r0", "r0>c0"}).Draw(t, "where"),
			rank:  rank(rapid.IntRange(0, 2).Draw(t, "rank")),
			conn:  rapid.SampledFrom(conns).Draw(t, "conn"),
			seq:   rapid.Uint64Range(0, 2).Draw(t, "seq"),
			label: rapid.SampledFrom([]string{"", "a"}).Draw(t, "label"),
			data:  rapid.SampledFrom([][]byte{nil, {}, []byte("a"), []byte("b")}).Draw(t, "data"),
		}
	})
}

// TestCompareEntriesOrders shows that the outbox's order is a strict weak
// ordering: antisymmetric, transitive, and so is being equal.
func TestCompareEntriesOrders(t *testing.T) {
	conns := []*conn{nil, newTwin(1), newTwin(1), newTwin(2)}
	rapid.Check(t, func(t *rapid.T) {
		one := anyEntry(conns)
		a, b, c := one.Draw(t, "a"), one.Draw(t, "b"), one.Draw(t, "c")
		ab, bc, ac := compareEntries(a, b), compareEntries(b, c), compareEntries(a, c)
		if ba := compareEntries(b, a); ab != -ba {
			t.Fatalf("a:b is %d, b:a is %d", ab, ba)
		}
		if ab <= 0 && bc <= 0 && (ac > 0 || ac == 0 && (ab != 0 || bc != 0)) {
			t.Fatalf("a:b is %d, b:c is %d, a:c is %d", ab, bc, ac)
		}
	})
}

func newTwin(order int64) *conn {
	c := &conn{}
	c.class.Store(&class{order: order})
	return c
}

// TestOutboxTakesInOrder shows that the order of requests does not depend on
// that of their posting, and that a stream keeps its order.
func TestOutboxTakesInOrder(t *testing.T) {
	conns := []*conn{nil, newTwin(1), newTwin(1), newTwin(2)}
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOf(anyEntry(conns)).Draw(t, "entries")
		shuffled := rapid.Permutation(entries).Draw(t, "shuffled")
		a, b := takeAll(entries), takeAll(shuffled)
		for i := range a {
			if compareEntries(a[i], b[i]) != 0 {
				t.Fatalf("place %d: %v in one order, %v in the other", i, a[i], b[i])
			}
		}
		if !slices.IsSortedFunc(a, compareEntries) || len(a) != len(entries) {
			t.Fatalf("out of order, or %d of %d", len(a), len(entries))
		}
	})
}

// TestJoinWrites shows that the writes of one end of a connection in one
// instant become one write for a Joiner, before the end of the stream, and stay
// separate otherwise.
func TestJoinWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bc", "def"}), 1, 5).Draw(t, "pieces")
		joining, plain := newTwin(1), newTwin(2)
		joining.joins = true
		o := newOutbox()
		for _, c := range []*conn{joining, plain} {
			for _, dir := range []Direction{Up, Down} {
				for i, p := range pieces {
					o.post(entry{where: dir.String(), rank: rankSend, conn: c, seq: uint64(i + 1), dir: dir, data: []byte(p)})
				}
				o.post(entry{where: dir.String(), rank: rankSend, conn: c, seq: uint64(len(pieces) + 1), dir: dir})
			}
		}
		got := map[string]string{}
		for _, e := range joinWrites(o.take(nil)) {
			whose := e.where + map[*conn]string{joining: " joined", plain: " plain"}[e.conn]
			got[whose] += string(e.data) + map[bool]string{true: "end", false: ","}[e.data == nil]
		}
		for _, dir := range []Direction{Up, Down} {
			if text := got[dir.String()+" joined"]; text != strings.Join(pieces, "")+",end" {
				t.Fatalf("%v of %q, joined: %q", dir, pieces, text)
			}
			if text := got[dir.String()+" plain"]; text != strings.Join(pieces, ",")+",end" {
				t.Fatalf("%v of %q, not joined: %q", dir, pieces, text)
			}
		}
	})
}

func takeAll(entries []entry) []entry {
	o := newOutbox()
	for _, e := range entries {
		o.post(e)
	}
	taken := o.take(nil)
	if again := o.take(nil); len(again) > 0 {
		panic("taken twice")
	}
	return taken
}
