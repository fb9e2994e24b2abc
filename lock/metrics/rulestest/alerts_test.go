package rulestest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/lock"
)

// TestAlerts uses the lock for twenty minutes, in the way that an alert reports, and in ways below its threshold. There
// are 200 sections between two scrapes.
func TestAlerts(t *testing.T) {
	success := section{wait: 5 * time.Millisecond, hold: 50 * time.Millisecond}
	timeout := section{refused: context.DeadlineExceeded, wait: 100 * time.Millisecond}
	expired := section{hold: validity + time.Second, release: lock.ErrNotHeld}
	for _, c := range []struct {
		name string
		ttl  time.Duration
		work func(p *fixture, step int)
		want []string
	}{
		{"all acquires succeed", validity, func(p *fixture, _ int) { p.do(200, success) }, nil},
		{"no use", validity, func(*fixture, int) {}, nil},

		{"a quarter of the acquires fail", validity, func(p *fixture, _ int) { p.do(150, success); p.do(50, timeout) },
			[]string{"LockAcquireRateLow"}},
		{"all of them fail", validity, func(p *fixture, _ int) { p.do(200, timeout) }, []string{"LockAcquireRateLow"}},
		{"a seventh of the acquires fail", validity, func(p *fixture, _ int) { p.do(172, success); p.do(28, timeout) }, nil},
		{"half of the tries find another holder", validity,
			func(p *fixture, _ int) { p.do(100, success); p.do(100, section{refused: lock.ErrTaken}) }, nil},
		{"half of the callers cancel", validity,
			func(p *fixture, _ int) { p.do(100, success); p.do(100, section{refused: context.Canceled}) }, nil},
		{"all of them fail for a minute and a half", validity, func(p *fixture, step int) {
			if step >= 20 && step < 23 {
				p.do(200, timeout)
			} else {
				p.do(200, success)
			}
		}, nil},

		{"two in a hundred wait for long", validity,
			func(p *fixture, _ int) { p.do(196, success); p.do(4, section{wait: 1500 * time.Millisecond}) },
			[]string{"LockWaitLong"}},
		{"one in two hundred waits for long", validity,
			func(p *fixture, _ int) { p.do(199, success); p.do(1, section{wait: 1500 * time.Millisecond}) }, nil},
		{"all wait for almost a second", validity,
			func(p *fixture, _ int) { p.do(200, section{wait: 900 * time.Millisecond}) }, nil},

		{"a tenth of the leases expires, without a TTL", 0, func(p *fixture, _ int) { p.do(180, success); p.do(20, expired) },
			[]string{"LockLeasesExpire"}},
		{"a tenth of the leases expires", validity, func(p *fixture, _ int) { p.do(180, success); p.do(20, expired) },
			[]string{"LockHoldNearTTL", "LockLeasesExpire"}},
		{"four in a hundred expire", 0, func(p *fixture, _ int) { p.do(192, success); p.do(8, expired) }, nil},

		{"two in a hundred hold it for most of the TTL", validity,
			func(p *fixture, _ int) { p.do(196, success); p.do(4, section{hold: 7 * time.Second}) },
			[]string{"LockHoldNearTTL"}},
		{"the same without a TTL", 0, func(p *fixture, _ int) { p.do(196, success); p.do(4, section{hold: 7 * time.Second}) },
			nil},
		{"all hold it for less than half of the TTL", validity,
			func(p *fixture, _ int) { p.do(200, section{hold: 4 * time.Second}) }, nil},

		{"one release finds the key gone", validity, once(success, section{release: lock.ErrNotHeld}),
			[]string{"LockReleasedByNonOwner"}},
		{"one release is after the end of its lease", validity, once(success, expired), nil},
		{"one release has no answer", validity, once(success, section{release: lock.ErrOutcomeUnknown}), nil},

		{"one token is lower", validity, once(section{token: 8}, section{token: 7}), []string{"LockTokenDecreased"}},
		{"tokens rise", validity, once(section{token: 7}, section{token: 8}), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newFixture(t, c.ttl)
			p.run(20*time.Minute, func(step int) { c.work(p, step) })
			if diff := cmp.Diff(c.want, slices.Sorted(maps.Keys(p.fired))); diff != "" {
				t.Errorf("alerts, wanted and fired:\n%s", diff)
			}
			p.wantTexts()
		})
	}
}

// once makes sections like all in the first half of the time, then a single one, and no more.
func once(all, one section) func(p *fixture, step int) {
	return func(p *fixture, step int) {
		switch {
		case step < 30:
			p.do(200, all)
		case step == 30:
			p.do(1, one)
		}
	}
}

// wantTexts fails unless the fired alerts name the job and the lock, and their texts are complete.
func (p *fixture) wantTexts() {
	p.Helper()
	for name, alert := range p.fired {
		if alert.Labels.Get("job") != "shop" || alert.Labels.Get("lock") != "orders" || alert.Labels.Get("severity") == "" {
			p.Errorf("%s has the labels %v", name, alert.Labels)
		}
		summary := alert.Annotations.Get("summary")
		if !strings.Contains(summary, "lock orders") || strings.ContainsAny(summary, "<{") {
			p.Errorf("%s says %q", name, summary)
		}
		if alert.Annotations.Get("description") == "" {
			p.Errorf("%s has no description", name)
		}
	}
}
