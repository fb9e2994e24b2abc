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
	"locksim/reports/index"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/spaces"
)

// noon is the current time of the indexes that have one.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func file(text string, before time.Duration) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(text), ModTime: noon.Add(-before), Mode: 0o644}
}

// storedRun is a run as a document.
func storedRun(t *testing.T) string {
	t.Helper()
	r := outcome.RunFile{Version: outcome.RunVersion, Scenario: "gc-pause", Lock: "fenced", Seed: 7,
		Modes: map[fence.Mode]outcome.ModeFile{
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
var plan = explorations.Plan{Lock: "single", Judge: explorations.JudgePromise, Collect: explorations.CollectAll,
	Runs: 250, FirstSeed: 1, Block: 100,
	Space: spaces.Space{Redis: 1}}

func block(job int) explorations.Block {
	return explorations.Block{Job: job, Tally: tally.Tally{Runs: 100, Evidence: 90, Violating: 2,
		Violations: map[checker.Label]int{checker.Stuck: 1, checker.Overlap: 2}}}
}

// journal is the journal of the exploration with some of its results.
func journal(t *testing.T, results int) string {
	t.Helper()
	b := fmt.Sprintf("{\"version\":1,\"kind\":\"explore\",\"jobs\":3,\"plan\":%s}\n", marshal(t, plan))
	for i := range results {
		b += fmt.Sprintf("{\"job\":%d,\"result\":%s}\n", i, marshal(t, block(i)))
	}
	return b
}

func indexOf(t *testing.T, fsys fs.FS, now func() time.Time) index.Index {
	t.Helper()
	x, err := (&runfolder.Scanner{FS: fsys, Now: now}).Index()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func atNoon() time.Time { return noon }

// An entry of a run has its scenario, lock and seed, its verdicts, and the pages that
// exist.
func TestIndexOfARun(t *testing.T) {
	fsys := fstest.MapFS{
		"run-x/run.json":    file(storedRun(t), time.Hour),
		"run-x/report.html": file("<p>", time.Hour),
		"run-x/other.txt":   file("", time.Hour),
		"screenshots/x.png": file("", time.Hour),
		".hidden/run.json":  file("{", time.Hour),
		"latest":            {Data: []byte("run-x"), Mode: fs.ModeSymlink | 0o777},
	}
	want := index.Index{Entries: []index.Entry{{Folder: "run-x", Kind: index.Run, What: "gc-pause", Lock: "fenced",
		Seed:       "seed 7",
		Labels:     []index.Label{{Mode: "none", Label: checker.Corrupted}, {Mode: "seal", Label: checker.Rescued}},
		Unexpected: true, Latest: true, Changed: "2026-11-21 11:00:00",
		Pages: []index.Page{{Name: "Report", File: "report.html"}, {Name: "JSON", File: "run.json"}}}}}
	if d := cmp.Diff(want, indexOf(t, fsys, atNoon)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	want.Entries[0].Changed = ""
	if d := cmp.Diff(want, indexOf(t, fsys, nil)); d != "" {
		t.Errorf("without a time: (-want +got)\n%s", d)
	}
}

// A campaign is running while its journal grows, and interrupted after that. With a
// document it is finished, unless its journal changed after the document.
func TestIndexOfACampaign(t *testing.T) {
	e := explorations.Assemble(&plan, map[int]explorations.Block{0: block(0), 1: block(1), 2: block(2)})
	stuck := []index.Label{{Label: checker.Stuck, Count: 2}, {Label: checker.Overlap, Count: 4}}
	for _, tt := range []struct {
		name     string
		journal  *fstest.MapFile
		document *fstest.MapFile
		progress *index.Progress
		said     string
		labels   []index.Label
	}{
		{name: "at work", journal: file(journal(t, 2), time.Minute), progress: &index.Progress{Done: 2, Jobs: 3,
			Running: true},
			said: "So far 200 runs: 4 runs with a violation. Judged by its own promise.", labels: stuck},
		{name: "interrupted", journal: file(journal(t, 2), time.Hour), progress: &index.Progress{Done: 2, Jobs: 3},
			said: "So far 200 runs: 4 runs with a violation. Judged by its own promise.", labels: stuck},
		{name: "cut off in the middle of a line", journal: file(strings.TrimSuffix(journal(t, 3), "}\n"), time.Second),
			progress: &index.Progress{Done: 2, Jobs: 3, Running: true},
			said:     "So far 200 runs: 4 runs with a violation. Judged by its own promise.", labels: stuck},
		{name: "not begun", journal: file("", time.Second), progress: &index.Progress{Running: true},
			said: "No job has finished yet."},
		{name: "ended", journal: file(journal(t, 3), time.Minute), document: file(text(t, e), time.Second),
			said:   "300 runs, 270 of them tested the lock: 6 runs with a violation. Judged by its own promise.",
			labels: []index.Label{{Label: checker.Stuck, Count: 3}, {Label: checker.Overlap, Count: 6}}},
		{name: "gone on", journal: file(journal(t, 2), time.Second), document: file(text(t, e), time.Minute),
			progress: &index.Progress{Done: 2, Jobs: 3, Running: true},
			said:     "So far 200 runs: 4 runs with a violation. Judged by its own promise.", labels: stuck},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := fstest.MapFS{"x/explore.jsonl": tt.journal}
			if tt.document != nil {
				fsys["x/explore.json"] = tt.document
			}
			got := indexOf(t, fsys, atNoon).Entries
			if len(got) != 1 || got[0].Kind != index.Exploration {
				t.Fatalf("the index has %+v", got)
			}
			if d := cmp.Diff(tt.progress, got[0].Progress); d != "" {
				t.Errorf("progress (-want +got)\n%s", d)
			}
			if d := cmp.Diff(tt.labels, got[0].Labels); d != "" {
				t.Errorf("labels (-want +got)\n%s", d)
			}
			if got[0].Result != tt.said {
				t.Errorf("the result is %q, want %q", got[0].Result, tt.said)
			}
		})
	}
}

// Unfinished matrices and reviews are read from their journals too. Their entries
// count no violations.
func TestIndexOfAMatrixAtWork(t *testing.T) {
	matrix := `{"version":1,"kind":"matrix","jobs":4,"plan":{"scenarios":{"calm":{"locks":["a","b"]},"gc-pause":{"locks":["b"]}}}}` + "\n" +
		`{"job":1,"result":{"tallies":[{"runs":2},{"runs":2}]}}` + "\n" + `{"job":3,"failed":"it hung"}` + "\n"
	review := `{"version":1,"kind":"review","jobs":2,"plan":{"lock":"fenced","matrix":{}}}` + "\n" +
		`{"job":0,"result":{"tallies":[{"runs":2}]}}` + "\n" + `{"job":1,"result":{"job":0,"runs":100,"violating":7}}` +
		"\n" + `{"follow":"trial x","result":[]}` + "\n"
	fsys := fstest.MapFS{
		"matrix/matrix.jsonl": file(matrix, time.Second), "new/matrix.jsonl": file("", time.Second),
		"review-fenced/review.jsonl": file(review, time.Hour), "shard/shard-1-of-2/matrix.jsonl": file(matrix, time.Second),
	}
	var got []string
	for _, e := range indexOf(t, fsys, atNoon).Entries {
		got = append(got, fmt.Sprintf("%s %s %q %q %+v %v", e.Folder, e.Kind, e.What, e.Result, *e.Progress, e.Labels))
	}
	want := []string{
		`matrix matrix "Matrix of 2 scenarios and 2 locks" "So far 4 runs." {Done:1 Jobs:4 Running:true} []`,
		`new matrix "Matrix" "No job has finished yet." {Done:0 Jobs:0 Running:true} []`,
		`review-fenced review "Review of fenced" "So far 102 runs. All runs are finished." {Done:2 Jobs:2 Running:false} []`,
		`shard/shard-1-of-2 matrix "Matrix of 2 scenarios and 2 locks" "So far 4 runs." {Done:1 Jobs:2 Running:true} []`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// The progress of a shard counts its own jobs only.
func TestIndexOfShards(t *testing.T) {
	fsys := fstest.MapFS{
		"all/shard-0-of-2/explore.jsonl": file(journal(t, 1), time.Second),
		"all/shard-1-of-2/explore.jsonl": file(journal(t, 0), time.Second),
	}
	got := indexOf(t, fsys, atNoon).Entries
	if len(got) != 2 || got[0].Progress.Jobs != 2 || got[0].Progress.Done != 1 || got[1].Progress.Jobs != 1 {
		t.Errorf("the index has %+v", got)
	}
}

// A journal may claim any number of jobs: they are not counted one by one, which would take minutes.
func TestIndexOfAJournalThatClaimsManyJobs(t *testing.T) {
	huge := strings.Replace(journal(t, 1), `"jobs":3`, `"jobs":99999999999`, 1)
	fsys := fstest.MapFS{"x/explore.jsonl": file(huge, time.Second), "shard-1-of-2/explore.jsonl": file(huge, time.Second)}
	got := indexOf(t, fsys, atNoon).Entries
	if len(got) != 2 || got[0].Progress.Jobs+got[1].Progress.Jobs != 99999999999+99999999999/2 {
		t.Errorf("the index has %+v", got)
	}
}

// A file in place of the folder is an error; an empty folder is not.
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

// The scanner reads a file again after it has changed, and not before.
func TestScannerReadsOnce(t *testing.T) {
	opened := 0
	fsys := fstest.MapFS{"x/explore.jsonl": file(journal(t, 1), time.Minute),
		"y/run.json": file(storedRun(t), time.Minute), "z/run.json": file("{", time.Minute)}
	s := &runfolder.Scanner{FS: counting{fsys, &opened}, Now: atNoon}
	look := func() index.Index {
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
