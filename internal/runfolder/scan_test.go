package runfolder_test

import (
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
	"locksim/scenarios/explore"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// noon is the time of the indexes that have one.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func file(text string, before time.Duration) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(text), ModTime: noon.Add(-before), Mode: 0o644}
}

// storedRun is the document of a run.
func storedRun(t *testing.T) string {
	t.Helper()
	r := play.RunFile{Version: play.RunVersion, Scenario: "gc-pause", Lock: "fenced", Seed: 7, Modes: map[fence.Mode]play.ModeFile{
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

// plan is the plan of an exploration of three jobs.
var plan = explore.Plan{Lock: "single", Judge: explore.JudgePromise, Collect: explore.CollectAll, Runs: 250, FirstSeed: 1, Block: 100,
	Space: search.Space{Redis: 1}}

func block(job int) explore.Block {
	return explore.Block{Job: job, Tally: explore.Tally{Runs: 100, NonVacuous: 90, Violating: 2, Violations: map[checker.Label]int{checker.Stuck: 1, checker.Overlap: 2}}}
}

// journal is the journal of the exploration with the first results.
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

// The entry of a run has its verdicts, and those of its pages that exist.
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

// A journal that grows is a running campaign, and one that does not grow an
// interrupted one; with a document the campaign has ended, unless the journal
// has changed since.
func TestIndexOfACampaign(t *testing.T) {
	e := explore.AssembleExploration(&plan, map[int]explore.Block{0: block(0), 1: block(1), 2: block(2)})
	stuck := []reports.IndexLabel{{Label: checker.Stuck, Count: 2}, {Label: checker.Overlap, Count: 4}}
	for _, tt := range []struct {
		name     string
		journal  *fstest.MapFile
		document *fstest.MapFile
		progress *reports.IndexProgress
		said     string
		labels   []reports.IndexLabel
	}{
		{name: "running", journal: file(journal(t, 2), time.Minute), progress: &reports.IndexProgress{Done: 2, Jobs: 3, Running: true},
			said: "So far 200 runs: 4 runs with a violation. Judged by its own promise.", labels: stuck},
		{name: "interrupted", journal: file(journal(t, 2), time.Hour), progress: &reports.IndexProgress{Done: 2, Jobs: 3},
			said: "So far 200 runs: 4 runs with a violation. Judged by its own promise.", labels: stuck},
		{name: "truncated in the middle of a line", journal: file(strings.TrimSuffix(journal(t, 3), "}\n"), time.Second), progress: &reports.IndexProgress{Done: 2, Jobs: 3, Running: true},
			said: "So far 200 runs: 4 runs with a violation. Judged by its own promise.", labels: stuck},
		{name: "empty", journal: file("", time.Second), progress: &reports.IndexProgress{Running: true}, said: "No job has come to its end yet."},
		{name: "ended", journal: file(journal(t, 3), time.Minute), document: file(text(t, e), time.Second),
			said:   "300 runs, 270 of them evidence: 6 runs with a violation. Judged by its own promise.",
			labels: []reports.IndexLabel{{Label: checker.Stuck, Count: 3}, {Label: checker.Overlap, Count: 6}}},
		{name: "resumed", journal: file(journal(t, 2), time.Second), document: file(text(t, e), time.Minute), progress: &reports.IndexProgress{Done: 2, Jobs: 3, Running: true},
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
				t.Errorf("text %q, want %q", got[0].Said, tt.said)
			}
		})
	}
}

// The progress of a shard is that of its own jobs.
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

// An index of a file is an error; one of an empty folder is empty.
func TestIndexOfAnEmptyFolder(t *testing.T) {
	if _, err := (&runfolder.Scanner{FS: fstest.MapFS{".": file("", 0)}}).Index(); err == nil {
		t.Error("a file is indexed as a folder")
	}
	x, err := (&runfolder.Scanner{FS: fstest.MapFS{}}).Index()
	if err != nil || len(x.Entries) != 0 {
		t.Errorf("an empty folder: %+v, %v", x, err)
	}
}

// counting counts the opens of files.
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

// A file is read again only after a change.
func TestScannerCaches(t *testing.T) {
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
