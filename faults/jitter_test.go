package faults_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"

	"locksim/faults"
)

const ms = time.Millisecond

func TestJitter(t *testing.T) {
	bubble(t, "is late to the nanosecond", func(t *testing.T) {
		l := newLine(&faults.Jitter{Add: 50 * ms})
		l.send("a")
		time.Sleep(50*ms - 1)
		l.far.want(t, "")
		time.Sleep(time.Nanosecond)
		l.far.want(t, "a")
		_ = l.Close()
		time.Sleep(50*ms - 1)
		l.far.want(t, "a")
		time.Sleep(time.Nanosecond)
		l.far.want(t, "a$")
	})
	bubble(t, "counts from the arrival of each chunk", func(t *testing.T) {
		l := newLine(&faults.Jitter{Add: 50 * ms})
		l.send("a")
		time.Sleep(20 * ms)
		l.send("b")
		time.Sleep(30 * ms)
		l.far.want(t, "a")
		time.Sleep(20 * ms)
		l.far.want(t, "ab")
		_ = l.Close()
		time.Sleep(time.Second)
	})
	bubble(t, "what comes behind it hastens nothing", func(t *testing.T) {
		l := newLine(&faults.Jitter{Add: 50 * ms})
		l.send("a")
		time.Sleep(50*ms - 1)
		l.send("b")
		l.disturb()
		l.far.want(t, "")
		time.Sleep(time.Nanosecond)
		l.far.want(t, "a")
		_ = l.Close()
		time.Sleep(time.Second)
	})
	bubble(t, "passes on at once when it is removed", func(t *testing.T) {
		l := newLine(&faults.Jitter{Add: time.Hour})
		l.send("a")
		l.send("b")
		_ = l.Close()
		l.far.want(t, "")
		l.remove()
		l.far.want(t, "ab$")
	})
	bubble(t, "an interrupt does not begin the wait again", func(t *testing.T) {
		l := newLine(&faults.Jitter{Add: 50 * ms})
		l.send("a")
		time.Sleep(30 * ms)
		l.disturb()
		l.far.want(t, "")
		time.Sleep(20 * ms)
		l.far.want(t, "a")
		_ = l.Close()
		time.Sleep(time.Second)
	})
	bubble(t, "nothing at all is no reason to wait", func(t *testing.T) {
		l := newLine(new(faults.Jitter))
		l.send("a")
		l.far.want(t, "a")
		_ = l.Close()
		l.far.want(t, "a$")
	})
	bubble(t, "takes the longest spread", func(t *testing.T) {
		l := newLine(&faults.Jitter{Spread: math.MaxInt64})
		l.send("a")
		time.Sleep(time.Minute)
		l.far.want(t, "")
		l.heal()
		l.far.want(t, "a")
		_ = l.Close()
	})
}

// arrivals are the instants at which the bytes of n chunks come out that go in
// 10 ms apart, since the first went in.
func arrivals(t *testing.T, toxic toxics.Toxic, n int) []time.Duration {
	var at []time.Duration
	synctest.Test(t, func(t *testing.T) {
		in, out := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk)
		stub := toxics.NewToxicStub(in, out)
		go stub.Run(&toxics.ToxicWrapper{Toxic: toxic, Toxicity: 1})
		start := time.Now()
		go func() {
			for i := range n {
				in <- &stream.StreamChunk{Data: []byte{byte(i)}}
				time.Sleep(10 * ms)
			}
			close(in)
		}()
		for chunk := range out {
			if int(chunk.Data[0]) != len(at) {
				t.Errorf("chunk %d comes as number %d", chunk.Data[0], len(at))
			}
			at = append(at, time.Since(start))
		}
	})
	return at
}

// The delays of a seed are always the same, those of another are others, they
// fill the spread, and no chunk overtakes another.
func TestJitterDrawsFromItsSeed(t *testing.T) {
	const n = 200
	jitter := func(seed uint64) *faults.Jitter { return &faults.Jitter{Add: 20 * ms, Spread: 5 * ms, Seed: seed} }
	one, again, other := arrivals(t, jitter(1), n), arrivals(t, jitter(1), n), arrivals(t, jitter(2), n)
	if fmt.Sprint(one) != fmt.Sprint(again) {
		t.Errorf("seed 1 twice: %v, then %v", one, again)
	}
	if fmt.Sprint(one) == fmt.Sprint(other) {
		t.Error("seeds 1 and 2 draw the same delays")
	}
	least, most := time.Hour, time.Duration(0)
	for i, at := range one {
		d := at - time.Duration(i)*10*ms
		least, most = min(least, d), max(most, d)
	}
	if len(one) != n || least < 20*ms || least > 21*ms || most > 25*ms || most < 24*ms {
		t.Errorf("%d chunks, late by %v to %v; want all of the spread from 20ms to 25ms", len(one), least, most)
	}
}

// A spread far above the distance of the chunks may not disorder them.
func TestJitterKeepsTheOrder(t *testing.T) {
	at := arrivals(t, &faults.Jitter{Spread: time.Second, Seed: 1}, 100)
	if len(at) != 100 {
		t.Errorf("%d chunks of 100 arrived", len(at))
	}
}
