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

// TestAlerts lets the lock be used for twenty minutes, in a way that an alert is for, and in ways that come
// close. 200 sections go with each scrape.
func TestAlerts(t *testing.T) {
	well := section{wait: 5 * time.Millisecond, hold: 50 * time.Millisecond}
	timeout := section{refused: context.DeadlineExceeded, wait: 100 * time.Millisecond}
	expired := section{hold: validity + time.Second, release: lock.ErrNotHeld}
	for _, c := range []struct {
		name string
		ttl  time.Duration
		work func(p *plant, step int)
		want []string
	}{
		{"all is well", validity, func(p *plant, _ int) { p.do(200, well) }, nil},
		{"nobody uses it", validity, func(*plant, int) {}, nil},

		{"a quarter of the acquires fail", validity, func(p *plant, _ int) { p.do(150, well); p.do(50, timeout) },
			[]string{"LockAcquireRateLow"}},
		{"all of them fail", validity, func(p *plant, _ int) { p.do(200, timeout) }, []string{"LockAcquireRateLow"}},
		{"a seventh of the acquires fail", validity, func(p *plant, _ int) { p.do(172, well); p.do(28, timeout) }, nil},
		{"half of the tries find another holder", validity,
			func(p *plant, _ int) { p.do(100, well); p.do(100, section{refused: lock.ErrTaken}) }, nil},
		{"half of the callers go away", validity,
			func(p *plant, _ int) { p.do(100, well); p.do(100, section{refused: context.Canceled}) }, nil},
		{"all of them fail for a minute and a half", validity, func(p *plant, step int) {
			if step >= 20 && step < 23 {
				p.do(200, timeout)
			} else {
				p.do(200, well)
			}
		}, nil},

		{"two in a hundred wait for long", validity, func(p *plant, _ int) { p.do(196, well); p.do(4, section{wait: 1500 * time.Millisecond}) },
			[]string{"LockWaitLong"}},
		{"one in two hundred waits for long", validity, func(p *plant, _ int) { p.do(199, well); p.do(1, section{wait: 1500 * time.Millisecond}) }, nil},
		{"all wait for almost a second", validity, func(p *plant, _ int) { p.do(200, section{wait: 900 * time.Millisecond}) }, nil},

		{"a tenth of the leases expires, of a lock without a TTL of its own", 0, func(p *plant, _ int) { p.do(180, well); p.do(20, expired) },
			[]string{"LockLeasesExpire"}},
		{"a tenth of the leases expires", validity, func(p *plant, _ int) { p.do(180, well); p.do(20, expired) },
			[]string{"LockHoldNearTTL", "LockLeasesExpire"}},
		{"four in a hundred expire", 0, func(p *plant, _ int) { p.do(192, well); p.do(8, expired) }, nil},

		{"two in a hundred hold it for most of the TTL", validity, func(p *plant, _ int) { p.do(196, well); p.do(4, section{hold: 7 * time.Second}) },
			[]string{"LockHoldNearTTL"}},
		{"the same where there is no such TTL", 0, func(p *plant, _ int) { p.do(196, well); p.do(4, section{hold: 7 * time.Second}) }, nil},
		{"all hold it for less than half of the TTL", validity, func(p *plant, _ int) { p.do(200, section{hold: 4 * time.Second}) }, nil},

		{"one release finds the key gone", validity, once(well, section{release: lock.ErrNotHeld}), []string{"LockReleasedByNonOwner"}},
		{"one release comes after the end of its lease", validity, once(well, expired), nil},
		{"one release has no answer", validity, once(well, section{release: lock.ErrOutcomeUnknown}), nil},

		{"one token is lower", validity, once(section{token: 8}, section{token: 7}), []string{"LockTokenDecreased"}},
		{"tokens rise", validity, once(section{token: 7}, section{token: 8}), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlant(t, c.ttl)
			p.run(20*time.Minute, func(step int) { c.work(p, step) })
			if diff := cmp.Diff(c.want, slices.Sorted(maps.Keys(p.fired))); diff != "" {
				t.Errorf("alerts, wanted and fired:\n%s", diff)
			}
			p.readable()
		})
	}
}

// once lets all sections be alike but the last one, which is in the middle of the time: the work that the
// first of them stops there.
func once(all, one section) func(p *plant, step int) {
	return func(p *plant, step int) {
		switch {
		case step < 30:
			p.do(200, all)
		case step == 30:
			p.do(1, one)
		}
	}
}

// readable fails unless the alerts that have fired name the job and the lock, and their texts are complete.
func (p *plant) readable() {
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
