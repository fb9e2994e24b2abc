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

// plant is a measured lock, and a Prometheus that watches it.
type plant struct {
	testing.TB
	*shop
	registry *prometheus.Registry
	storage  *teststorage.TestStorage
	group    *rules.Group
	now      time.Time
	fired    map[string]*rules.Alert // every alert that has fired, by name
}

func newPlant(t testing.TB, ttl time.Duration) *plant {
	t.Helper()
	registry := prometheus.NewRegistry()
	shop, err := newShop(registry, metrics.Options{Lock: "orders", TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	storage := teststorage.New(t)
	return &plant{
		TB: t, shop: shop, registry: registry, storage: storage, group: load(t, storage),
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

// run lets the work of each interval be done, and the metrics scraped and judged after it.
func (p *plant) run(span time.Duration, work func(step int)) {
	p.Helper()
	for step := range int(span / scrape) {
		p.scrape()
		work(step)
		p.now = p.now.Add(scrape)
	}
	p.scrape()
}

func (p *plant) scrape() {
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
