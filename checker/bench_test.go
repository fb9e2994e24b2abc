package checker

import (
	"fmt"
	"testing"
	"time"
)

// The exact checks take linear time: ns/op must grow by a factor of ten from
// line to line.
func BenchmarkJudge(b *testing.B) {
	for _, c := range []struct {
		name string
		make func(n int) History
	}{
		{"writes", inTurn},
		{"transfers", transfersInTurn},
		{"grants", queueInTurn},
	} {
		for _, n := range []int{100, 1_000, 10_000} {
			h := c.make(n)
			b.Run(fmt.Sprint(c.name, "/", n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Judge(h, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// transfersInTurn is n operations in sections of four, each under its own
// grant.
func transfersInTurn(n int) History {
	h := transfers("", "", nil)
	for i := range n / 4 {
		g := held(i+1, fmt.Sprintf("c%d", i%5), Pos(10+20*i), Pos(25+20*i))
		ops := g.transfer(fmt.Sprintf("w%d.", i), Pos(11+20*i), h.Final[orders], h.Final[savings])
		h.Grants, h.Ops = append(h.Grants, g), append(h.Ops, ops...)
		h.Final[orders], h.Final[savings] = ops[2].ID, ops[3].ID
	}
	return h
}

// queueInTurn is n grants of a fair lock with tokens, each with a refused write
// and the nodes' record of it.
func queueInTurn(n int) History {
	h := story("", nil)
	h.Queue = QueueFair
	for i := range n {
		client := fmt.Sprintf("c%d", i%5)
		g := held(i+1, client, Pos(100+20*i), Pos(115+20*i)).asked(Pos(2 + 20*i)).queued(Pos(3 + 20*i)).token(uint64(i + 1))
		h.Grants, h.Ops = append(h.Grants, g), append(h.Ops, g.write(fmt.Sprint("w", i), g.Granted+1, "").refused())
		h.Holdings = append(h.Holdings, holds(client, g.Granted-1, g.Released))
		h.Deletions = append(h.Deletions, deleted(g.Released, "r0", client, client))
		h.Attempts = append(h.Attempts, waited("c9", Pos(2+20*i), Pos(4+20*i), Pos(5+20*i)))
	}
	return h
}

// The slack of the claims is most of what a search pays for the slack of each of its runs. judging-% is its part of the
// time of a verdict: 2 at most.
func BenchmarkSlack(b *testing.B) {
	h := queueInTurn(16)
	h.Timing = &Timing{At: make([]time.Duration, 1000)}
	for i := range h.Timing.At {
		h.Timing.At[i] = time.Duration(i) * time.Millisecond
	}
	records := holdingsOf(h)
	b.ReportAllocs()
	var judging time.Duration
	for b.Loop() {
		var l leastSlack
		l.ofClaims(h, records)
		b.StopTimer()
		began := time.Now()
		if _, err := Judge(h, nil); err != nil {
			b.Fatal(err)
		}
		judging += time.Since(began)
		b.StartTimer()
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/judging.Seconds(), "judging-%")
}

func BenchmarkCorroborate(b *testing.B) {
	h := inTurn(100)
	v, err := Judge(h, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Corroborate(h, v.Facts); err != nil {
			b.Fatal(err)
		}
	}
}
