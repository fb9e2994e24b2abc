package html_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/outcome/tally"
	"locksim/sim/trace"
)

// campaignOptions set every option.
var campaignOptions = html.CampaignOptions{
	Page:     func(i int) string { return fmt.Sprintf("found-%d.html", i) },
	Replay:   func(i int) string { return fmt.Sprintf("locksim explore --seed %d", i) },
	Again:    "locksim explore --lock mylock --runs 20",
	Versions: []reports.Version{{Name: "Go", Version: "1.26.1"}},
}

func explorationPage(t *testing.T, e *explorations.Exploration, opt html.CampaignOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Exploration(&b, e, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sweepPage(t *testing.T, s *sweeps.Sweep, opt html.CampaignOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Sweep(&b, s, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// aSweep is a sweep written by hand: of three placements and a pair, one run is
// corrupted, and two have a violation that was not examined.
func aSweep() *sweeps.Sweep {
	plan := &sweeps.Plan{Scenario: "gc-pause", Lock: "mylock", Seed: 3, Judge: explorations.JudgePromise, Boundaries: 291,
		Placements: 3, Equivalent: 286,
		Idle: 12, Pairs: 1, AllPairs: 1500, Block: 100,
		Servers: []sweeps.Server{{Name: "e0", Kind: "etcd", Role: trace.RoleMember, Placements: 2},
			{Name: "e1", Kind: "etcd", Role: trace.RoleMember}},
		Unplaced: []sweeps.Unplaced{{Fault: "evict", Servers: []string{"e0", "e1"}, Why: "they have no keys"},
			{Fault: "flush", Servers: []string{"e0", "e1"}, Why: "they have no keys"}, {Fault: "crash", Why: "nobody crashes"}}}
	b := sweeps.Block{Tally: sweeps.Tally{Tally: tally.Tally{Runs: 4, Evidence: 3, Violating: 3,
		Violations: map[checker.Label]int{checker.Corrupted: 1, checker.Stuck: 2},
		Vacuous:    map[string]int{"nobody contended": 1}}, Pairs: 1, Reduced: 1,
		Kinds: map[string]tally.FaultTally{"pause": {Planned: 2, Struck: 1, Violating: 1}, "crash": {Planned: 1, Struck: 1}}},
		Failures: failure.Failures{{Shape: "a", Runs: 1}, {Shape: "stuck in mode none: crash", Runs: 2,
			Placed: &failure.Placed{Faults: "crash c0"}}}}
	found := &failure.Failure{Placed: &failure.Placed{Faults: "pause c0 for 15s, at 1s", Kinds: []string{"pause"}},
		Lock: "mylock", Seed: 3, Drawn: 1, Faults: 1, Same: 9, Again: 9, Replays: 10, Divergence: "event 7 differs",
		Shape:      "corrupted in mode none: pause",
		Violations: []outcome.Violation{{Mode: fence.None, Label: checker.Corrupted}},
		Reasons:    []string{"c0's write was lost"},
		Story: []failure.Step{{N: 1, Actor: "c0", Text: "asks for the lock"}, {N: 441, At: 10511066 * time.Microsecond,
			Actor: "s0", Text: "takes write c0.w2", Fatal: true}, {Skipped: 3}},
		Run: &outcome.RunFile{Source: "name: swept\n"}}
	return sweeps.Assemble(plan, map[int]sweeps.Block{0: b}, map[string]*failure.Failure{"a": found})
}

func TestExplorationSaysAll(t *testing.T) {
	html := explorationPage(t, testreports.Exploration(), campaignOptions)
	testreports.CheckTexts(t, html, []string{
		"<h1>Exploration of mylock</h1>",
		"A violation in 2 of 19 runs that tested the lock; with 95 % confidence fewer than 30 % of such runs break it.",
		`<dt>runs were made, from seed 1 on</dt><dd>20</dd>`, `<dd>5 minutes</dd>`, `<dd>1 of 2</dd>`, `<dd>&lt; 30 %</dd>`,
		`<th scope="row">pause</th><td class="n">4</td><td class="n">3</td>`, "75 %",
		`<th scope="row">crash</th><td class="n">never</td>`,
		`<th scope="row">nobody contended</th><td class="n">1</td>`,
		"1. stuck in mode none: pause", "1 run like it, the first with seed 14", "the lock was never free again",
		`<a href="found-1.html">The report of this run</a>`, "asks for the lock",
		"The schedule, 1 fault of the 3 that were drawn", "<code>name: drawn\n</code>",
		"<code>locksim explore --seed 1</code>", "<code>locksim explore --lock mylock --runs 20</code>", "1.26.1",
		"Runs without a violation are no proof.", "judged as if it promised",
	}, []string{"ZgotmplZ", "<no value>", "%!", "&lt;nil"})
}

// The page of an exploration without a violation has the estimate of what was not seen.
func TestExplorationSaysWhatIsNew(t *testing.T) {
	e := testreports.Exploration()
	e.Summary.Violating, e.Summary.Failures, e.Summary.RateBound = 0, nil, tally.RateBound(0, 19)
	e.Summary.Novelty = &tally.Novelty{Courses: 9, Once: 4, Rate: 4. / 19}
	testreports.CheckTexts(t, explorationPage(t, e, campaignOptions), []string{
		"That is no proof. Not seen yet: about 21 % of further runs that test the lock would still try something new",
		"<dt>of further runs that test the lock would still try something new</dt><dd>≈ 21 %</dd>",
	}, nil)
}

func TestSweepSaysAll(t *testing.T) {
	html := sweepPage(t, aSweep(), campaignOptions)
	testreports.CheckTexts(t, html, []string{
		"<h1>Sweep of gc-pause with mylock</h1>",
		"3 placements of one fault at 291 boundaries, and 1 pairs, a sample of 1,500: 2 classes of violation, smallest " +
			"shown.",
		"286 more placements are left out: the fault would find its target in the same state",
		"So are 12 jumps of client clocks", "<dd>291</dd>", "of 1,500 pairs that there are", "<dt>pairs break the promise",
		`<th scope="row">pause: a client stops for one and a half TTLs</th><td class="n">2</td><td class="n">1</td><td class="n">1</td>`,
		`<th scope="row">e0, etcd server, member</th><td class="n">2</td>`,
		`<th scope="row">e1, etcd server, member</th><td class="n">0</td>`,
		"Not placed: evict, flush on e0, e1: they have no keys. Not placed: crash: nobody crashes.",
		"1. corrupted in mode none: pause", "the first: pause c0 for 15s, at 1s",
		"Not deterministic: 9 of 10 runs of it were equal. event 7 differs",
		`<tr class="fatal"><td class="n">441</td><td class="n">10.511066s</td><td><b>s0</b></td><td>takes write c0.w2 <span class="decisive">decisive step</span></td></tr>`,
		`<td colspan="4">… 3 lines left out</td>`, "The schedule, 1 fault</summary>",
		"2. stuck in mode none: crash", "It has not been examined.",
		"one workload and one seed", "judged by its own promise",
	}, []string{"ZgotmplZ", "<no value>", "%!"})
	if n := strings.Count(html, `<a href="found-`); n != 1 {
		t.Errorf("%d links to reports, want that of the violation that was examined", n)
	}
}

// The problems of a result are at the head of its page.
func TestCampaignDoubts(t *testing.T) {
	e := testreports.Exploration()
	e.Complete, e.Missing, e.Timing.Shard = false, 3, "1/4"
	e.Summary.Unsteady, e.Summary.Nondeterministic = &tally.BadRun{Seed: 7, Why: "first divergent event:\na"}, 2
	head, _, _ := strings.Cut(explorationPage(t, e, html.CampaignOptions{}), "<main>")
	testreports.CheckTexts(t, head, []string{"This is shard 1/4: 3 jobs of 10 runs are missing.",
		"seed 7: NOT DETERMINISTIC, as were 2 runs in all"}, nil)
	s := aSweep()
	s.Complete, s.Missing = false, 1
	s.Summary.Failures[0].Lock = "single" // a lock of this project has to be deterministic
	head, _, _ = strings.Cut(sweepPage(t, s, html.CampaignOptions{}), "<main>")
	testreports.CheckTexts(t, head, []string{"INCOMPLETE: 1 job of 100 runs have no result.",
		"a violation replays 9 times of 10"}, nil)
	e = testreports.Exploration()
	e.StoppedAt = new(1)
	testreports.CheckTexts(t, explorationPage(t, e, html.CampaignOptions{}),
		[]string{"A run with a violation ended the exploration, after 20 runs."},
		[]string{"under this generator</dt>", "Make it again", `href="found`})
}

// Every text of a lock, a scenario or a run is text, and the page requests nothing.
func TestCampaignEscapes(t *testing.T) {
	const evil = `<img src=x onerror=alert(1)></script><!-- "'` + "\x1b[31m"
	e, s := testreports.Exploration(), aSweep()
	e.Plan.Lock, s.Plan.Lock, s.Plan.Scenario = evil, evil, evil
	for _, f := range []*failure.Failure{&e.Summary.Failures[0], &s.Summary.Failures[0]} {
		f.Reasons, f.Story, f.Divergence, f.Run.Source = []string{evil}, []failure.Step{{N: 1, Actor: evil, Text: evil},
			{Skipped: 2}}, evil, evil
	}
	e.Summary.Failures[0].Shape, s.Summary.Failures[0].Shape, s.Summary.Failures[0].Placed.Faults = evil, evil, evil
	e.Summary.Vacuous = map[string]int{evil: 1}
	e.Summary.Broken = &tally.BadRun{Why: evil}
	opt := html.CampaignOptions{Page: func(int) string { return "javascript:alert(1)" },
		Replay: func(int) string { return evil }, Again: evil,
		Versions: []reports.Version{{Name: evil, Version: evil}}}
	for _, html := range []string{explorationPage(t, e, opt), sweepPage(t, s, opt)} {
		testreports.CheckTexts(t, html, []string{`http-equiv="Content-Security-Policy" content="default-src 'none';`},
			[]string{"<img", "<script", "<!--", "javascript:", "<h1><"})
		for _, found := range regexp.MustCompile(`(?:src|href|action|data)="([^"]*)"|url\(([^)]*)\)|@import`).FindAllString(
			html, -1) {
			if !slices.ContainsFunc([]string{`href="#`, `href="data:,"`, `data="`, `url(#`},
				func(ok string) bool { return strings.HasPrefix(found, ok) }) {
				t.Errorf("the page refers to %s", found)
			}
		}
	}
}

// The same result gives the same page, with any timing, also while other goroutines
// render pages.
func TestCampaignIsDeterministic(t *testing.T) {
	want := explorationPage(t, testreports.Exploration(), campaignOptions) + sweepPage(t, aSweep(), campaignOptions)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			e, s := testreports.Exploration(), aSweep()
			e.Timing.WallSeconds, s.Timing.WallSeconds = float64(i), float64(i)
			if explorationPage(t, e, campaignOptions)+sweepPage(t, s, campaignOptions) != want {
				t.Error("two pages of one result differ")
			}
		})
	}
	wg.Wait()
}

func TestCampaignErrors(t *testing.T) {
	if err := html.Exploration(testreports.FullDisk{}, testreports.Exploration(), html.CampaignOptions{}); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Error(err)
	}
	if err := html.Sweep(testreports.FullDisk{}, aSweep(), html.CampaignOptions{}); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Error(err)
	}
}
