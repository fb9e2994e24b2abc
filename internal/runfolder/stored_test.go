package runfolder_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/runfolder"
)

// A stored run is found by the names that commands give it, or by what it has; the record beside it belongs to it.
func TestStoredRuns(t *testing.T) {
	run := storedRun(t)
	got, err := runfolder.StoredRuns(fstest.MapFS{
		"x/run.json":                       file("{", 0), // damaged
		"x/run.records.gz":                 file("", 0),
		"found-1.json":                     file(run, 0),
		"found-2.json":                     file(run, 0),
		"found-2.records.gz":               file("", 0),
		"explore.json":                     file(`{"version":1,"kind":"explore","lock":"single"}`, 0),
		"trace.chrome.json":                file(`[]`, 0),
		"records/job-000000.records.gz":    file("", 0),
		"testdata/single-overlap-a1b.json": file(run, 0),
		".new-1/run.json":                  file(run, 0),
		"y/.run.json":                      file(run, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []runfolder.StoredRun{
		{Run: "found-1.json"},
		{Run: "found-2.json", Records: "found-2.records.gz"},
		{Records: "records/job-000000.records.gz"},
		{Run: "testdata/single-overlap-a1b.json"},
		{Run: "x/run.json", Records: "x/run.records.gz"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
