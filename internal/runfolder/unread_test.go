package runfolder_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"locksim/reports/index"
)

// denied is a file system in which some folders cannot be read.
type denied struct{ fstest.MapFS }

func (d denied) ReadDir(name string) ([]fs.DirEntry, error) {
	if strings.HasPrefix(name, "shut") {
		return nil, &fs.PathError{Op: "open", Path: "/somewhere/" + name, Err: fs.ErrPermission}
	}
	return d.MapFS.ReadDir(name)
}

// A folder or file that cannot be read is listed with the reason, and all others are
// listed as usual.
func TestIndexOfWhatCannotBeRead(t *testing.T) {
	run := storedRun(t)
	fsys := denied{fstest.MapFS{
		"a-folder/run.json/x":   file("", 0),
		"b-half/run.json":       file(run[:len(run)/2], 0),
		"c-other/explore.json":  file(`{"version": 9, "kind": "explore"}`, 0),
		"d-words/sweep.json":    file("hello", 0),
		"e-plan/sweep.jsonl":    file("{\"version\":1,\"kind\":\"sweep\",\"plan\":{\"block\":0}}\n", 0),
		"f-lines/explore.jsonl": file(journal(t, 1)+"nonsense\n{}\n", 0),
		"g-matrix/matrix.json":  file(`{"version": 1}`, 0),
		"h-page/review.html":    file("<p>", 0),
		"i-numbers/explore.jsonl": file(strings.Replace(journal(t, 1), `"runs":100,"evidence"`, `"runs":"many","evidence"`,
			1), 0),
		"shut/run.json":            file(run, 0),
		"z-good/run.json":          file(run, 0),
		"z-good/deeper/4/run.json": file("{", 0), // below a run, folders have no entries
	}}
	want := map[string]string{
		"a-folder":  "run.json: not a regular file",
		"b-half":    "run.json:",
		"c-other":   "explore.json: not a document of kind explore and version 1",
		"d-words":   "sweep.json: not a document of locksim",
		"e-plan":    "sweep.jsonl has no results of version 1",
		"f-lines":   "explore.jsonl:3: this line is not a result",
		"g-matrix":  "matrix.json: not a matrix of version 1",
		"h-page":    "review.html: this page has no title",
		"i-numbers": "explore.jsonl: not a document of locksim",
		"shut":      "permission denied",
	}
	for _, e := range indexOf(t, fsys, atNoon).Entries {
		problem, bad := want[e.Folder]
		if bad != (e.Kind == index.Unread) || !strings.HasPrefix(e.Problem, problem) ||
			strings.Contains(e.Problem, "somewhere") {
			t.Errorf("%s is a %s with the problem %q, want %q", e.Folder, e.Kind, e.Problem, problem)
		}
		delete(want, e.Folder)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}

var errBroken = errors.New("the disk is gone")

// broken is a file system on which every read of a JSON file fails.
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
	got := indexOf(t, broken{fstest.MapFS{"x/run.json": file(storedRun(t), 0)}}, nil).Entries
	if len(got) != 1 || got[0].Problem != "run.json: the disk is gone" {
		t.Errorf("the index has %+v", got)
	}
}
