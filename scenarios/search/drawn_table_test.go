package search_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

var updateDrawn = flag.Bool("update-drawn", false, "write how often each thing is drawn into docs/reference/drawn.md")

// everything is a space in which all that can be drawn is drawn, but for kinds of fault
// that a space has to name, servers of other kinds, and owners that change with each round.
var everything = spaces.Space{
	Redis: 3, Replicas: 2, Nodes: spaces.Span{Min: 1, Max: 7}, Nested: 2,
	Waits:     []file.WaitMode{file.WaitPoll, file.WaitNotify},
	Tries:     true,
	Beside:    true,
	Stock:     true, // without a promise it is every second scenario
	Workloads: []file.WorkloadKind{file.WorkloadRegister, file.WorkloadTransfer, file.WorkloadFill},
}

// things are what a scenario may have or not.
var things = []struct {
	name string
	in   func(sc *file.Scenario) bool
}{
	{"a crowd of 12 clients", func(sc *file.Scenario) bool { return sc.World.Clients == 12 }},
	{"a client that checks its lease",
		func(sc *file.Scenario) bool { return sc.Workload.ChecksUntil != checker.CareNever }},
	{"a section longer than the TTL", func(sc *file.Scenario) bool { return sc.Workload.Hold > sc.Lock.TTL }},
	{"a section of four TTLs", func(sc *file.Scenario) bool { return sc.Workload.Hold > 2*sc.Lock.TTL }},
	{"extensions of the lease by its holder", func(sc *file.Scenario) bool { return sc.Workload.Extend > 0 }},
	{"nested sections", func(sc *file.Scenario) bool { return sc.Workload.Nested > 0 }},
	{"a section of two registers", func(sc *file.Scenario) bool { return sc.Workload.Kind == file.WorkloadTransfer }},
	{"a value that is filled", func(sc *file.Scenario) bool { return sc.Workload.Kind == file.WorkloadFill }},
	{"a limited wait for the store", func(sc *file.Scenario) bool { return sc.Workload.Timeout > 0 }},
	{"a request that ends", func(sc *file.Scenario) bool { return sc.Workload.Request > 0 }},
	{"a context with a deadline", func(sc *file.Scenario) bool { return sc.Workload.Deadline }},
	{"a wait for the lock with a context of its own",
		func(sc *file.Scenario) bool { return sc.Workload.AcquireWithin > 0 }},
	{"clients that ask without waiting", func(sc *file.Scenario) bool { return sc.Workload.Tries }},
	{"an extension or a release whose context ends",
		func(sc *file.Scenario) bool { return sc.Workload.ExtendWithin+sc.Workload.ReleaseWithin > 0 }},
	{"a release that is called again when it fails",
		func(sc *file.Scenario) bool { return sc.Workload.Release == file.ReleaseRetried }},
	{"another name of the resource than `order`",
		func(sc *file.Scenario) bool { return !slices.Contains(sc.Workload.Resources, "order") }},
	{"several resources", func(sc *file.Scenario) bool { return len(sc.Workload.Resources) > 1 }},
	{"a client with two locks at once", func(sc *file.Scenario) bool { return sc.Workload.Beside }},
	{"owner ids that resemble each other", func(sc *file.Scenario) bool { return sc.Lock.Owner == file.OwnerAlike }},
	{"a quorum of a drawn size", func(sc *file.Scenario) bool { return sc.Lock.Nodes > 0 }},
	{"an even quorum", func(sc *file.Scenario) bool { return sc.Lock.Nodes > 0 && sc.Lock.Nodes%2 == 0 }},
	{"servers whose clocks disagree", func(sc *file.Scenario) bool { return sc.World.Skew > 0 }},
	{"waiting for a message", func(sc *file.Scenario) bool { return sc.Lock.Wait == file.WaitNotify }},
	{"the options of go-redis by default", func(sc *file.Scenario) bool { return sc.Lock.Client == file.ClientStock }},
	{"replicas", func(sc *file.Scenario) bool { return sc.World.Replicas > 0 }},
	{"data that survives a crash", func(sc *file.Scenario) bool { return sc.World.Persistence != file.PersistNone }},
	{"two faults or more", func(sc *file.Scenario) bool { return len(sc.Faults) > 1 }},
}

// The page on exploring says how often each thing is drawn, and each kind of fault. With
// -update-drawn the test writes it.
func TestDrawnTable(t *testing.T) {
	const (
		page, runs  = "../../docs/reference/drawn.md", 10_000
		begin, over = "<!-- drawn: go test ./scenarios/search -run TestDrawnTable -update-drawn -->\n",
			"\n<!-- end of drawn -->\n"
	)
	count := map[string]int{}
	for seed := range uint64(runs) {
		sc := search.Draw(spaces.Seeded(seed+1), everything)
		for _, thing := range things {
			if thing.in(sc) {
				count[thing.name]++
			}
		}
		var kinds []string
		for _, f := range sc.Faults {
			kinds = append(kinds, "`"+f.Action.Kind()+"`")
		}
		slices.Sort(kinds)
		for _, kind := range slices.Compact(kinds) {
			count[kind]++
		}
	}
	var table strings.Builder
	table.WriteString("| drawn | scenarios |\n|---|---|\n")
	row := func(name string) {
		fmt.Fprintf(&table, "| %s | %.1f %% |\n", name, 100*float64(count[name])/runs)
	}
	for _, thing := range things {
		if count[thing.name] == 0 || count[thing.name] == runs {
			t.Errorf("%s: in %d of %d scenarios", thing.name, count[thing.name], runs)
		}
		row(thing.name)
	}
	for _, k := range faults.Kinds() {
		if search.ByHand(k.Name) {
			row("`" + k.Name + "`")
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	was, after, closed := strings.Cut(rest, over)
	if !ok || !closed {
		t.Fatalf("%s has no table between %q and %q", page, begin, over)
	}
	if !*updateDrawn {
		if diff := cmp.Diff(was, table.String()); diff != "" {
			t.Errorf("%s (-page +drawn); with -update-drawn the test writes it:\n%s", page, diff)
		}
		return
	}
	if err := os.WriteFile(page, []byte(before+begin+table.String()+over+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
