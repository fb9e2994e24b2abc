package groundtruth

import (
	"testing"

	"locksim/internal/findings"
)

// Each row has a finding, which says of the same thread that it is mended where a version is without it. A run that
// fails otherwise is one of a published bug.
func TestFindings(t *testing.T) {
	for _, b := range Bugs() {
		f, ok := findings.Find(b.ID)
		if !ok {
			t.Errorf("%s has no finding", b.ID)
			continue
		}
		if own := f.Class == findings.Own; !own && f.Thread != b.Source {
			t.Errorf("%s is of %s, and its finding of %s", b.ID, b.Source, f.Thread)
		} else if !own && (f.State == findings.Mended) != (b.HasNot != "") {
			t.Errorf("%s is %s, and %q is without it", b.ID, f.State, b.HasNot)
		} else if own && b.Otherwise != "" {
			t.Errorf("%s is found with locksim, and fails otherwise", b.ID)
		}
		if b.Missed != "" && b.Otherwise != "" {
			t.Errorf("%s is missed, and fails otherwise: one of both says it", b.ID)
		}
	}
}
