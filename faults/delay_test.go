package faults_test

import (
	"testing"
	"time"

	"locksim/faults"
)

func TestDelay(t *testing.T) {
	bubble(t, "delays one chunk and what is behind it, once", func(t *testing.T) {
		l := newLine(&faults.Delay{By: 10 * time.Second})
		l.send("a")
		time.Sleep(4 * time.Second)
		l.send("b")
		time.Sleep(6*time.Second - 1)
		l.far.want(t, "")
		time.Sleep(time.Nanosecond)
		l.far.want(t, "ab")
		l.send("c")
		l.far.want(t, "abc")
		_ = l.Close()
		l.far.want(t, "abc$")
	})
	bubble(t, "lets so many pass before, on any connection", func(t *testing.T) {
		delay := &faults.Delay{By: 10 * time.Second, Skip: 2}
		one, two := newLine(delay), newLine(delay)
		one.send("1")
		two.send("2") // in the same instant, and so it counts with the first
		time.Sleep(time.Nanosecond)
		one.send("3")
		time.Sleep(time.Nanosecond)
		two.send("4")
		one.far.want(t, "13")
		two.far.want(t, "2")
		time.Sleep(10 * time.Second)
		two.far.want(t, "24")
		_, _ = one.Close(), two.Close()
	})
	bubble(t, "other connections overtake it", func(t *testing.T) {
		delay := &faults.Delay{By: 10 * time.Second}
		one, two := newLine(delay), newLine(delay)
		one.send("1")
		time.Sleep(time.Nanosecond)
		two.send("2")
		two.far.want(t, "2")
		one.far.want(t, "")
		time.Sleep(10*time.Second - 1)
		one.far.want(t, "1")
		_, _ = one.Close(), two.Close()
	})
	bubble(t, "what comes in one instant is late together", func(t *testing.T) {
		delay := &faults.Delay{By: 10 * time.Second}
		one, two := newLine(delay), newLine(delay)
		one.send("1")
		two.send("2")
		one.far.want(t, "")
		two.far.want(t, "")
		time.Sleep(10 * time.Second)
		one.far.want(t, "1")
		two.far.want(t, "2")
		_, _ = one.Close(), two.Close()
	})
	bubble(t, "waits for a chunk, and the end is none", func(t *testing.T) {
		delay := &faults.Delay{By: 10 * time.Second}
		one, two := newLine(delay), newLine(delay)
		one.send("")
		_ = one.Close()
		one.far.want(t, "$")
		time.Sleep(time.Minute)
		two.send("2")
		two.far.want(t, "")
		_ = two.Close()
		time.Sleep(10 * time.Second)
		two.far.want(t, "2$")
	})
	bubble(t, "passes on at once when it is removed", func(t *testing.T) {
		l := newLine(&faults.Delay{By: 10 * time.Second})
		l.send("a")
		l.send("b")
		l.far.want(t, "")
		l.heal()
		l.far.want(t, "ab")
		_ = l.Close()
	})
	bubble(t, "remembers across an interrupt", func(t *testing.T) {
		l := newLine(&faults.Delay{By: 10 * time.Second})
		l.send("a")
		time.Sleep(4 * time.Second)
		l.disturb()
		l.send("b")
		l.far.want(t, "")
		time.Sleep(6 * time.Second)
		l.far.want(t, "ab")
		_ = l.Close()
	})
}
