package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
)

// leaderSeeds is how many seeds each cell of docs/leaders.md has.
const leaderSeeds = 3

// led is the worst that happened to leaders in some runs.
type led struct{ together, after, leaderless float64 }

// asElection is a scenario of leaders with a lock: a lock that does not renew its lease by itself has it extended in each
// tick, and a leader that is cut off is cut off from the servers of the lock.
func asElection(t *testing.T, name string, l play.Lock) *file.Scenario {
	t.Helper()
	sc, _ := testruns.Load(t, name)
	sc = sc.Clone()
	sc.Detach()
	sc.Lock.Kind, sc.Workload.Extend = l.Name, 1
	play.Equip(&sc.World, l)
	for i, f := range sc.Faults {
		if cut, ok := f.Action.(faults.Partition); ok {
			cut.And = sc.World.Granting()
			sc.Faults[i].Action = cut
		}
	}
	return sc
}

// leads plays a scenario of leaders with a lock, without a fence.
func leads(t *testing.T, name string, l play.Lock) (worst led, ok bool) {
	t.Helper()
	for seed := range uint64(leaderSeeds) {
		o, err := play.Run(asElection(t, name, l), l, play.RunOptions{Seed: seed + 1, Modes: []fence.Mode{fence.None}, Alone: true})
		if testruns.WithoutPostgres(err) {
			return led{}, false
		}
		if err != nil {
			t.Fatalf("%s, lock %s, seed %d: %v", name, l.Name, seed+1, err)
		}
		f := o.Modes[0].Verdict.Facts
		if f.LeaderlessOverdue > 0 {
			t.Errorf("%s, lock %s, seed %d: %v", name, l.Name, seed+1, o.Modes[0].Verdict.Reasons)
		}
		worst = led{max(worst.together, f.ActedAtOnceSeconds), max(worst.after, f.ActedAfterLossSeconds), max(worst.leaderless, f.LeaderlessSeconds)}
	}
	return worst, true
}

// troubles are the scenarios of docs/leaders.md, with the heads of their columns.
var troubles = []struct{ scenario, head string }{
	{"leader-paused", "paused for 20 s"},
	{"leader-stops-slowly", "cut off for 25 s, stops in 3 s"},
	{"leader-clock-jumps", "clocks jump by 1 h"},
	{"leader-crashes", "crashes"},
}

// electionRow is the row of a lock in docs/leaders.md.
func electionRow(t *testing.T, l play.Lock) (row string, ok bool) {
	t.Helper()
	row = "| " + l.Name + " |"
	for _, trouble := range troubles {
		worst, ok := leads(t, trouble.scenario, l)
		if !ok {
			return "", false
		}
		row += fmt.Sprintf(" %s · %s · %s |", inSeconds(worst.together), inSeconds(worst.after), inSeconds(worst.leaderless))
	}
	return row, true
}

func inSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond)
	return fmt.Sprintf("%.1f", d.Seconds())
}

// The table of docs/leaders.md is what the runs show. With -update it is made anew; without LOCKSIM_SOAK=1 the rows of
// some locks are compared.
func TestDocsOfLeaders(t *testing.T) {
	const page, begin, end = "../../docs/leaders.md", "<!-- leaders -->\n", "<!-- end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	stored, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %q and %q", page, begin, end)
	}
	heads, rule := "| lock |", "|---|"
	for _, trouble := range troubles {
		heads += fmt.Sprintf(" [%s](../scenarios/library/%s.yaml) |", trouble.head, trouble.scenario)
		rule += "---|"
	}
	table := heads + "\n" + rule + "\n"
	var all []play.Lock
	for _, name := range kinds.Names() {
		all = append(all, testruns.Kind(t, name))
	}
	right := slices.DeleteFunc(locks(), func(l play.Lock) bool { return strings.HasPrefix(l.Name, kinds.BrokenPrefix) })
	all = append(all, right...)
	if got := strings.Count(stored, "\n| "); !*update && got != len(all) {
		t.Errorf("the table has %d rows, for %d locks: run go test ./cmd/locksim -run DocsOfLeaders -update", got, len(all))
	}
	whole := *update || os.Getenv("LOCKSIM_SOAK") == "1"
	for _, l := range all {
		if !whole && !slices.Contains([]string{"fenced", "redlock-watchdog", "etcd-election"}, l.Name) {
			continue
		}
		row, ok := electionRow(t, l)
		switch {
		case !ok && *update:
			t.Fatalf("there is no PostgreSQL for %s", l.Name)
		case ok && !*update && !strings.Contains(stored, row+"\n"):
			t.Errorf("%s is out of date: run go test ./cmd/locksim -run DocsOfLeaders -update: it lacks\n%s", page, row)
		}
		table += row + "\n"
	}
	if *update {
		made := before + begin + table + end + after
		if d := cmp.Diff(string(text), made); d != "" {
			t.Log(d)
		}
		if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
