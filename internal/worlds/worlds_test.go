package worlds

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/book"
	"locksim/internal/live"
	"locksim/internal/live/server"
	"locksim/internal/soak"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// In a live run the program of the test is that of the clients too.
func TestMain(m *testing.M) {
	if live.Child() {
		return
	}
	os.Exit(m.Run())
}

func labels(l checker.Label, n int) map[checker.Label]int { return map[checker.Label]int{l: n} }

// table has a pair of each sort.
func table() *Table {
	return &Table{Version: Version, Seeds: outcome.Seeds{First: 1, Last: 20}, Times: 5, Pairs: []Pair{
		{Scenario: "gc-pause", Lock: "fenced", Servers: []string{"redis"}, Scale: 0.3, Cells: []Cell{
			{Mode: fence.None, Simulated: labels(checker.Corrupted, 20), Live: labels(checker.Corrupted, 5), Agrees: true},
			{Mode: fence.Seal, Simulated: labels(checker.Rescued, 20), Live: map[checker.Label]int{checker.Rescued: 4,
				checker.Safe: 1}, Reason: "nothing | went wrong"},
		}},
		{Scenario: "late", Lock: "single", Servers: []string{"redis"}, Scale: 0.3, Cells: []Cell{
			{Mode: fence.None, Simulated: labels(checker.Safe, 20), Live: labels(checker.Stuck, 5), Why: "the machine was late"},
		}},
		{Scenario: "votes", Lock: "etcd", Servers: []string{"etcd"}, Scale: 0.4,
			NotPlayed: []string{"no partition between members"}, Cells: []Cell{
				{Mode: fence.None, Simulated: labels(checker.Safe, 20), Live: labels(checker.Corrupted, 5)},
			}},
		{Scenario: "gone", Lock: "single", Servers: []string{"redis"}, Problems: []string{"no server"}, Cells: []Cell{}},
		{Scenario: "inside", Lock: "sql-table", Servers: []string{"postgres"}, Skipped: "its data is in the database",
			Cells: []Cell{}},
	}}
}

func TestTable(t *testing.T) {
	want := Sums{Played: 2, Servers: map[string]int{"redis": 2}, Agree: 1, Explained: 1, Open: 1, Partly: 1, Skipped: 1}
	if d := cmp.Diff(want, table().Sums()); d != "" {
		t.Errorf("the sums (-want +got):\n%s", d)
	}
	open := []string{
		"gc-pause with fenced in mode seal: simulated rescued, live rescued 4, safe 1",
		"gone with single: no server",
	}
	if d := cmp.Diff(open, table().Open()); d != "" {
		t.Errorf("what is open (-want +got):\n%s", d)
	}
	var page, text strings.Builder
	if err := table().Markdown(&page); err != nil {
		t.Fatal(err)
	}
	if err := table().Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| gc-pause | fenced | 0.3 | none | corrupted | corrupted | agree |",
		`| gc-pause | fenced | 0.3 | seal | rescued | rescued 4, safe 1 | **differ**: not explained: nothing \| went wrong |`,
		"| late | single | 0.3 | none | safe | stuck | **differ**: the machine was late |",
		"| votes | etcd | no partition between members |",
		"| gone | single | no server |",
		"| inside | sql-table | its data is in the database |",
		"**2 pairs of scenario and lock played in both worlds (redis: 2), in 3 cells: 1 agree, 1 differ and are explained, " +
			"1 differ and are not explained.",
	} {
		if !strings.Contains(page.String(), line) {
			t.Errorf("the page does not have the line\n%s\nbut is\n%s", line, page.String())
		}
	}
	for _, words := range []string{"differ: not explained: nothing | went wrong", "votes with etcd, not compared: no " +
		"partition", "inside with sql-table, not played live: its data"} {
		if !strings.Contains(text.String(), words) {
			t.Errorf("the text does not have %q:\n%s", words, text.String())
		}
	}
}

func options(t *testing.T, journal string) Options {
	t.Helper()
	sc, err := file.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	seeds := outcome.Seeds{First: 1, Last: 2}
	plan, err := matrix.NewPlan(matrix.Options{Scenarios: []*file.Scenario{sc}, Locks: []string{"single"}, Seeds: seeds})
	if err != nil {
		t.Fatal(err)
	}
	return Options{Plan: plan, Seeds: seeds, ByLock: true, Times: 1, Together: 1, Journal: journal,
		Replay: func(scenario, lock string, _ float64, _ []fence.Mode) string { return scenario + " " + lock }}
}

