// Package testleaders has the tables of docs/how-to/leaders.md, which are made and compared by tests of several
// modules.
package testleaders

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// seeds is how many seeds each cell has.
const seeds = 3

// Table is a table of the page.
type Table struct {
	// Page is the file of the page, and Begin the line above the table.
	Page, Begin string
	// Locks are those of the rows.
	Locks []subject.Lock
	// Some are the names of those whose rows are compared without LOCKSIM_SOAK=1.
	Some []string
	// Again is the command that makes the table anew.
	Again string
	// Missing reports whether a lock cannot be played here. Nil is for locks that always can.
	Missing func(err error) bool
}

const end = "<!-- end -->"

// troubles are the scenarios, with the heads of their columns.
var troubles = []struct{ scenario, head string }{
	{"leader-paused", "paused for 20 s"},
	{"leader-stops-slowly", "cut off for 25 s, stops in 3 s"},
	{"leader-clock-jumps", "clocks jump by 1 h"},
	{"leader-crashes", "crashes"},
}

// Test compares the table with what the runs show. With update it is made anew.
func (of Table) Test(t *testing.T, update bool) {
	t.Helper()
	text, err := os.ReadFile(of.Page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), of.Begin+"\n")
	stored, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %q and %q", of.Page, of.Begin, end)
	}
	heads, rule := "| lock |", "|---|"
	for _, trouble := range troubles {
		heads += fmt.Sprintf(" [%s](../../scenarios/library/%s.yaml) |", trouble.head, trouble.scenario)
		rule += "---|"
	}
	table := heads + "\n" + rule + "\n"
	if got := strings.Count(stored, "\n| "); !update && got != len(of.Locks) {
		t.Errorf("the table has %d rows, for %d locks: run %s", got, len(of.Locks), of.Again)
	}
	whole := update || os.Getenv("LOCKSIM_SOAK") == "1"
	for _, l := range of.Locks {
		if !whole && !slices.Contains(of.Some, l.Name) {
			continue
		}
		row, ok := of.row(t, l)
		switch {
		case !ok && update:
			t.Fatalf("%s cannot be played here", l.Name)
		case ok && !update && !strings.Contains(stored, row+"\n"):
			t.Errorf("%s is out of date: run %s: it lacks\n%s", of.Page, of.Again, row)
		}
		table += row + "\n"
	}
	if update {
		made := before + of.Begin + "\n" + table + end + after
		if err := os.WriteFile(of.Page, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (of Table) row(t *testing.T, l subject.Lock) (row string, ok bool) {
	t.Helper()
	row = "| " + l.Name + " |"
	for _, trouble := range troubles {
		worst, ok := of.leads(t, trouble.scenario, l)
		if !ok {
			return "", false
		}
		row += fmt.Sprintf(" %s · %s · %s |", inSeconds(worst.together), inSeconds(worst.after), inSeconds(worst.leaderless))
	}
	return row, true
}

// led is the worst that happened to leaders in some runs.
type led struct{ together, after, leaderless float64 }

// leads plays a scenario of leaders with a lock, without a fence.
func (of Table) leads(t *testing.T, name string, l subject.Lock) (worst led, ok bool) {
	t.Helper()
	t.Helper()
	for seed := range uint64(seeds) {
		o, err := play.Run(asElection(t, name, l), l, play.RunOptions{Seed: seed + 1, Modes: []fence.Mode{fence.None},
			Alone: true})
		if err != nil && of.Missing != nil && of.Missing(err) {
			return led{}, false
		}
		if err != nil {
			t.Fatalf("%s, lock %s, seed %d: %v", name, l.Name, seed+1, err)
		}
		f := o.Modes[0].Verdict.Facts
		if f.LeaderlessOverdue > 0 {
			t.Errorf("%s, lock %s, seed %d: %v", name, l.Name, seed+1, o.Modes[0].Verdict.Reasons)
		}
		worst = led{max(worst.together, f.ActedAtOnceSeconds), max(worst.after, f.ActedAfterLossSeconds),
			max(worst.leaderless, f.LeaderlessSeconds)}
	}
	return worst, true
}

// asElection is a scenario of leaders with a lock: a lock that does not renew its lease by itself has it extended in
// each tick, and a leader that is cut off is cut off from the servers of the lock.
func asElection(t *testing.T, name string, l subject.Lock) *file.Scenario {
	t.Helper()
	sc, err := file.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	sc = sc.Clone()
	sc.Detach()
	sc.Lock.Kind, sc.Workload.Extend = l.Name, 1
	subject.Equip(&sc.World, l)
	for i, f := range sc.Faults {
		if cut, ok := f.Action.(faults.Partition); ok {
			cut.And = sc.World.Granting()
			sc.Faults[i].Action = cut
		}
	}
	return sc
}

func inSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond)
	return fmt.Sprintf("%.1f", d.Seconds())
}
