package campaign

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"locksim/internal/journal"
)

// fullDisk is a journal on a disk that is full.
func fullDisk(t *testing.T) *journal.Journal {
	t.Helper()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skipf("there is no full disk here: %v", err)
	}
	j, err := journal.Open("/dev/full", 0)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A journal on a full disk does not end the campaign: the first failure is reported, and the
// later results are only in the record.
func TestUnwrittenResultsAreKept(t *testing.T) {
	full := fullDisk(t)
	var reported []error
	r := &run{opt: Options{Unwritten: func(err error) { reported = append(reported, err) }}, journal: full}
	for i := range 3 {
		if err := r.write(line{Job: &i, Result: []byte("1")}); err != nil {
			t.Errorf("job %d: %v", i, err)
		}
	}
	if len(reported) != 1 || !errors.Is(reported[0], syscall.ENOSPC) {
		t.Errorf("reported: %v", reported)
	}
	if err := full.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the journal is still open: %v", err)
	}
}

// Without Unwritten the failure ends the campaign.
func TestUnwrittenResultsEndACampaign(t *testing.T) {
	full := fullDisk(t)
	defer func() { _ = full.Close() }()
	r := &run{journal: full}
	if err := r.write(line{Job: new(int), Result: []byte("1")}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
}
