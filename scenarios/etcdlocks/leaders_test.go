package etcdlocks_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// The leader crashes, is cut off or stalls, and others lead: the tokens of the grants go on rising, and in no fencing
// mode is anything lost or refused, since the log has every grant (Ongaro and Ousterhout 2014, section 5.4). A run
// counts if a client was granted the lock before another one leads, and another client after that. LOCKSIM_SOAK=1 is
// 5,400 runs.
func TestTokensRiseOverLeaders(t *testing.T) {
	runs := testruns.Soak(t, 2000, 0.01)
	evidence, changes := map[fence.Mode]int{}, 0
	for seed := range uint64(runs) {
		sc, err := file.Parse("leaders.yaml", []byte(withoutLeader(rand.New(rand.NewPCG(seed, 14)))))
		if err != nil {
			t.Fatal(err)
		}
		mode := fence.Modes()[int(seed)%len(fence.Modes())]
		o, err := scenarios.Run(sc, etcdlocks.Lock(), scenarios.RunOptions{Seed: seed + 1, Modes: []fence.Mode{mode},
			Alone: true})
		if err != nil {
			t.Fatalf("seed %d: %v", seed+1, err)
		}
		m := o.Modes[0]
		if m.Verdict.Label != checker.Safe {
			t.Errorf("seed %d, mode %s: %s: %v", seed+1, mode, m.Verdict.Label, m.Verdict.Reasons)
		}
		grants := slices.SortedFunc(slices.Values(m.History.Grants),
			func(a, b checker.Grant) int { return int(a.Granted - b.Granted) })
		for i := 1; i < len(grants); i++ {
			if grants[i].Token <= grants[i-1].Token {
				t.Errorf("seed %d: %s was granted token %d, and then %s token %d", seed+1,
					grants[i-1].Client, grants[i-1].Token, grants[i].Client, grants[i].Token)
			}
		}
		if n := leaderChanges(m.Trace, grants); n > 0 {
			changes += n
			evidence[mode]++
		}
	}
	total := 0
	for _, n := range evidence {
		total += n
	}
	t.Logf("%d runs, %d of them are evidence: %v; %d other leaders between two grants", runs, total, evidence, changes)
	if total*2 < runs {
		t.Errorf("only %d of %d runs have another leader between two grants", total, runs)
	}
}

// withoutLeader is a scenario in which the leader does not lead for a while, once or twice.
func withoutLeader(r *rand.Rand) string {
	text := `name: leaders
world: {etcd: 3, clients: 3, latency: 1ms..5ms}
lock: {kind: etcd, ttl: 10s}
workload: {rounds: 3, hold: 1s, think: 500ms}
faults:
`
	at := 200 + r.IntN(1500)
	for range 1 + r.IntN(2) {
		length := 2000 + r.IntN(2000)
		switch r.IntN(4) {
		case 0, 1:
			how := []string{"process", "power"}[r.IntN(2)]
			text += fmt.Sprintf("  - {at: %dms, crash: {process: leader, mode: %s}}\n  - {at: %dms, restart: {process: "+
				"leader}}\n", at, how, at+length)
		case 2:
			text += fmt.Sprintf("  - {at: %dms, partition: {between: [leader], for: %dms}}\n", at, length)
		case 3:
			text += fmt.Sprintf("  - {at: %dms, stall: {node: leader, for: %dms}}\n", at, length)
		}
		at += length + 1000 + r.IntN(2000)
	}
	return text
}

// leaderChanges counts how often another member leads between the grants of different clients.
func leaderChanges(t *trace.Trace, grants []checker.Grant) (count int) {
	for i := 1; i < len(grants); i++ {
		before, after := grants[i-1], grants[i]
		if before.Client != after.Client && slices.ContainsFunc(t.Events, func(e trace.Event) bool {
			_, elected := e.What.(trace.Elected)
			return elected && checker.Pos(e.N) > before.Granted && checker.Pos(e.N) < after.Granted
		}) {
			count++
		}
	}
	return count
}
