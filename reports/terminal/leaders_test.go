package terminal_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/tune/leaders"
)

// The report of elections fits into 80 columns, and has each setting, what is recommended and what is not counted; so
// has that in Markdown.
func TestLeadersFits(t *testing.T) {
	const s = time.Second
	doc := leaders.Compute([]leaders.Election{
		leaders.Kubernetes{LeaseDuration: 86400 * s, RenewDeadline: 86000 * s, RetryPeriod: 3600 * s},
		leaders.Kubernetes{LeaseDuration: 15 * s, RenewDeadline: 15 * s, RetryPeriod: 5 * s},
		leaders.Consul{TTL: 86400 * s, LockDelay: 60 * s, MonitorRetries: 100_000},
		leaders.ZooKeeper{SessionTimeout: 10 * s, Tick: leaders.Tick, Disconnected: true}, leaders.Etcd{TTL: 10 * s},
	}, []float64{5, 86400}, []float64{86400})
	doc.Wish = &tunings.Wish{SurviveSeconds: 12, BoundSeconds: 20}
	doc.Advice = leaders.Advise(*doc.Wish)
	var b, md bytes.Buffer
	if err := terminal.Leaders(&b, doc, reports.Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if err := markdown.Leaders(&md, doc); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if prose.Columns(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("%d columns: %s", prose.Columns(line), line)
		}
	}
	for _, text := range []string{strings.Join(strings.Fields(b.String()), " "), md.String()} {
		for _, want := range []string{"Kubernetes 86400/86000/3600", "client-go refuses it",
			"ZooKeeper 10, until disconnected",
			"Kubernetes: leaseDuration 15 s, renewDeadline 13 s, retryPeriod 1 s", "etcd: impossible, since",
			"An outage of 12 s is to cost no leader", tunings.LeadersLegend, tunings.LeadersNotCounted} {
			if !strings.Contains(text, want) {
				t.Errorf("it lacks %q:\n%s", want, text)
			}
		}
	}
}
