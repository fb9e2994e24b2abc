package publish

import "testing"

// An index lists the folder of --keep, and not that of --out.
func TestFolder(t *testing.T) {
	if k := NewFolder(true, "", "explore"); !k.listed {
		t.Errorf("%+v", k)
	}
	if k := NewFolder(false, "here", "explore"); k.listed || k.Dir != "here" {
		t.Errorf("%+v", k)
	}
}
