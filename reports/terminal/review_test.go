package terminal_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"locksim/internal/testreports"
	"locksim/reports"
	"locksim/reports/terminal"
)

// The summary fits into the width, and the error of the writer is returned.
func TestReview(t *testing.T) {
	var b bytes.Buffer
	if err := terminal.Review(&b, testreports.Review(), reports.Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
	if !strings.Contains(b.String(), "1  corrupted in mode seal: pause  3 of 540 runs") ||
		!strings.HasSuffix(b.String(), "for the team.\n") {
		t.Errorf("the summary is\n%s", b.String())
	}
	if err := terminal.Review(testreports.FullDisk{}, testreports.Review(), reports.Options{}); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("the error is %v", err)
	}
}
