package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/cmd/locksim/internal/searchflags"
	"locksim/reports/html"
	"locksim/scenarios/subject"
)

// The folder of --keep is named after the command and the locks.
func TestFolderToKeep(t *testing.T) {
	for _, tt := range []struct {
		want    string
		flag    string
		locks   []string
		promise bool
	}{
		{"explore-redlock", "redlock", []string{"redlock"}, false},
		{"explore-single-fenced-promise", "single,fenced", []string{"single", "fenced"}, true},
		{"explore-all", "all", []string{"a", "b", "c", "d"}, false},
		{"explore-a-b-c-d_", "a,b,c,d", []string{"a", "b", "c", "d"}, false},
	} {
		f := exploreFlags{locks: []string{tt.flag}, judged: searchflags.Judged{Promise: tt.promise}}
		k := publish.NewFolder(true, "", f.folderName(tt.locks)...)
		if !strings.HasPrefix(k.Dir, filepath.Join("reports", "out", tt.want)) || len(k.Dir) > len("reports/out/"+tt.want)+8 {
			t.Errorf("%+v; want %s", k, tt.want)
		}
	}
}

// Where the link "latest" cannot be made, a message says so, and the index is written.
func TestKeepWithoutLink(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("reports", "out", "latest", "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, _, errs := call(t, []subject.Lock{mylock()}, "run", "calm", "--lock", "mylock", "--fencing", "none", "--keep")
	if code != console.ExitExpected || !strings.Contains(errs, "is not a link, and is left as it is\n") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	b, err := os.ReadFile(filepath.Join("reports", "out", "index.html"))
	if err != nil || !strings.Contains(string(b), `<a href="./run-calm-mylock-s1/report.html">`) {
		t.Errorf("%v\n%s", err, b)
	}
}

// A child writes the report of a violation, also with the user's own locks. A report
// that cannot be written is left out, and a message says why.
func TestFoundPages(t *testing.T) {
	t.Setenv(asChild, "1")
	dir := t.TempDir()
	if code, _, errs := call(t, []subject.Lock{mylock()}, "run", "gc-pause", "--lock", "mylock", "--fencing", "none",
		"--out",
		dir); code != console.ExitExpected {
		t.Fatal(errs)
	}
	r, err := readRecording(runfiles.Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	other := *r.run
	other.Lock = "nobodys"
	var errs bytes.Buffer
	s := &console.Console{Program: "mysim", Err: &errs}
	c, err := publish.NewCrew(s, publish.Options{Workers: 2, Quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pages := map[string]string{}
	linked := map[int]string{}
	jobs := map[int]publish.FoundPageJob{1: {Run: &other}, 3: {Run: r.run, Replay: "mysim explore <again>"}}
	err = c.FoundPages("explore", jobs, html.CampaignOptions{}, func(b *bytes.Buffer, opt html.CampaignOptions) error {
		linked = map[int]string{1: opt.Page(1), 3: opt.Page(3)}
		return nil
	}, func(name string, data []byte) error {
		pages[name] = string(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, whole := pages["explore.html"]; !whole || len(pages) != 3 || pages["found-3.records.gz"] == "" ||
		!strings.Contains(pages["found-3.html"], "mysim explore &lt;again&gt;") {
		t.Errorf("%d pages: %.200s", len(pages), pages["found-3.html"])
	}
	if linked[1] != "" || linked[3] != "found-3.html" {
		t.Errorf("the page links to %v", linked)
	}
	if !strings.HasPrefix(errs.String(), "found-1.html cannot be written: ") ||
		!strings.Contains(errs.String(), "nobodys") {
		t.Errorf("standard error has %q", errs.String())
	}
}
