package browser

import (
	"bytes"
	"fmt"
	"testing"

	"locksim/lock"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/reports/index"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/replay"
	"locksim/scenarios/sweep"
)

// indexPages are the pages of indexes and campaigns under test.
func indexPages(t *testing.T) map[string][]byte {
	t.Helper()
	k := newResultFolder(t, 3)
	k.grow(0, 2)
	k.write("explore-old/explore.jsonl", "")
	k.write("known/triage.json",
		`{"version": 1, "kind": "triage", "subjects": [{"lock": "single", "judge": "promise", "rounds": 3, "shapes": [
		{"shape": "stuck in mode none: crash", "state": "new", "first_round": 3, "last_round": 3, "seed": 7},
		{"shape": "overlap in mode none: pause", "state": "back", "first_round": 1, "last_round": 3, "returns": 1, "seed": 7},
		{"shape": "void in mode none: latency", "state": "still", "first_round": 2, "last_round": 3, "replayed": true, "seed": 7},
		{"shape": "corrupted in mode none: pause", "state": "gone", "first_round": 1, "last_round": 2, "seed": 7}]}]}`)
	page, err := k.page(true)
	if err != nil {
		t.Fatal(err)
	}
	page = bytes.ReplaceAll(page, []byte(" data-live"), nil) // it has no server here
	empty := new(bytes.Buffer)
	if err := html.Index(empty, index.Index{First: "go run ./cmd/locksim run gc-pause --keep"}); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"index": page, "index-empty": empty.Bytes(), "explore": explored(t), "sweep": swept(t)}
}

// explored is the page of an exploration that breaks a lock.
func explored(t *testing.T) []byte {
	t.Helper()
	l, err := redislocks.Find("broken/del-without-owner", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := explore.NewPlan(l, explore.Options{Runs: 20, FirstSeed: 1, Judge: explorations.JudgeEverything,
		Collect: explorations.CollectAll})
	if err != nil {
		t.Fatal(err)
	}
	block, err := explore.NewJob(plan, 0).Play(nil, func() {})
	if err != nil {
		t.Fatal(err)
	}
	e, opt := explorations.Assemble(plan, map[int]explorations.Block{0: block}), campaignOptions()
	opt.Figure = func(i int) html.Found {
		f := &e.Summary.Failures[i-1]
		o, err := replay.Run(f.Run, nil, outcome.Once)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := html.Figure(&b, o, f.Violations[0].Mode, html.FigureOptions{ID: fmt.Sprintf("found-%d", i),
			Width: 1100}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	var b bytes.Buffer
	if err := html.Exploration(&b, e, opt); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func campaignOptions() html.CampaignOptions {
	return html.CampaignOptions{Page: func(i int) string { return fmt.Sprintf("found-%d.html", i) },
		Again:    "go run ./cmd/locksim explore",
		Replay:   func(int) string { return "go run ./cmd/locksim explore --from-seed 1" },
		Versions: []reports.Version{{Name: "Go", Version: "1.26"}}}
}

// swept is the page of a sweep, of which one job was done.
func swept(t *testing.T) []byte {
	t.Helper()
	sc, err := file.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Find("single", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sc, l, sweep.Options{Seed: 1, Faults: []lock.Fault{"pause"},
		Judge: explorations.JudgeEverything})
	if err != nil {
		t.Fatal(err)
	}
	block, err := sweep.NewJob(plan, 0).Play(nil, func() {})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := html.Sweep(&b, sweeps.Assemble(plan, map[int]sweeps.Block{0: block}, nil), campaignOptions()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// axe-core finds nothing on these pages, none is wider than its screen, and none has
// complaints.
func TestIndexPages(t *testing.T) {
	source := axeSource(t)
	for name, html := range indexPages(t) {
		for _, v := range []view{desktop, phoneDark} {
			t.Run(name+"/"+v.name, func(t *testing.T) {
				tb := open(t, html, v)
				shoot(tb, name+"-"+v.name)
				tb.checkWidth(v)
				tb.checkQuiet()
				tb.accessible(source)
			})
		}
	}
}
