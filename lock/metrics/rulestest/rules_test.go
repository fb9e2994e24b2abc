package rulestest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRules(t *testing.T) {
	var names []string
	for _, rule := range newFixture(t, validity).group.AlertingRules() {
		names = append(names, rule.Name())
	}
	want := []string{ // sorted, as the manager returns them
		"LockAcquireRateLow", "LockHoldNearTTL", "LockLeasesExpire", "LockReleasedByNonOwner", "LockTokenDecreased",
		"LockWaitLong",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("rules, wanted and got:\n%s", diff)
	}
}

// TestRulesSelectExistingSeries: a rule on a misspelt metric or label value never fires, without an error.
func TestRulesSelectExistingSeries(t *testing.T) {
	p := newFixture(t, validity)
	series := p.samples()
	for _, rule := range p.group.AlertingRules() {
		parser.Inspect(rule.Query(), func(node parser.Node, _ []parser.Node) error {
			if selector, ok := node.(*parser.VectorSelector); ok && !matched(selector.LabelMatchers, series) {
				t.Errorf("%s: there is no series like %s", rule.Name(), selector)
			}
			return nil
		})
	}
}

// matched reports whether any series matches.
func matched(all []*labels.Matcher, series []sample) bool {
	for _, s := range series {
		fits := true
		for _, m := range all {
			fits = fits && m.Matches(s.labels.Get(m.Name))
		}
		if fits {
			return true
		}
	}
	return false
}

// TestNames: the metrics are named as Prometheus recommends.
func TestNames(t *testing.T) {
	problems, err := testutil.GatherAndLint(newFixture(t, validity).registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
