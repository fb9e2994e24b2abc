package formattest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"locksim/lock"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sweep"
)

// brief is a short scenario in which a pause can do harm.
const brief = `name: brief
world: {redis: 1, clients: 2, latency: 1ms}
lock: {kind: broken/del-without-owner, ttl: 2s, backoff: 100ms}
workload: {rounds: 1, hold: 500ms}
`

// exploration explores a specimen, of which a few runs show a violation. collect says
// whether the first violation ends the exploration.
func exploration(t *testing.T, runs int, collect explorations.Collect) *explorations.Exploration {
	t.Helper()
	return once(fmt.Sprint(runs, collect), func() *explorations.Exploration { return explored(t, runs, collect) })
}

func explored(t *testing.T, runs int, collect explorations.Collect) *explorations.Exploration {
	t.Helper()
	l, err := redislocks.Find("broken/del-without-owner", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := explore.NewPlan(l, explore.Options{Runs: runs, FirstSeed: 1, Judge: explorations.JudgeEverything,
		Collect: collect})
	if err != nil {
		t.Fatal(err)
	}
	block, err := explore.NewJob(plan, 0).Play(nil, func() {})
	if err != nil {
		t.Fatal(err)
	}
	block.Unsteady = &tally.BadRun{Seed: 7, Why: "the first event differs"}
	e := explorations.Assemble(plan, map[int]explorations.Block{0: block})
	e.Timing = explorations.NewTiming()
	e.Timing.Workers, e.Timing.Made, e.Timing.WallSeconds, e.Timing.Shard = 2, block.Runs, 0.5, "0/2"
	return e
}

// aSweep is a sweep of the same specimen, with its violations examined.
func aSweep(t *testing.T) *sweeps.Sweep {
	t.Helper()
	return once("sweep", func() *sweeps.Sweep { return swept(t) })
}

func swept(t *testing.T) *sweeps.Sweep {
	t.Helper()
	sc, err := file.Parse("./brief.yaml", []byte(brief))
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Find("broken/del-without-owner", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sc, l, sweep.Options{Seed: 1, Faults: []lock.Fault{"pause", "lose_reply"},
		Judge: explorations.JudgeEverything})
	if err != nil {
		t.Fatal(err)
	}
	block, err := sweep.NewJob(plan, 0).Play(nil, func() {})
	if err != nil {
		t.Fatal(err)
	}
	block.Broken = &tally.BadRun{Seed: 1, Faults: "pause c0 for 3s, at 4ms", Why: "the run did not end"}
	blocks, found := map[int]sweeps.Block{0: block}, map[string]*failure.Failure{}
	for _, e := range sweep.Examinations(plan, blocks) {
		if found[e.Shape], err = e.Play(nil); err != nil {
			t.Fatal(err)
		}
	}
	s := sweeps.Assemble(plan, blocks, found)
	s.Timing = explorations.NewTiming()
	return s
}

func document(t *testing.T, of interface{ JSON() ([]byte, error) }) []byte {
	t.Helper()
	b, err := of.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The document of a campaign is valid with and without violations, finished and as one
// shard of several, and so is the stored run of a violation.
func TestCampaignsAreValid(t *testing.T) {
	first, all, placed := exploration(t, 60, explorations.CollectFirst), exploration(t, 120, explorations.CollectAll),
		aSweep(t)
	if first.StoppedAt == nil || all.Complete || len(all.Summary.Failures) == 0 || len(placed.Summary.Failures) == 0 {
		t.Fatalf("stopped at %v, complete %v, %d and %d violations", first.StoppedAt, all.Complete, len(all.Summary.Failures),
			len(placed.Summary.Failures))
	}
	nothing := explorations.Assemble(&all.Plan, nil)
	nothing.Timing = all.Timing
	for _, tt := range []struct {
		name, schema string
		document     interface{ JSON() ([]byte, error) }
	}{
		{"to the first violation", "explore", first},
		{"a shard of all violations", "explore", all},
		{"a shard without jobs", "explore", nothing},
		{"sweep", "sweep", placed},
		{"the run of one that was explored", "run", first.Summary.Failures[0].Run},
		{"the run of one that was placed", "run", placed.Summary.Failures[0].Run},
	} {
		b := document(t, tt.document)
		if err := compiled(t, tt.schema).Validate(parsed(t, b)); err != nil {
			t.Errorf("%s: %v\n%s", tt.name, err, b)
		}
	}
}

// spared are the fields of a campaign that may be absent, spareNull those that may be
// null. Every entry of a map may be absent, except the last mode of a run.
var (
	anyCampaign = `/timing/(shard|modules)$|/(vacuous|violations|kinds|modules|faults|classes|rare_paths)/[^/]+$|/run/modes/[^/]+/expected$|/nearest_miss(/faults)?$|/modes/[^/]+/slack$|/failures/[0-9]+/answers$` +
		`|/slack(/[0-9]+)?/(other|at)$` +
		`|^/(summary|blocks/0)/(vacuous|violations|faults|classes|kinds|unsteady|broken|calls|errors|unknown|noticed_late|connections|per_second|undisturbed|undisturbed_not_held|rare_paths|fenced)$|^/blocks/0/(failures|unexamined)$` +
		`|/story/[0-9]+/skipped$|/run/violations$|/failures/[0-9]+/(placed|same|again|replays|run|reasons|story)$|/broken/faults$`
	spared = map[string]*regexp.Regexp{
		"explore": regexp.MustCompile(
			`^/stopped_at$|^/plan/(not_asked|noted)$|^/plan/space/(tries|beside)$|^/blocks/[0-9]+/courses(/[0-9a-f]+)?$|` + anyCampaign),
		"sweep": regexp.MustCompile(`^/plan/kinds$|` + anyCampaign),
	}
	spareNull = regexp.MustCompile(`^/plan/(space/(faults|points)|faults)$|/failures/[0-9]+/violations$`)
)

// The schema refuses a campaign with a field removed, set to null, or added.
func TestBrokenCampaignsAreRefused(t *testing.T) {
	for name, doc := range map[string][]byte{"explore": document(t, exploration(t, 60, explorations.CollectFirst)),
		"sweep": document(t, aSweep(t))} {
		breakApart(t, name, doc, 300, func(path, key string, object map[string]any) bool {
			ofModes := strings.HasSuffix(path, "/modes") && len(object) > 1
			return ofModes || spared[name].MatchString(path+"/"+key)
		}, spareNull.MatchString)
	}
}

// Values of a campaign that make no sense are refused.
func TestNonsenseInCampaignsIsRefused(t *testing.T) {
	docs := map[string]string{"explore": string(document(t, exploration(t, 60, explorations.CollectFirst))),
		"sweep": string(document(t, aSweep(t)))}
	for _, tt := range []struct{ schema, old, wrong string }{
		{"explore", `"kind": "explore"`, `"kind": "sweep"`},
		{"explore", `"judge": "everything"`, `"judge": "luck"`},
		{"explore", `"collect": "first"`, `"collect": "some"`},
		{"explore", `"block": 100`, `"block": 0`},
		{"explore", `"first_seed": 1`, `"first_seed": -1`},
		{"explore", `"faults": null`, `"faults": ["bad luck"]`},
		{"explore", `"rate_bound_95": `, `"rate_bound_95": 1`},
		{"explore", `"shard": "0/2"`, `"shard": "half"`},
		{"explore", `"runs_made": `, `"runs_made": -`},
		{"explore", `"label": "corrupted"`, `"label": "bad"`},
		{"explore", `"trace_hash": "`, `"trace_hash": "X`},
		{"explore", `"planned": `, `"planned": -1`},
		{"sweep", `"kind": "sweep"`, `"kind": "explore"`},
		{"sweep", `"version": 1`, `"version": 2`},
		{"sweep", `"lose_reply"`, `"bad-luck"`},
		{"sweep", `"runs": `, `"runs": -`},
		{"sweep", `"trace_hash": "`, `"trace_hash": "0`},
		{"sweep", `"planned": `, `"planned": -`},
		{"sweep", `"replays": 10`, `"replays": 0`},
	} {
		broken := strings.Replace(docs[tt.schema], tt.old, tt.wrong, 1)
		if broken == docs[tt.schema] {
			t.Errorf("there is no %s in the %s", tt.old, tt.schema)
			continue
		}
		if compiled(t, tt.schema).Validate(parsed(t, []byte(broken))) == nil {
			t.Errorf("a %s with %s is valid", tt.schema, tt.wrong)
		}
	}
}
