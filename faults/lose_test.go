package faults_test

import (
	"testing"
	"time"

	"locksim/faults"
)

func TestLose(t *testing.T) {
	bubble(t, "loses one chunk and ends the connection", func(t *testing.T) {
		lose := &faults.Lose{Count: 1}
		one := newLine(lose)
		one.send("a")
		one.far.want(t, "$")
		two := newLine(lose)
		time.Sleep(time.Nanosecond)
		two.send("b")
		two.far.want(t, "b")
		_, _ = one.Close(), two.Close()
		two.far.want(t, "b$")
	})
	bubble(t, "takes what still comes, so that nobody is stuck", func(t *testing.T) {
		l := newLine(&faults.Lose{Count: 1})
		for range 3 {
			l.send("a")
		}
		l.far.want(t, "$")
		_ = l.Close()
	})
	bubble(t, "loses one on each of two connections", func(t *testing.T) {
		lose := &faults.Lose{Count: 2}
		for _, want := range []string{"$", "$", "a"} {
			l := newLine(lose)
			time.Sleep(time.Nanosecond)
			l.send("a")
			l.far.want(t, want)
			_ = l.Close()
		}
	})
	bubble(t, "what comes in one instant is lost together", func(t *testing.T) {
		lose := &faults.Lose{Count: 1}
		one, two := newLine(lose), newLine(lose)
		one.send("1")
		two.send("2")
		one.far.want(t, "$")
		two.far.want(t, "$")
		_, _ = one.Close(), two.Close()
	})
	bubble(t, "lets so many pass before", func(t *testing.T) {
		lose := &faults.Lose{Count: 1, Skip: 2}
		one, two := newLine(lose), newLine(lose)
		one.send("a")
		time.Sleep(time.Nanosecond)
		two.send("b")
		time.Sleep(time.Nanosecond)
		two.send("c")
		two.far.want(t, "b$")
		time.Sleep(time.Nanosecond)
		one.send("d")
		one.far.want(t, "ad")
		_, _ = one.Close(), two.Close()
	})
	bubble(t, "an end and an empty chunk are no loss", func(t *testing.T) {
		lose := &faults.Lose{Count: 1}
		one, two := newLine(lose), newLine(lose)
		_ = one.Close()
		one.far.want(t, "$")
		two.send("")
		two.disturb()
		two.far.want(t, "")
		two.send("b")
		two.far.want(t, "$")
		_ = two.Close()
	})
	bubble(t, "loses nothing once it is removed", func(t *testing.T) {
		l := newLine(&faults.Lose{Count: 1})
		l.heal()
		l.send("a")
		l.far.want(t, "a")
		_ = l.Close()
	})
}
