package sim

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestTwins shows how connections of one instant are separated: not while their
// traffic is equal, then in the order of it; and that the class of a connection
// without a twin does not change.
func TestTwins(t *testing.T) { synctest.Test(t, testTwins) }

func testTwins(t *testing.T) {
	l := &link{w: &World{time: &timeline{start: time.Now()}}}
	alone := l.classOf()
	time.Sleep(time.Nanosecond)
	l.w.time.readClock()
	a, b := l.classOf(), l.classOf()
	if alone == a || a != b || a.alone || !alone.alone || a.name != "#2" {
		t.Fatalf("classes %+v, %+v, %+v", alone, a, b)
	}
	if alone.after(l, Up, []byte("x")) != alone {
		t.Error("a connection without a twin has changed")
	}
	hello := []byte("hello")
	a2, b2 := a.after(l, Up, hello), b.after(l, Up, hello)
	if a2 != b2 || a2.name != "#2" {
		t.Errorf("twins with equal traffic are %+v and %+v", a2, b2)
	}
	seen := map[*class]string{}
	for _, next := range []*class{
		a2.after(l, Up, []byte("x")), a2.after(l, Up, []byte("y")), a2.after(l, Down, []byte("x")), a2.after(l, Up, nil),
		a2.after(l, Up, []byte{}),
	} {
		seen[next] = next.name
	}
	if len(seen) != 5 {
		t.Errorf("different traffic led to the classes %v", seen)
	}
	time.Sleep(time.Nanosecond)
	l.w.time.readClock()
	if late := a2.after(l, Up, []byte("x")); seen[late] != "" || late.name != "#2.6" {
		t.Errorf("later traffic led to %+v", late)
	}
}
