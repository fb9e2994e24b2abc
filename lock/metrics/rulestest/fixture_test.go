package rulestest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/util/teststorage"

	"locksim/lock/metrics"
)

// scrape is the time between two scrapes. The rules are evaluated after each.
const scrape = 30 * time.Second

// fixture is a measured lock, and a Prometheus that scrapes it.
type fixture struct {
	testing.TB
	*service
	registry *prometheus.Registry
	storage  *teststorage.TestStorage
	group    *rules.Group
	now      time.Time
	fired    map[string]*rules.Alert // by name
}

func newFixture(t testing.TB, ttl time.Duration) *fixture {
	t.Helper()
	registry := prometheus.NewRegistry()
	svc, err := newService(registry, metrics.Options{Lock: "orders", TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	storage := teststorage.New(t)
	return &fixture{
		TB: t, service: svc, registry: registry, storage: storage, group: load(t, storage),
		now: time.Unix(0, 0), fired: map[string]*rules.Alert{},
	}
}

// load loads the rules as Prometheus does.
func load(t testing.TB, storage *teststorage.TestStorage) *rules.Group {
	t.Helper()
	file := filepath.Join(t.TempDir(), "alerts.yml")
	if err := os.WriteFile(file, []byte(metrics.Alerts()), 0o600); err != nil {
		t.Fatal(err)
	}
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	manager := rules.NewManager(&rules.ManagerOptions{
		NameValidationScheme: model.UTF8Validation,
		QueryFunc:            rules.EngineQueryFunc(engine, storage),
		Appendable:           storage,
		Queryable:            storage,
		Context:              t.Context(),
		NotifyFunc:           func(context.Context, string, ...*rules.Alert) {},
		Logger:               slog.New(slog.DiscardHandler),
	})
	groups, errs := manager.LoadGroups(scrape, labels.EmptyLabels(), "", nil, false, file)
	if errs != nil || len(groups) != 1 {
		t.Fatalf("%d groups, errors %v", len(groups), errs)
	}
	for _, group := range groups {
		return group
	}
	return nil
}

// run does the work of each interval, and scrapes the metrics and evaluates the rules after it.
func (p *fixture) run(span time.Duration, work func(step int)) {
	p.Helper()
	for step := range int(span / scrape) {
		p.scrape()
		work(step)
		p.now = p.now.Add(scrape)
	}
	p.scrape()
}

func (p *fixture) scrape() {
	p.Helper()
	to := p.storage.Appender(p.Context())
	for _, s := range p.samples() {
		if _, err := to.Append(0, s.labels, p.now.UnixMilli(), s.value); err != nil {
			p.Fatal(err)
		}
	}
	if err := to.Commit(); err != nil {
		p.Fatal(err)
	}
	p.group.Eval(p.Context(), p.now)
	for _, rule := range p.group.AlertingRules() {
		if err := rule.LastError(); err != nil {
			p.Fatalf("rule %s: %v", rule.Name(), err)
		}
		for _, alert := range rule.ActiveAlerts() {
			if alert.State == rules.StateFiring {
				p.fired[rule.Name()] = alert
			}
		}
	}
}
