package faults_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
	"pgregory.net/rapid"

	"locksim/faults"
)

// Whatever the sender and the network do, what is late arrives whole and in
// order, and the end after it.
func TestLateLosesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 40).Draw(rt, "steps")
		late := func(i int) toxics.Toxic {
			if i%2 == 0 {
				return &faults.Jitter{Add: time.Duration(i) * ms, Spread: 30 * ms, Seed: uint64(i)}
			}
			return &faults.Delay{By: time.Duration(i) * ms}
		}
		rapid.SyncTest(rt, func(rt *rapid.T) {
			l, sent := newLine(late(1)), ""
			for i, step := range steps {
				switch step {
				case 0, 1, 2:
					text := fmt.Sprint(i, ";")
					l.send(text)
					sent += text
				case 3:
					l.disturb()
				case 4:
					time.Sleep(time.Duration(i) * ms)
				case 5:
					l.swap(late(i))
				case 6:
					l.heal()
					l.far.want(rt, sent)
				}
			}
			_ = l.Close()
			time.Sleep(time.Minute)
			l.far.want(rt, sent+"$")
		})
	})
}

// One toxic of each kind serves many connections at once; the race detector
// looks on. Of each connection a prefix arrives, all of it where nothing is
// lost, and Lose strikes as often as it was told.
func TestToxicsServeManyConnections(t *testing.T) {
	const conns, chunks = 20, 30
	for name, toxic := range map[string]toxics.Toxic{
		"hold": new(faults.Hold), "drop": new(faults.Drop), "lose": &faults.Lose{Count: 3},
		"delay": &faults.Delay{By: time.Second}, "jitter": &faults.Jitter{Add: ms, Spread: 10 * ms, Seed: 1},
	} {
		bubble(t, name, func(t *testing.T) {
			var done sync.WaitGroup
			lines := make([]*line, conns)
			for i := range lines {
				lines[i] = newLine(toxic)
				done.Go(func() {
					time.Sleep(time.Duration(i)) // each instant has one connection
					for range chunks {
						if !lines[i].stub.Closed() {
							lines[i].send("x")
						}
						time.Sleep(ms)
					}
				})
			}
			done.Wait()
			ended := 0
			for _, l := range lines {
				l.heal()
				synctest.Wait()
				if l.stub.Closed() {
					ended++
				} else if got := l.far.String(); len(got) != chunks {
					t.Errorf("%d chunks of %d arrived", len(got), chunks)
				}
				_ = l.Close()
			}
			if want := map[string]int{"lose": 3, "drop": conns}[name]; ended != want {
				t.Errorf("%d connections were ended, want %d", ended, want)
			}
		})
	}
}
