package tune

import (
	"locksim/scenarios/outcome/tunings"
)

// renewedOutlives is [Options.outlives] of a lease that is renewed: the share of sections in which the age of the lease
// at the beginning of the pause, and the pause, exceed what the lease lasts. The pause begins at any instant of the
// work. A lease that its holder has given up by then ends before the rest of the work does, if that is longer.
func (opt Options) renewedOutlives(r tunings.Renewal, ttl float64) (share float64, extrapolated bool) {
	lasts, interval := ttl-opt.Margin, ttl/float64(r.Times())
	beyond := opt.Pauses.measured > 0 && lasts > interval+opt.Reply.largest()+opt.Pauses.largest()
	if opt.GivesUp > 0 {
		return opt.renewedLate(r, ttl, lasts), beyond
	}
	works := opt.Work.thinned(thin)
	for _, d := range opt.Reply.points {
		for _, p := range opt.Pauses.coarse(allPauses) {
			least := max(lasts-d.value-p.value, 0) // the age without the delay, from which on the pause is too long
			if p.value == 0 || least >= interval {
				continue
			}
			for _, w := range works {
				share += d.weight * p.weight * w.weight * olderThan(least, w.value, interval)
			}
		}
	}
	return min(share, 1), beyond
}

// olderThan is the share of the instants of a section of this length at which the last renewal was longer ago.
func olderThan(least, length, interval float64) float64 {
	whole := float64(int(length / interval))
	rest := length - whole*interval
	return (whole*(interval-least) + max(rest-least, 0)) / length
}

// renewedLate is the share of sections whose renewed lease is renewed no more, since its holder stood still for too
// long, and that have not ended so long after it was set last.
func (opt Options) renewedLate(r tunings.Renewal, ttl, after float64) (share float64) {
	interval, reply := ttl/float64(r.Times()), opt.Reply.mean()
	renewable := ttl - opt.Margin - opt.GivesUp*ttl
	works := opt.Work.thinned(thin)
	for _, p := range opt.Pauses.coarse(somePauses) {
		if p.value == 0 || reply+interval+p.value <= renewable {
			continue
		}
		for _, w := range works {
			for j := range starts {
				start := w.value * (float64(j) + .5) / starts
				age := reply + start - interval*float64(int(start/interval))
				if age+p.value > renewable && age+p.value+w.value-start > after {
					share += p.weight * w.weight / starts
				}
			}
		}
	}
	return share
}

// blocked is for how long a crash blocks the others on average, if it comes at any instant at which the lock is held.
func (opt Options) blocked(r tunings.Renewal, ttl float64) float64 {
	var left, held float64 // the integral of what is left of the lease, over the time of the sections
	reply := opt.Reply.mean()
	for _, w := range opt.Work.thinned(thin) {
		length := w.value + opt.Pauses.mean() + reply
		held += w.weight * length
		if r == tunings.Never {
			left += w.weight * area(ttl, min(length, ttl))
			continue
		}
		interval := ttl / float64(r.Times())
		whole := float64(int(length / interval))
		left += w.weight * (whole*area(ttl, interval) + area(ttl, length-whole*interval))
	}
	return left/held + opt.Backoff/3
}

// area is the integral of what is left of a lease, from its beginning until so long after it.
func area(ttl, until float64) float64 { return ttl*until - until*until/2 }
