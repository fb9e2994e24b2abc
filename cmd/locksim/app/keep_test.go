package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksim/scenarios/explore"
	"locksim/scenarios/play"
	"locksim/scenarios/sweep"
)

// The folders of results are called by what they are about.
func TestFolderToKeep(t *testing.T) {
	plans := func(locks ...string) (all []*explore.Plan) {
		for _, l := range locks {
			all = append(all, &explore.Plan{Lock: l})
		}
		return all
	}
	for _, tt := range []struct {
		want    string
		locks   string
		plans   []*explore.Plan
		promise bool
	}{
		{"explore-redlock", "redlock", plans("redlock"), false},
		{"explore-single-fenced-promise", "single,fenced", plans("single", "fenced"), true},
		{"explore-all", "all", plans("a", "b", "c", "d"), false},
		{"explore-a-b-c-d_", "a,b,c,d", plans("a", "b", "c", "d"), false},
	} {
		f := exploreFlags{campaignFlags: campaignFlags{keep: true}, locks: []string{tt.locks}, promise: tt.promise}
		k, err := f.folderToKeep(tt.plans)
		if err != nil || !k.listed || !strings.HasPrefix(k.dir, filepath.Join("reports", "out", tt.want)) || len(k.dir) > len("reports/out/"+tt.want)+8 {
			t.Errorf("%+v, %v; want %s", k, err, tt.want)
		}
	}
	f := sweepFlags{campaignFlags: campaignFlags{keep: true}, promise: true}
	if k, err := f.folderToKeep(&sweep.Plan{Scenario: "gc-pause", Lock: "mylock", Seed: 3}); err != nil || k.dir != filepath.Join("reports", "out", "sweep-gc-pause-mylock-s3-promise") {
		t.Errorf("%+v, %v", k, err)
	}
}

// Where there can be no link, people are told, and the index is there.
func TestKeepWithoutLink(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("reports", "out", "latest", "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, _, errs := call(t, []play.Lock{mylock()}, "run", "calm", "--lock", "mylock", "--fencing", "none", "--keep")
	if code != exitExpected || !strings.Contains(errs, "is no link, and stays as it is\n") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	b, err := os.ReadFile(filepath.Join("reports", "out", "index.html"))
	if err != nil || !strings.Contains(string(b), `<a href="./run-calm-mylock-s1/report.html">`) {
		t.Errorf("%v\n%s", err, b)
	}
}

// The report of a violation is written by a child, with locks of the user's own.
// One that cannot be written is left out, and people are told why.
func TestFoundPages(t *testing.T) {
	t.Setenv(asChild, "1")
	dir := t.TempDir()
	if code, _, errs := call(t, []play.Lock{mylock()}, "run", "gc-pause", "--lock", "mylock", "--fencing", "none", "--out", dir); code != exitExpected {
		t.Fatal(errs)
	}
	r, err := readRecording(stored(dir))
	if err != nil {
		t.Fatal(err)
	}
	other := *r.run
	other.Lock = "nobodys"
	var errs bytes.Buffer
	s := &shell{program: "mysim", err: &errs}
	pages, err := explorations{s}.foundPages(map[int]foundPageJob{1: {Run: &other}, 3: {Run: r.run, Replay: "mysim explore <again>"}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) != 1 || !strings.Contains(string(pages[3].data), "mysim explore &lt;again&gt;") || pages[3].name != "found-3.html" {
		t.Errorf("%d pages: %.200s", len(pages), pages[3].data)
	}
	if !strings.HasPrefix(errs.String(), "found-1.html cannot be written: ") || !strings.Contains(errs.String(), "nobodys") {
		t.Errorf("people are told %q", errs.String())
	}
}
