package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"locksim/checker"
	"locksim/internal/runfolder"
	"locksim/internal/serve"
	"locksim/reports"
	"locksim/scenarios"
)

// kept is a folder with a run, something torn, and an exploration at work.
type kept struct {
	t   *testing.T
	dir string
}

func newKept(t *testing.T, runs int) *kept {
	t.Helper()
	k := &kept{t: t, dir: t.TempDir()}
	o := gcPause(t)
	run, err := scenarios.NewRunFile(o).JSON()
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		k.write(fmt.Sprintf("run-gc-pause-fenced-s%d/run.json", i+1), string(run))
		k.write(fmt.Sprintf("run-gc-pause-fenced-s%d/report.html", i+1), "<!DOCTYPE html><html lang=en><title>a report</title><h1>a report</h1>")
	}
	k.write("torn/run.json", string(run[:len(run)/2]))
	if err := runfolder.PointLatest(k.dir, "run-gc-pause-fenced-s1"); err != nil {
		t.Fatal(err)
	}
	l, err := scenarios.FindLock("single", scenarios.LockSpec{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := scenarios.NewExplorePlan(l, scenarios.ExploreOptions{Runs: 1000, FirstSeed: 1, Judge: scenarios.JudgePromise, Collect: scenarios.CollectAll})
	if err != nil {
		t.Fatal(err)
	}
	k.write("explore-single/explore.jsonl", fmt.Sprintf("{\"version\":1,\"kind\":\"explore\",\"plan\":%s}\n", marshal(t, plan)))
	return k
}

func (k *kept) write(name, text string) {
	k.t.Helper()
	full := filepath.Join(k.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

// grow adds a result to the journal of the exploration.
func (k *kept) grow(job, violating int) {
	k.t.Helper()
	name := filepath.Join(k.dir, "explore-single", "explore.jsonl")
	before, err := os.ReadFile(name)
	if err != nil {
		k.t.Fatal(err)
	}
	b := scenarios.ExploreBlock{Job: job, ExploreTally: scenarios.ExploreTally{Runs: 100, NonVacuous: 90, Violating: violating}}
	if violating > 0 {
		b.Violations = map[checker.Label]int{checker.Stuck: violating}
	}
	k.write("explore-single/explore.jsonl", fmt.Sprintf("%s{\"job\":%d,\"result\":%s}\n", before, job, marshal(k.t, b)))
}

// page is the index as it is served, or as it is written to disk.
func (k *kept) page(live bool) ([]byte, error) {
	root, err := os.OpenRoot(k.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	scanner := &runfolder.Scanner{FS: root.FS()}
	if live {
		scanner.Now = time.Now
	}
	x, err := scanner.Index()
	if err != nil {
		return nil, err
	}
	x.Live = live
	var b bytes.Buffer
	err = reports.IndexHTML(&b, x)
	return b.Bytes(), err
}

// served opens the index of the folder, as locksim serve shows it.
func (k *kept) served(v view) *tab {
	k.t.Helper()
	l, err := serve.Listen("127.0.0.1:0")
	if err != nil {
		k.t.Fatal(err)
	}
	root, err := os.OpenRoot(k.dir)
	if err != nil {
		k.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(k.t.Context())
	ended := make(chan error, 1)
	h := serve.Handler(root, func() ([]byte, error) { return k.page(true) })
	go func() { ended <- serve.Run(ctx, l, h, log.New(io.Discard, "", 0)) }()
	k.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			k.t.Error(err)
		}
		_ = root.Close()
	})
	return visit(k.t, fmt.Sprintf("http://%v/", l.Addr()), v)
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// await waits until an expression holds on the page.
func (tb *tab) await(expression string) {
	tb.t.Helper()
	holds := fmt.Sprintf(`new Promise((done) => { const look = () => (%s) ? done(true) : requestAnimationFrame(look); look(); })`, expression)
	if _, err := chromedp.Run(tb.Context, chromedp.Evaluate[bool](holds, chromedp.EvalAwaitPromise)); err != nil {
		tb.t.Fatalf("%s: %v", expression, err)
	}
}

// The index shows how far an exploration has come while it runs, and takes neither
// the focus, nor the place on the page, nor what was typed away.
func TestIndexRefreshes(t *testing.T) {
	k := newKept(t, 12)
	k.grow(0, 0)
	tb := k.served(view{name: "low", width: 1280, height: 500, scheme: "light"})
	if got := eval[string](tb, `document.querySelector("progress").value + " of " + document.querySelector("progress").max`); got != "1 of 10" {
		t.Errorf("the progress is %s", got)
	}
	if got := eval[string](tb, `document.getElementById("status").textContent`); got != "12 results, 1 under way, 1 that cannot be read." {
		t.Errorf("the page says %q", got)
	}
	last := `#s-runs .entry:last-child h3 a`
	tb.do(chromedp.Focus(chromedp.CSS(last)))
	eval[bool](tb, `(document.querySelector("`+last+`").scrollIntoView(), window.same = document.activeElement, window.at = same.getBoundingClientRect().top, true)`)
	k.grow(1, 3)
	k.write("run-gc-pause-fenced-s99/run.json", "{")
	tb.await(`document.querySelector("progress").value === 2`)
	if got := eval[string](tb, `document.querySelector("#s-under-way .labels").textContent`); !strings.Contains(got, "stuck") || !strings.Contains(got, "× 3") {
		t.Errorf("the violations are %q", got)
	}
	if got := eval[int](tb, `document.querySelectorAll("#s-unread .entry").length`); got != 2 {
		t.Errorf("%d folders cannot be read, want 2", got)
	}
	if !eval[bool](tb, `document.activeElement === window.same && same.isConnected && Math.abs(same.getBoundingClientRect().top - window.at) < 2`) {
		t.Error("the focus or the place on the page was lost")
	}
	k.ends()
	tb.await(`!document.querySelector("progress")`)
	if got := eval[string](tb, `document.querySelector("#s-explorations h3").textContent + document.getElementById("status").textContent`); got != "Exploration of single from seed 113 results, 2 that cannot be read." {
		t.Errorf("at the end the page says %q", got)
	}
	tb.served()
}

// ends gives the exploration its document, which is later than the journal.
func (k *kept) ends() {
	k.t.Helper()
	k.write("explore-single/explore.json", `{"version":1,"kind":"explore","plan":{"lock":"single","first_seed":1},"summary":{"runs":200,"non_vacuous":180,"violating":3,"violations":{"stuck":3}}}`)
}

// served demands that the page said nothing, and asked its own server alone.
func (tb *tab) served() {
	tb.t.Helper()
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if len(tb.said) > 0 {
		tb.t.Errorf("the page said:\n%s", strings.Join(tb.said, "\n"))
	}
	for _, r := range tb.requests {
		if !strings.HasPrefix(r, "http://127.0.0.1:") {
			tb.t.Errorf("the page asked for %s", r)
		}
	}
}

// Words narrow the list down, with the keyboard alone, and the refreshing can be
// stopped.
func TestIndexControls(t *testing.T) {
	k := newKept(t, 12)
	tb := k.served(desktop)
	tb.press("#filter", "s")
	tb.press("#filter", "7")
	tb.await(`document.getElementById("shown").textContent === "1 of 14 shown"`)
	if got := eval[string](tb, `[...document.querySelectorAll(".entry")].filter((e) => e.checkVisibility()).map((e) => e.querySelector("code").textContent).join()`); got != "run-gc-pause-fenced-s7" {
		t.Errorf("shown is %q", got)
	}
	if got := eval[int](tb, `[...document.querySelectorAll("main h2")].filter((e) => e.checkVisibility()).length`); got != 1 {
		t.Errorf("%d headings are shown, want that of what is left", got)
	}
	tb.press("#hold", "\r")
	k.grow(0, 0)
	eval[bool](tb, `(document.dispatchEvent(new Event("visibilitychange")), true)`)
	if got := eval[float64](tb, `document.querySelector("progress").value`); got != 0 {
		t.Errorf("the progress is %v although refreshing was stopped", got)
	}
	tb.press("#hold", "\r")
	tb.await(`document.querySelector("progress").value === 1`)
	if got := eval[string](tb, `document.getElementById("shown").textContent`); got != "1 of 14 shown" {
		t.Errorf("after a refresh %q", got)
	}
	tb.served()
}

// From the index on disk one comes to a report. Nothing is asked for.
func TestIndexFromDisk(t *testing.T) {
	k := newKept(t, 3)
	html, err := k.page(false)
	if err != nil {
		t.Fatal(err)
	}
	k.write("index.html", string(html))
	tb := visit(t, "file://"+filepath.ToSlash(filepath.Join(k.dir, "index.html")), desktop)
	tb.quiet()
	tb.click(`#first a`)
	tb.await(`document.title === "a report"`)
}

// indexPages are the pages of this kind that are looked at.
func indexPages(t *testing.T) map[string][]byte {
	t.Helper()
	k := newKept(t, 3)
	k.grow(0, 2)
	k.write("explore-old/explore.jsonl", "")
	html, err := k.page(true)
	if err != nil {
		t.Fatal(err)
	}
	html = bytes.ReplaceAll(html, []byte(" data-live"), nil) // it has no server here
	empty := new(bytes.Buffer)
	if err := reports.IndexHTML(empty, reports.Index{First: "go run ./cmd/locksim run gc-pause --keep"}); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"index": html, "index-empty": empty.Bytes(), "explore": explored(t), "sweep": swept(t)}
}

// explored is the page of an exploration that breaks a lock.
func explored(t *testing.T) []byte {
	t.Helper()
	l, err := scenarios.FindLock("broken/del-without-owner", scenarios.LockSpec{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := scenarios.NewExplorePlan(l, scenarios.ExploreOptions{Runs: 20, FirstSeed: 1, Judge: scenarios.JudgeEverything, Collect: scenarios.CollectAll})
	if err != nil {
		t.Fatal(err)
	}
	block, err := plan.Job(0).Play(nil, func() {})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := reports.ExplorationHTML(&b, scenarios.AssembleExploration(plan, map[int]scenarios.ExploreBlock{0: block}), campaignOptions()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func campaignOptions() reports.CampaignOptions {
	return reports.CampaignOptions{Page: func(i int) string { return fmt.Sprintf("found-%d.html", i) }, Again: "go run ./cmd/locksim explore",
		Replay: func(int) string { return "go run ./cmd/locksim explore --from-seed 1" }, Versions: []reports.Version{{Name: "Go", Version: "1.26"}}}
}

// swept is the page of a sweep, of which one job was done.
func swept(t *testing.T) []byte {
	t.Helper()
	sc, err := scenarios.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	l, err := scenarios.FindLock("single", sc.Lock, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := scenarios.NewSweepPlan(sc, l, scenarios.SweepOptions{Seed: 1, Kinds: []string{"pause"}, Judge: scenarios.JudgeEverything})
	if err != nil {
		t.Fatal(err)
	}
	block, err := plan.Job(0).Play(nil, func() {})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := reports.SweepHTML(&b, scenarios.AssembleSweep(plan, map[int]scenarios.SweepBlock{0: block}, nil), campaignOptions()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// axe-core finds nothing on these pages either, none is wider than its screen,
// and each is quiet; screenshots are for the eye.
func TestIndexPages(t *testing.T) {
	source := axeSource(t)
	for name, html := range indexPages(t) {
		for _, v := range []view{desktop, views[3]} {
			t.Run(name+"/"+v.name, func(t *testing.T) {
				tb := look(t, html, v)
				shoot(tb, name+"-"+v.name)
				if wide := eval[int](tb, `document.documentElement.scrollWidth`); int64(wide) > v.width {
					t.Errorf("the page is %d pixels wide on a screen of %d", wide, v.width)
				}
				tb.quiet()
				eval[bool](tb, source+"; true")
				out, err := chromedp.Run(tb.Context, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations))`, chromedp.EvalAwaitPromise))
				if err != nil {
					t.Fatal(err)
				}
				report(t, out)
			})
		}
	}
}

// look opens a page that may have no script.
func look(t *testing.T, html []byte, v view) *tab {
	t.Helper()
	return open(t, bytes.Replace(html, []byte("<html "), []byte(`<html data-ready="yes" `), 1), v)
}
