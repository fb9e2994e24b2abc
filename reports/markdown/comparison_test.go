package markdown_test

import (
	"bytes"
	"errors"
	"testing"

	"locksim/internal/testreports"
	"locksim/reports/markdown"
)

func TestComparison(t *testing.T) {
	var b bytes.Buffer
	if err := markdown.Comparison(&b, testreports.WideComparison()); err != nil {
		t.Fatal(err)
	}
	testreports.Golden(t, "comparison", "tables, and a section for each lock with the runs that show harm; the texts of "+
		"a lock are not markup", b.String())
	if err := markdown.Comparison(testreports.FullDisk{}, testreports.Comparison()); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("the error is %v", err)
	}
}
