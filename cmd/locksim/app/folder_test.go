package app

import "testing"

// An index lists the folder of --keep, and not that of --out.
func TestFolder(t *testing.T) {
	if k := newResultFolder(true, "", "explore"); !k.listed {
		t.Errorf("%+v", k)
	}
	if k := newResultFolder(false, "here", "explore"); k.listed || k.dir != "here" {
		t.Errorf("%+v", k)
	}
}
