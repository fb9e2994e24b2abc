package rulestest

import (
	"math"
	"strconv"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// sample is one value of one series.
type sample struct {
	labels labels.Labels
	value  float64
}

// samples are the result of a scrape of the registry. A histogram is one series for each bucket, the count and the sum.
func (p *fixture) samples() (all []sample) {
	p.Helper()
	families, err := p.registry.Gather()
	if err != nil {
		p.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			series := labels.NewBuilder(labels.FromStrings("job", "shop", "instance", "127.0.0.1:9090"))
			for _, l := range m.GetLabel() {
				series.Set(l.GetName(), l.GetValue())
			}
			add := func(suffix string, value float64) {
				series.Set(model.MetricNameLabel, family.GetName()+suffix)
				all = append(all, sample{series.Labels(), value})
			}
			switch {
			case m.GetCounter() != nil:
				add("", m.GetCounter().GetValue())
			case m.GetGauge() != nil:
				add("", m.GetGauge().GetValue())
			case m.GetHistogram() != nil:
				h := m.GetHistogram()
				add("_count", float64(h.GetSampleCount()))
				add("_sum", h.GetSampleSum())
				series.Set("le", limit(math.Inf(1)))
				add("_bucket", float64(h.GetSampleCount()))
				for _, b := range h.GetBucket() {
					series.Set("le", limit(b.GetUpperBound()))
					add("_bucket", float64(b.GetCumulativeCount()))
				}
			}
		}
	}
	return all
}

// limit is the upper limit of a bucket as Prometheus writes it.
func limit(le float64) string { return strconv.FormatFloat(le, 'g', -1, 64) }
