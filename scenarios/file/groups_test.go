package file_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
)

func TestGroups(t *testing.T) {
	for group, want := range map[string]string{
		"all": "single fenced watchdog watchdog-fenced reentrant reentrant-fenced fair fair-fenced " +
			"redlock redlock-watchdog redlock-fenced",
		"one-node":      "single fenced watchdog watchdog-fenced reentrant reentrant-fenced fair fair-fenced",
		"quorum":        "redlock redlock-watchdog redlock-fenced",
		"with-token":    "fenced watchdog-fenced reentrant-fenced fair-fenced redlock-fenced",
		"without-token": "single watchdog reentrant fair redlock redlock-watchdog",
		"renewing":      "watchdog watchdog-fenced redlock-watchdog",
		"broken/x":      "broken/x",
	} {
		if got := strings.Join(kinds.Members(group), " "); got != want {
			t.Errorf("%s is %s, want %s", group, got, want)
		}
	}
}

func TestLockNames(t *testing.T) {
	for _, tt := range []struct {
		locks []string
		want  string
	}{
		{nil, "fenced"},
		{[]string{"redlock", "single"}, "single redlock"},
		{[]string{"broken/b", "quorum", "redlock", "broken/a"}, "redlock redlock-watchdog redlock-fenced broken/b broken/a"},
	} {
		s := file.Defaults()
		s.Locks = tt.locks
		if got := strings.Join(s.LockNames(), " "); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.locks, got, tt.want)
		}
	}
}

// Later lines override earlier ones for each mode, and a line about a group does
// not apply to modes in which a kind of the group cannot run.
func TestExpectGroups(t *testing.T) {
	s, err := file.Parse("x.yaml", []byte(`name: x
expect:
  all: {none: corrupted, seal: rescued, cas: safe}
  quorum: {none: overlap}
  redlock-fenced: {seal: corrupted}
  single: {seal: n/a}
`))
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]map[fence.Mode]checker.Label{
		"fenced":         {fence.None: checker.Corrupted, fence.Seal: checker.Rescued, fence.CAS: checker.Safe},
		"watchdog":       {fence.None: checker.Corrupted, fence.CAS: checker.Safe},
		"single":         {fence.None: checker.Corrupted, fence.Seal: checker.NotApplicable, fence.CAS: checker.Safe},
		"redlock":        {fence.None: checker.Overlap, fence.CAS: checker.Safe},
		"redlock-fenced": {fence.None: checker.Overlap, fence.Seal: checker.Corrupted, fence.CAS: checker.Safe},
	} {
		if diff := cmp.Diff(want, s.Expect[kind]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
	if len(s.Expect) != len(kinds.Names()) {
		t.Errorf("%d kinds have expectations, want all %d", len(s.Expect), len(kinds.Names()))
	}
	if got, want := s.Pos("expect.watchdog.none").String(), "x.yaml:3:15"; got != want {
		t.Errorf("the line about watchdog is at %s, want %s", got, want)
	}
}

// A wrong label in a line about a group is reported at its position.
func TestExpectGroupsErrors(t *testing.T) {
	_, err := file.Parse("x.yaml", []byte("name: x\nexpect:\n  all: {none: save}\n"))
	want := "x.yaml:3:15: expect.all.none: there is no label \"save\": did you mean safe? Or choose one of corrupted, " +
		"unknown, panicked, stuck, hung, false-reject, rescued, void, revived, misconduct, overtaken, repeated, regressed, " +
		"overlap, untested, safe, n/a\n   3 |   all: {none: save}\n     |               ^"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
