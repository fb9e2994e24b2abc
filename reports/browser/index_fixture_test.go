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
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/runfolder"
	"locksim/internal/serve"
	"locksim/reports/html"
	"locksim/scenarios/explore"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/redislocks"
)

// resultFolder is a folder with runs, a truncated run, and an unfinished exploration.
type resultFolder struct {
	t   *testing.T
	dir string
}

func newResultFolder(t *testing.T, runs int) *resultFolder {
	t.Helper()
	k := &resultFolder{t: t, dir: t.TempDir()}
	o := gcPause(t)
	run, err := outcome.NewRunFile(o).JSON()
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		k.write(fmt.Sprintf("run-gc-pause-fenced-s%d/run.json", i+1), string(run))
		k.write(fmt.Sprintf("run-gc-pause-fenced-s%d/report.html", i+1), "<!DOCTYPE html><html lang=en><title>a "+
			"report</title><h1>a report</h1>")
	}
	k.write("torn/run.json", string(run[:len(run)/2]))
	if err := runfolder.PointLatest(k.dir, "run-gc-pause-fenced-s1"); err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Find("single", nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := explore.NewPlan(l, explore.Options{Runs: 1000, FirstSeed: 1, Judge: explorations.JudgePromise,
		Collect: explorations.CollectAll})
	if err != nil {
		t.Fatal(err)
	}
	k.write("explore-single/explore.jsonl", fmt.Sprintf("{\"version\":1,\"kind\":\"explore\",\"jobs\":%d,\"plan\":%s}\n",
		plan.Jobs(), marshal(t, plan)))
	return k
}

func (k *resultFolder) write(name, text string) {
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
func (k *resultFolder) grow(job, violating int) {
	k.t.Helper()
	name := filepath.Join(k.dir, "explore-single", "explore.jsonl")
	before, err := os.ReadFile(name)
	if err != nil {
		k.t.Fatal(err)
	}
	b := explorations.Block{Job: job, Tally: tally.Tally{Runs: 100, Evidence: 90, Violating: violating}}
	if violating > 0 {
		b.Violations = map[checker.Label]int{checker.Stuck: violating}
	}
	k.write("explore-single/explore.jsonl", fmt.Sprintf("%s{\"job\":%d,\"result\":%s}\n", before, job, marshal(k.t, b)))
}

// page is the index as it is served, or as it is written to disk.
func (k *resultFolder) page(live bool) ([]byte, error) {
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
	err = html.Index(&b, x)
	return b.Bytes(), err
}

// serve opens the index of the folder, served as by locksim serve.
func (k *resultFolder) serve(v view) *tab {
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
