package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"locksim/internal/journal"
)

type result struct {
	Name string
	Runs int
}

// What was added is there when the journal is opened again; a line that was cut off is not, and spoils none after it.
func TestJournal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results.jsonl")
	if err := os.WriteFile(name, []byte(`{"Name":"first","Runs":1}`+"\n"+`{"Name":"cut o`), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []result{{"first", 1}}
	for _, next := range []result{{"second", 2}, {"third", 3}} {
		j, err := journal.Open[result](name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(j.Made(), want) {
			t.Errorf("made %v, want %v", j.Made(), want)
		}
		if err := j.Add(next); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		want = append(want, next)
	}
	j, err := journal.Open[result]("")
	if err != nil || j.Add(want[0]) != nil || len(j.Made()) > 0 || j.Close() != nil {
		t.Errorf("without a file: %v, %v", j, err)
	}
}

// A journal that is only read has what is whole, and stays as it is: another program may be in the middle of a line.
func TestRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results.jsonl")
	if _, err := journal.Read[result](name); err == nil {
		t.Error("no error for a file that is not there")
	}
	const text = `{"Name":"first","Runs":1}` + "\n" + `{"Name":"in the mid`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Read[result](name)
	if err != nil || !slices.Equal(j.Made(), []result{{"first", 1}}) {
		t.Fatalf("%v, %v", j, err)
	}
	if err := errors.Join(j.Add(result{"second", 2}), j.Close()); err != nil {
		t.Error(err)
	}
	if now, err := os.ReadFile(name); string(now) != text {
		t.Errorf("the file has changed: %q, %v", now, err)
	}
}
