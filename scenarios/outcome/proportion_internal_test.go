package outcome

import (
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// A key whose TTL is far from that of the lock is told in each run that did not end well, once.
func TestLongLived(t *testing.T) {
	lease := 2 * time.Second
	granted := checker.History{Grants: []checker.Grant{{Client: "c0", Left: &lease}}}
	record := func(ttl, left time.Duration) *evidence.Record {
		return &evidence.Record{
			Keys:    map[string][]string{"order": {"order"}},
			Changes: []trace.KeyChange{{Key: "order", Server: "r0", Change: trace.KeyDeleted, Left: trace.LeftFor(left)}},
			Left: []evidence.ServerState{{Server: trace.Server{Name: "r0"},
				Keys: []trace.Key{{Name: "other", TTL: 99 * time.Hour}, {Name: "order", TTL: ttl}}}},
		}
	}
	for name, c := range map[string]struct {
		label  checker.Label
		record *evidence.Record
		told   bool
		want   string
	}{
		"left at the end": {checker.Stuck, record(2000*time.Second, time.Second), false,
			"The key order on r0 had 33m20s to live, and a lease lasts 2s"},
		"deleted in the run": {checker.Overlap, record(time.Second, 2000*time.Second), false,
			"The key order on r0 had 33m20s to live"},
		"of the right length": {checker.Stuck, record(time.Second, 2*time.Second), false, ""},
		"a safe run":          {checker.Safe, record(2000*time.Second, time.Second), false, ""},
		"told already":        {checker.Stuck, record(2000*time.Second, time.Second), true, ""},
		"no record":           {checker.Stuck, nil, false, ""},
	} {
		got := longLived(ModeRun{Verdict: checker.Verdict{Label: c.label, Reasons: []checker.Reason{{Unit: c.told}}},
			Record: c.record, History: granted})
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q", name, got)
		}
	}
	long := ModeRun{Verdict: checker.Verdict{Label: checker.Stuck}, Record: record(2000*time.Second, time.Second)}
	if got := longLived(long); got != "" {
		t.Errorf("no lease is known, and the key is too long-lived: %q", got)
	}
	lease = 1000 * time.Second
	if long.History = granted; longLived(long) != "" {
		t.Error("a lease of 1000 s has a key of 2000 s, and that is told")
	}
}
