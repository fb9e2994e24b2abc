package runfolder_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/runfolder"
	"locksim/reports/index"
	"locksim/scenarios/outcome/triage"
)

// What a folder remembers of its explorations is an entry with its violations by state.
func TestTriageEntry(t *testing.T) {
	h := &triage.History{Version: triage.Version, Kind: triage.Kind,
		Subjects: []triage.Subject{{Lock: "mylock", Judge: "promise", Rounds: 3,
			Shapes: []triage.Shape{{Shape: "stuck in mode none: crash", State: triage.New, First: 3, Last: 3},
				{Shape: "overlap in mode none: pause", State: triage.Gone, First: 1, Last: 2}}}}}
	s := &runfolder.Scanner{FS: fstest.MapFS{"known/triage.json": file(text(t, h), 0)}}
	got, err := s.Index()
	if err != nil {
		t.Fatal(err)
	}
	want := []index.Entry{{Folder: "known", Kind: index.Triage, What: "Violations over time", Unexpected: true,
		Result: "mylock, by its own promise: Round 3: 1 new, 1 gone.",
		Shapes: []index.Shape{
			{State: "new", Words: "new", Shape: "mylock, by its own promise: stuck in mode none: crash",
				Text: "first seen in round 3"},
			{State: "gone", Words: "gone", Shape: "mylock, by its own promise: overlap in mode none: pause",
				Text: "seen in rounds 1 to 2: its stored schedule does not break the lock any more"}},
		Pages: []index.Page{{Name: "JSON", File: "triage.json"}}}}
	if diff := cmp.Diff(want, got.Entries); diff != "" {
		t.Error(diff)
	}
}
