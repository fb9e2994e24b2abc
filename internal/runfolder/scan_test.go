package runfolder_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/runfolder"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios"
)

// noon is the time at which indexes of the present moment are made.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func file(text string, before time.Duration) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(text), ModTime: noon.Add(-before), Mode: 0o644}
}

// storedRun is a run as a document.
func storedRun(t *testing.T) string {
	t.Helper()
	r := scenarios.RunFile{Version: scenarios.RunVersion, Scenario: "gc-pause", Lock: "fenced", Seed: 7, Modes: map[fence.Mode]scenarios.ModeFile{
		fence.Seal: {Verdict: checker.Rescued, Facts: &checker.Facts{}, TraceHash: strings.Repeat("0", 64)},
		fence.None: {Verdict: checker.Corrupted, Facts: &checker.Facts{}, TraceHash: strings.Repeat("1", 64)}}}
	return text(t, &r)
}

func text(t *testing.T, document interface{ JSON() ([]byte, error) }) string {
	t.Helper()
	b, err := document.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// plan is that of an exploration of three jobs.
var plan = scenarios.ExplorePlan{Lock: "single", Judge: scenarios.JudgePromise, Collect: scenarios.CollectAll, Runs: 250, FirstSeed: 1, Block: 100,
	Space: scenarios.Space{Redis: 1}}

func block(job int) scenarios.ExploreBlock {
	return scenarios.ExploreBlock{Job: job, ExploreTally: scenarios.ExploreTally{Runs: 100, NonVacuous: 90, Violating: 2, Violations: map[checker.Label]int{checker.Stuck: 1, checker.Overlap: 2}}}
}

// journal is that of the exploration with so many results.
func journal(t *testing.T, results int) string {
	t.Helper()
	b := fmt.Sprintf("{\"version\":1,\"kind\":\"explore\",\"plan\":%s}\n", marshal(t, plan))
	for i := range results {
		b += fmt.Sprintf("{\"job\":%d,\"result\":%s}\n", i, marshal(t, block(i)))
	}
	return b
}

func index(t *testing.T, fsys fs.FS, now func() time.Time) reports.Index {
	t.Helper()
	x, err := (&runfolder.Scanner{FS: fsys, Now: now}).Index()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func atNoon() time.Time { return noon }

// What a run is, its verdicts, and those of its pages that are there.
func TestIndexOfARun(t *testing.T) {
	fsys := fstest.MapFS{
		"run-x/run.json":    file(storedRun(t), time.Hour),
		"run-x/report.html": file("<p>", time.Hour),
		"run-x/other.txt":   file("", time.Hour),
		"screenshots/x.png": file("", time.Hour),
		".hidden/run.json":  file("{", time.Hour),
		"latest":            {Data: []byte("run-x"), Mode: fs.ModeSymlink | 0o777},
	}
	want := reports.Index{Entries: []reports.IndexEntry{{Folder: "run-x", Kind: reports.IndexRun, What: "gc-pause", Lock: "fenced", Seed: "seed 7",
		Labels:     []reports.IndexLabel{{Mode: "none", Label: checker.Corrupted}, {Mode: "seal", Label: checker.Rescued}},
		Unexpected: true, Latest: true, Changed: "2026-11-21 11:00:00",
		Pages: []reports.IndexPage{{Name: "Report", File: "report.html"}, {Name: "JSON", File: "run.json"}}}}}
	if d := cmp.Diff(want, index(t, fsys, atNoon)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	want.Entries[0].Changed = ""
	if d := cmp.Diff(want, index(t, fsys, nil)); d != "" {
		t.Errorf("without a time: (-want +got)\n%s", d)
	}
}

// A journal is a campaign at work as long as it grows, and one that can go on
// afterwards; with a document it has come to its end, unless it went on since.
func TestIndexOfACampaign(t *testing.T) {
	e := scenarios.AssembleExploration(&plan, map[int]scenarios.ExploreBlock{0: block(0), 1: block(1), 2: block(2)})
	stuck := []reports.IndexLabel{{Label: checker.Stuck, Count: 2}, {Label: checker.Overlap, Count: 4}}
	for _, tt := range []struct {
		name     string
		journal  *fstest.MapFile
		document *fstest.MapFile
		progress *reports.IndexProgress
		said     string
		labels   []reports.IndexLabel
	}{
		{name: "at work", journal: file(journal(t, 2), time.Minute), progress: &reports.IndexProgress{Done: 2, Jobs: 3, Running: true},
			said: "So far 200 runs: 4 runs with a violation. Judged by its own promise.", labels: stuck},
		{name: "interrupted", journal: file(journal(t, 2), time.Hour), progress: &reports.IndexProgress{Done: 2, Jobs: 3},
			said: "So far 200 runs: 4 runs with a violation. Judged by its own promise.", labels: stuck},
		{name: "cut off in the middle of a line", journal: file(strings.TrimSuffix(journal(t, 3), "}\n"), time.Second), progress: &reports.IndexProgress{Done: 2, Jobs: 3, Running: true},
			said: "So far 200 runs: 4 runs with a violation. Judged by its own promise.", labels: stuck},
		{name: "not begun", journal: file("", time.Second), progress: &reports.IndexProgress{Running: true}, said: "No job has come to its end yet."},
		{name: "ended", journal: file(journal(t, 3), time.Minute), document: file(text(t, e), time.Second),
			said:   "300 runs, 270 of them evidence: 6 runs with a violation. Judged by its own promise.",
			labels: []reports.IndexLabel{{Label: checker.Stuck, Count: 3}, {Label: checker.Overlap, Count: 6}}},
		{name: "gone on", journal: file(journal(t, 2), time.Second), document: file(text(t, e), time.Minute), progress: &reports.IndexProgress{Done: 2, Jobs: 3, Running: true},
			said: "So far 200 runs: 4 runs with a violation. Judged by its own promise.", labels: stuck},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := fstest.MapFS{"x/explore.jsonl": tt.journal}
			if tt.document != nil {
				fsys["x/explore.json"] = tt.document
			}
			got := index(t, fsys, atNoon).Entries
			if len(got) != 1 || got[0].Kind != reports.IndexExplore {
				t.Fatalf("the index has %+v", got)
			}
			if d := cmp.Diff(tt.progress, got[0].Progress); d != "" {
				t.Errorf("progress (-want +got)\n%s", d)
			}
			if d := cmp.Diff(tt.labels, got[0].Labels); d != "" {
				t.Errorf("labels (-want +got)\n%s", d)
			}
			if got[0].Said != tt.said {
				t.Errorf("it says %q, want %q", got[0].Said, tt.said)
			}
		})
	}
}

// A shard is at the end when its own jobs are.
func TestIndexOfShards(t *testing.T) {
	fsys := fstest.MapFS{
		"all/shard-0-of-2/explore.jsonl": file(journal(t, 1), time.Second),
		"all/shard-1-of-2/explore.jsonl": file(journal(t, 0), time.Second),
	}
	got := index(t, fsys, atNoon).Entries
	if len(got) != 2 || got[0].Progress.Jobs != 2 || got[0].Progress.Done != 1 || got[1].Progress.Jobs != 1 {
		t.Errorf("the index has %+v", got)
	}
}

// denied is a folder in which some things cannot be read.
type denied struct{ fstest.MapFS }

func (d denied) ReadDir(name string) ([]fs.DirEntry, error) {
	if strings.HasPrefix(name, "shut") {
		return nil, &fs.PathError{Op: "open", Path: "/somewhere/" + name, Err: fs.ErrPermission}
	}
	return d.MapFS.ReadDir(name)
}

// What cannot be read is listed with the reason, and the rest all the same.
func TestIndexOfWhatCannotBeRead(t *testing.T) {
	run := storedRun(t)
	fsys := denied{fstest.MapFS{
		"a-folder/run.json/x":      file("", 0),
		"b-half/run.json":          file(run[:len(run)/2], 0),
		"c-other/explore.json":     file(`{"version": 9, "kind": "explore"}`, 0),
		"d-words/sweep.json":       file("hello", 0),
		"e-plan/sweep.jsonl":       file("{\"version\":1,\"kind\":\"sweep\",\"plan\":{\"block\":0}}\n", 0),
		"f-lines/explore.jsonl":    file(journal(t, 1)+"nonsense\n{}\n", 0),
		"g-matrix/matrix.json":     file(`{"version": 1}`, 0),
		"h-page/review.html":       file("<p>", 0),
		"i-numbers/explore.jsonl":  file(strings.Replace(journal(t, 1), `"runs":100,"non_vacuous"`, `"runs":"many","non_vacuous"`, 1), 0),
		"shut/run.json":            file(run, 0),
		"z-good/run.json":          file(run, 0),
		"z-good/deeper/4/run.json": file("{", 0), // below a run lie its pages
	}}
	want := map[string]string{
		"a-folder":  "run.json: this is no file",
		"b-half":    "run.json:",
		"c-other":   "explore.json: this is no document of kind explore and version 1",
		"d-words":   "sweep.json: this is no document of locksim",
		"e-plan":    "sweep.jsonl: this plan of a sweep makes no sense",
		"f-lines":   "explore.jsonl:3: this line is no result",
		"g-matrix":  "matrix.json: this is no matrix of version 1",
		"h-page":    "review.html: this page has no title",
		"i-numbers": "explore.jsonl: this is no document of locksim",
		"shut":      "permission denied",
	}
	for _, e := range index(t, fsys, atNoon).Entries {
		problem, bad := want[e.Folder]
		if bad != (e.Kind == reports.IndexUnread) || !strings.HasPrefix(e.Problem, problem) || strings.Contains(e.Problem, "somewhere") {
			t.Errorf("%s is a %s with the problem %q, want %q", e.Folder, e.Kind, e.Problem, problem)
		}
		delete(want, e.Folder)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}

// A folder that is not there is an error.
func TestIndexOfNothing(t *testing.T) {
	if _, err := (&runfolder.Scanner{FS: fstest.MapFS{".": file("", 0)}}).Index(); err == nil {
		t.Error("a file is indexed as a folder")
	}
	x, err := (&runfolder.Scanner{FS: fstest.MapFS{}}).Index()
	if err != nil || len(x.Entries) != 0 {
		t.Errorf("an empty folder: %+v, %v", x, err)
	}
}

// counting counts how often files are opened.
type counting struct {
	fstest.MapFS
	opened *int
}

func (c counting) Open(name string) (fs.File, error) {
	if strings.Contains(name, ".json") {
		*c.opened++
	}
	return c.MapFS.Open(name)
}

// A file that has not changed is not read again, and one that has is.
func TestScannerReadsOnce(t *testing.T) {
	opened := 0
	fsys := fstest.MapFS{"x/explore.jsonl": file(journal(t, 1), time.Minute), "y/run.json": file(storedRun(t), time.Minute), "z/run.json": file("{", time.Minute)}
	s := &runfolder.Scanner{FS: counting{fsys, &opened}, Now: atNoon}
	look := func() reports.Index {
		x, err := s.Index()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	first := look()
	if d := cmp.Diff(first, look()); d != "" || opened != 3 {
		t.Errorf("%d files were opened, want 3; (-first +second)\n%s", opened, d)
	}
	fsys["x/explore.jsonl"] = file(journal(t, 2), 0)
	if got := look().Entries[0].Progress; got.Done != 2 || opened != 4 {
		t.Errorf("%d files were opened, want 4, and the progress is %+v", opened, got)
	}
}

// A matrix is told by its labels, and its pages are not looked through.
func TestIndexOfAMatrix(t *testing.T) {
	cell := func(l checker.Label) scenarios.MatrixCell { return scenarios.MatrixCell{Label: l} }
	m := &scenarios.Matrix{Version: scenarios.MatrixVersion, Seeds: scenarios.Seeds{First: 1, Last: 20}, Expected: true,
		Scenarios: make([]scenarios.MatrixRow, 2), Locks: make([]scenarios.MatrixColumn, 1), Totals: scenarios.MatrixTotals{Cells: 3, Runs: 60},
		Cells: []scenarios.MatrixCell{cell(checker.Safe), cell(checker.Corrupted), cell(checker.Safe), cell(checker.NotApplicable)}}
	fsys := fstest.MapFS{"matrix/matrix.json": file(text(t, m), 0), "matrix/index.html": file("", 0), "matrix/runs/x/run.json": file("", 0)}
	want := []reports.IndexEntry{{Folder: "matrix", Kind: reports.IndexMatrix, What: "Matrix of 2 scenarios and 1 lock", Seed: "seeds 1 to 20", Said: "60 runs in 3 cells.",
		Labels: []reports.IndexLabel{{Label: checker.Corrupted, Count: 1}, {Label: checker.Safe, Count: 2}},
		Pages:  []reports.IndexPage{{Name: "Pages", File: "index.html"}, {Name: "JSON", File: "matrix.json"}}}}
	if d := cmp.Diff(want, index(t, fsys, nil).Entries); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// The folder may be one of a run or a matrix itself. The page of its own name is
// the index, then.
func TestIndexOfTheFolderItself(t *testing.T) {
	fsys := fstest.MapFS{"run.json": file(storedRun(t), 0), "index.html": file("", 0), "report.html": file("", 0), "other/run.json": file("{", 0)}
	got := index(t, fsys, nil).Entries
	if len(got) != 2 || got[0].Folder != "." || got[0].Pages[0].File != "report.html" || got[1].Folder != "other" {
		t.Errorf("the index has %+v", got)
	}
	m := fstest.MapFS{"review.html": file("<title>x</title>", 0), "matrix.json": file("{", 0), "index.html": file("", 0)}
	for _, e := range index(t, m, nil).Entries {
		for _, p := range e.Pages {
			if p.File == "index.html" {
				t.Errorf("%+v leads to the index", e)
			}
		}
	}
}

// A review is called by its title.
func TestIndexOfAReview(t *testing.T) {
	fsys := fstest.MapFS{"review-x/review.html": file("<head><title>Review of a&amp;b · locksim</title>", 0)}
	if got := index(t, fsys, nil).Entries; len(got) != 1 || got[0].What != "Review of a&b" || got[0].Kind != reports.IndexReview {
		t.Errorf("the index has %+v", got)
	}
}

var errBroken = errors.New("the disk is gone")

// broken fails in the middle of a file.
type broken struct{ fstest.MapFS }

func (b broken) Open(name string) (fs.File, error) {
	f, err := b.MapFS.Open(name)
	if strings.HasSuffix(name, ".json") {
		return failing{f}, err
	}
	return f, err
}

type failing struct{ fs.File }

func (failing) Read([]byte) (int, error) { return 0, errBroken }

func TestIndexOfABrokenDisk(t *testing.T) {
	got := index(t, broken{fstest.MapFS{"x/run.json": file(storedRun(t), 0)}}, nil).Entries
	if len(got) != 1 || got[0].Problem != "run.json: the disk is gone" {
		t.Errorf("the index has %+v", got)
	}
}
