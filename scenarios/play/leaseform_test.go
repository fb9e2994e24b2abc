package play_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/checker"
	"locksim/internal/testlocks"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// What a lock says about its leases and its queue must fit together.
func TestValidateLease(t *testing.T) {
	for want, change := range map[string]func(l *subject.Lock){
		`the Lease is "forever": choose until, counted or held`: func(l *subject.Lock) { l.Lease = "forever" },
		"the LeaseTTL is 1s": func(l *subject.Lock) { l.LeaseTTL = time.Second },
		"the LeaseTTL is -1s": func(l *subject.Lock) {
			l.Lease, l.LeaseTTL = subject.LeaseCounted,
				-time.Second
		},
		"the LeaseTTL is 0": func(l *subject.Lock) {
			l.Lease, l.FollowsSpec = subject.LeaseCounted,
				false
		},
		"the Detection is 0:": func(l *subject.Lock) {
			l.Lease, l.FollowsSpec = subject.LeaseHeld,
				false
		},
		"the Detection is 1s":                         func(l *subject.Lock) { l.Detection = time.Second },
		"a negative number of Messages, or GrantTime": func(l *subject.Lock) { l.GrantTime = -time.Second },
		"has a Queue and no Keys": func(l *subject.Lock) {
			l.Queue,
				l.Keys = func(string) string { return "queue" }, nil
		},
	} {
		l := testlocks.Correct("theirs")
		change(&l)
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The checker imports no package of locksim, so it has the causes and the duties that promises name
// too: they are the same.
func TestCausesAndDutiesAgree(t *testing.T) {
	var promised, found []string
	for _, d := range promise.Duties() {
		promised = append(promised, string(d))
	}
	for _, d := range promise.Duties() {
		found = append(found, string(d))
	}
	for _, c := range promise.Causes() {
		promised = append(promised, string(c))
	}
	for _, c := range promise.Causes() {
		found = append(found, string(c))
	}
	if strings.Join(promised, ",") != strings.Join(found, ",") {
		t.Errorf("promises name %q, the checker %q", promised, found)
	}
}

// A lock that is held until its holder is told, whose key lives for 10 s and which never tells: its holder, alone and
// in a run without faults, works on for 20 s. Several keys that were learnt do not say when it was lost.
func TestDetectionIsJudged(t *testing.T) {
	sc, err := file.Parse("late.yaml", []byte("{name: late, world: {clients: 1, latency: 1ms}, lock: {ttl: 10s}, "+
		"workload: {rounds: 1, hold: 30s}}"))
	if err != nil {
		t.Fatal(err)
	}
	two := taking(func(ctx context.Context, e subject.Env, c *redis.Client, key string) error {
		return c.Set(ctx, key+":owner", e.Name(), e.Spec().TTL).Err()
	}, ":owner")
	for _, c := range []struct {
		name      string
		try       attempt
		form      subject.LeaseForm
		detection time.Duration
		late      time.Duration
		breach    bool
	}{
		{"never told", taking(nothing), subject.LeaseHeld, 5 * time.Second, 20 * time.Second, true},
		{"within the TTL of the scenario", taking(nothing), subject.LeaseHeld, 0, 20 * time.Second, true},
		{"within its bound", taking(nothing), subject.LeaseHeld, 20 * time.Second, 20 * time.Second, false},
		{"its end is known", taking(nothing), subject.LeaseCounted, 0, 0, false},
		{"several keys", two, subject.LeaseHeld, 5 * time.Second, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := onRedis("late", c.try)
			l.Lease, l.Detection = c.form, c.detection
			o := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
			f := o.Modes[0].Verdict.Facts
			late := time.Duration(f.NoticedLateSeconds * float64(time.Second))
			told := slices.ContainsFunc(o.Modes[0].Verdict.Reasons,
				func(r checker.Reason) bool { return strings.Contains(r.Text, "longer than the Detection") })
			broken := slices.ContainsFunc(outcome.Violations(o, lock.Promise{}),
				func(v outcome.Violation) bool { return v.Label == checker.Misconduct })
			if late.Round(100*time.Millisecond) != c.late || (f.Misconduct > 0) != c.breach || told != c.breach ||
				broken != c.breach {
				t.Errorf("noticed %v late, misconduct %d, told so %v, a violation %v; want %v and %v: %v", late, f.Misconduct, told,
					broken, c.late, c.breach,
					o.Modes[0].Verdict.Reasons)
			}
		})
	}
}

// A lease that is counted or held can be extended as it can by itself, has its token, and tells its loss. What is
// counted begins anew with an extension that succeeds, and is judged by the TTL of the lock, which is not that of the
// scenario here.
func TestExtendsInEveryForm(t *testing.T) {
	for _, c := range []struct {
		form     subject.LeaseForm
		ttl      time.Duration
		extended int
		expired  bool // the lease ends before the release
	}{
		{subject.LeaseUntil, 0, 2, false},
		{subject.LeaseCounted, 0, 2, false},
		{subject.LeaseCounted, 3 * time.Second, 2, true}, // it ends at 13 s
		{subject.LeaseHeld, 0, 2, false},
	} {
		sc := testruns.Parse(t, "name: extends\nworld: {clients: 1, latency: 1ms}\nlock: {ttl: 10s}\n"+
			"workload: {rounds: 1, hold: 15s, extend: 2, checks_until: never}\n")
		l := testruns.Kind(t, "fenced")
		l.Lease, l.LeaseTTL = c.form, c.ttl
		o := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
		m := o.Modes[0]
		if f := m.Verdict.Facts; f.Calls.Extended != c.extended || f.Misconduct != 0 || m.Verdict.Label != checker.Safe {
			t.Errorf("%s %v: %d extensions, label %s: %v", c.form, c.ttl, f.Calls.Extended, m.Verdict.Label, m.Verdict.Reasons)
		}
		g := m.History.Grants[0]
		if expired := g.Until > 0 && g.Until < g.Released; expired != c.expired || g.Token == 0 {
			t.Errorf("%s %v: the lease ended at step %d, was released at %d, and has the token %d", c.form, c.ttl, g.Until,
				g.Released, g.Token)
		}
	}
	sc := testruns.Parse(t, "name: lost\nworld: {clients: 1, latency: 1ms}\nlock: {ttl: 2s}\nworkload: {rounds: 1, "+
		"hold: 15s}\n")
	l := testruns.Kind(t, "single")
	l.Lease = subject.LeaseHeld
	if g := testruns.Play(t, sc, l,
		play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0].History.Grants[0]; g.Lost == 0 || g.Until != 0 {
		t.Errorf("the loss of a held lease is at step %d, its end at %d", g.Lost, g.Until)
	}
}