// A difference is found, a run that the journal has is not made again, and one in other modes is no such run.
func TestCompareGoesOn(t *testing.T) {
	soak.RealTime(t)
	if err := server.Missing(server.Redis); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
			t.Fatal(err)
		}
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
	journal := filepath.Join(t.TempDir(), "live.jsonl")
	all, err := pairsOf(options(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	stored := `{"Scenario":"gc-pause","Source":"` + all[0].digest() +
		`","Lock":"single","Scale":0.3,"Seed":1,"Labels":{"none":"safe","claim":"rescued","cas":"rescued"},"Reasons":{"none":"by hand"}}`
	if err := os.WriteFile(journal, []byte(stored+"\n{\"Scen"), 0o600); err != nil {
		t.Fatal(err)
	}
	tab, err := Compare(context.Background(), options(t, journal))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"gc-pause with single in mode none: simulated corrupted, live safe"}, tab.Open()); d != "" {
		t.Errorf("what is open (-want +got):\n%s", d)
	}
	if why := tab.Pairs[0].Cells[0].Reason; why != "by hand" {
		t.Errorf("the reason is %q", why)
	}
	if err := os.WriteFile(journal, []byte(strings.Replace(stored, `"claim":"rescued",`, "", 1)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, steps := options(t, journal), 0
	o.Step = func(what string, _, _ int) {
		if what == "live runs" {
			steps++
		}
	}
	if tab, err = Compare(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if open := tab.Open(); len(open) > 0 || steps != 1 {
		t.Errorf("%d runs; open is %q", steps, open)
	}
	if b, err := os.ReadFile(journal); err != nil || strings.Count(string(b), "\n") != 2 {
		t.Errorf("the journal is %s, %v", b, err)
	}
}

// A run after a line that was cut off has a line of its own, and a run of another file of that name is not found.
func TestJournal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "live.jsonl")
	if err := os.WriteFile(name, []byte(`{"Scen`), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := pairsOf(options(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	p := all[0]
	j, err := book.Open(name, run.key)
	if err != nil {
		t.Fatal(err)
	}
	made := run{Scenario: p.scenario.Name, Source: p.digest(), Lock: p.lock.Name, Scale: p.scale, Seed: 1,
		Labels: map[fence.Mode]checker.Label{}}
	for _, m := range p.modes {
		made.Labels[m] = checker.Safe
	}
	if err := j.Add(made); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j, err = book.Open(name, run.key); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	if _, ok := find(j, p, 1); !ok {
		t.Error("the run is not found")
	}
	if _, ok := find(j, p, 2); ok {
		t.Error("a run with another seed is found")
	}
	p.scenario.Source = append(p.scenario.Source, "# another"...)
	if _, ok := find(j, p, 1); ok {
		t.Error("a run of another file is found")
	}
}

// A pair that the live world cannot play is skipped with the reason.
func TestCompareSkips(t *testing.T) {
	o := options(t, "")
	o.Scale = 0.001
	all, err := pairsOf(o)
	if err != nil || len(all) != 1 || !strings.Contains(all[0].skipped, "--scale 0.001") &&
		!strings.Contains(all[0].skipped, "redis-server") {
		t.Fatalf("%v, %v", all, err)
	}
	if d := cmp.Diff(subject.DefaultModes(all[0].lock), all[0].modes); d != "" {
		t.Errorf("the modes (-want +got):\n%s", d)
	}
}

// load is a pair of a scenario of the library with a lock, whose live runs in mode none have some labels.
func load(t *testing.T, scenario, name string, scale float64, late time.Duration, labels ...checker.Label) *pair {
	t.Helper()
	sc, err := file.Load(scenario)
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Find(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{scenario: sc, lock: l, scale: scale, modes: []fence.Mode{fence.None}, simulated: counts{}}
	for _, label := range labels {
		p.runs = append(p.runs, run{Labels: map[fence.Mode]checker.Label{fence.None: label}, Late: late})
	}
	return p
}

// A difference is explained by a run of the simulated world that has the label too, as it is, judged as a live one or
// at the scale; then by a machine that was late. One run that none of these explains is enough to leave it open.
func TestExplanation(t *testing.T) {
	o := Options{Seeds: outcome.Seeds{First: 1, Last: 2}}
	for _, c := range []struct {
		pair      *pair
		simulated checker.Label
		want      string // "" for none
	}{
		{load(t, "redis-clock-back", "fenced", 0.3, 0, checker.Safe), checker.Stuck, "seed 1 of the simulated world, " +
			"judged by what a live run knows, is safe too"},
		{load(t, "redis-clock-back", "fenced", 0.3, 0, checker.Safe, checker.Corrupted), checker.Stuck, ""},
		{load(t, "gc-pause", "fenced", 0.3, 0, checker.Safe), checker.Corrupted, ""},
		{load(t, "gc-pause", "fenced", 0.3, time.Second, checker.Safe), checker.Corrupted, "the machine was late in 1 of " +
			"the runs that differ, by up to 1s, and the lock can bear 300ms"},
		// Its clients wait for the store for a second at scale 1, a tenth of a lease.
		{load(t, "late-packet", "fenced", 0.3, 31*time.Millisecond, checker.Safe), checker.Corrupted,
			"the machine was late in 1 of the runs that differ, by up to 31ms, and the lock can bear 30ms"},
		{load(t, "late-packet", "fenced", 0.3, 30*time.Millisecond, checker.Safe), checker.Corrupted, ""},
		{load(t, "split-brain", "redlock", 0.3, 30*time.Millisecond, checker.Unknown), checker.Safe,
			"the machine was late in 1 of the runs that differ, by up to 30ms, and the lock can bear 25ms"},
		{load(t, "split-brain", "redlock", 0.3, 20*time.Millisecond, checker.Unknown), checker.Safe, ""},
		// A lease ends before its grant is there.
		{load(t, "holder-crash", "fenced", 0.001, 0, checker.Overlap), checker.Safe, "seed 1 of the simulated world at " +
			"scale 0.001 is overlap too"},
	} {
		p := c.pair
		p.simulated.add(fence.None, c.simulated, 20)
		if err := explain(t.Context(), []*pair{p}, o); err != nil {
			t.Fatal(err)
		}
		if why := p.explanation(fence.None); why != c.want {
			t.Errorf("%s with %s: %q, want %q; twins %v", p.scenario.Name, p.lock.Name, why, c.want, p.twins)
		}
	}
}

// Live runs differ from the simulated world if one of them has a label that no seed has, a harsher or a milder one,
// unless a seed that is judged as a live run has it, or the machine was late. Without all faults nothing is compared.
func TestDifferences(t *testing.T) {
	const none, claim = fence.None, fence.Claim
	type labelled = map[fence.Mode]checker.Label
	for name, c := range map[string]struct {
		scenario, lock string
		late           time.Duration
		unable         string
		live           []labelled
		want           []string // the differences, and what explains each
	}{
		"as simulated": {scenario: "gc-pause", lock: "fenced",
			live: []labelled{{none: checker.Corrupted, claim: checker.Rescued}}},
		"a milder one of three, in one mode": {scenario: "gc-pause", lock: "fenced", live: []labelled{
			{none: checker.Corrupted, claim: checker.Rescued}, {none: checker.Safe, claim: checker.Rescued},
			{none: checker.Corrupted, claim: checker.Rescued},
		}, want: []string{"mode none is safe in 1 of 3 live runs, and never in the simulated world (20 seeds: corrupted); "}},
		"two others": {scenario: "gc-pause", lock: "fenced", live: []labelled{{none: checker.Safe}, {none: checker.Stuck}},
			want: []string{"mode none is stuck in 1 and safe in 1 of 2 live runs, and never in the simulated world (20 seeds: " +
				"corrupted); "}},
		"a harsher one": {scenario: "calm", lock: "fenced", live: []labelled{{none: checker.Corrupted}},
			want: []string{"mode none is corrupted in 1 of 1 live run, and never in the simulated world (20 seeds: safe); "}},
		"of a machine that was late": {scenario: "gc-pause", lock: "fenced", late: time.Second,
			live: []labelled{{none: checker.Safe}},
			want: []string{"mode none is safe in 1 of 1 live run, and never in the simulated world (20 seeds: corrupted); " +
				"the machine was late in 1 of the runs that differ, by up to 1s, and the lock can bear 300ms"}},
		"what only the simulated world judges": {scenario: "redis-clock-back", lock: "fenced",
			live: []labelled{{none: checker.Safe}},
			want: []string{"mode none is safe in 1 of 1 live run, and never in the simulated world (1 seed: stuck); " +
				"seed 1 of the simulated world, judged by what a live run knows, is safe too"}},
		"a fault was not played": {scenario: "gc-pause", lock: "fenced", unable: "no",
			live: []labelled{{none: checker.Safe}}},
	} {
		p := load(t, c.scenario, c.lock, 0.3, 0)
		var runs []*outcome.Outcome
		for i, labels := range c.live {
			o := &outcome.Outcome{Scenario: live.Scaled(p.scenario, 0.3), Lock: c.lock, Seed: uint64(i + 1),
				Live: &outcome.Live{Scale: 0.3}}
			for _, mode := range []fence.Mode{none, claim} {
				if l, ok := labels[mode]; ok {
					o.Modes = append(o.Modes, outcome.ModeRun{Mode: mode, Verdict: checker.Verdict{Label: l}, Late: c.late,
						NotPlayed: []string{c.unable}})
				}
			}
			runs = append(runs, o)
		}
		all, err := Differences(t.Context(), p.scenario, p.lock, runs)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range all {
			got = append(got, d.String()+"; "+d.Why)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
