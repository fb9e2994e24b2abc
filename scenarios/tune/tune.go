package tune

import (
	"fmt"
	"math"

	"locksim/scenarios/outcome/tunings"
)

// Options are the sections and the clients.
type Options struct {
	// Work is how long the work of a section takes. Required.
	Work Distribution
	// Pauses are for how long a section's process stands still.
	Pauses Distribution
	// Reply is the delay of a reply.
	Reply Distribution
	// Margin is by how many seconds a lease may end before its TTL is over.
	Margin float64
	// Backoff is the longest time between two tries of a client that waits, in seconds.
	Backoff float64
	// Contended is the share of sections for whose lock another client waits.
	Contended float64
	// Target is the largest share of sections that may outlive their lease.
	Target float64
	// GivesUp is how long before the end of a renewed lease, as a share of its TTL, its holder does not renew it any more.
	// A watchdog of package lock has 0.1: so late it tells the holder that the lease is lost. With 0 a lease is renewed
	// for as long as it lasts.
	GivesUp float64
}

const (
	curvePoints = 25
	// farthest is how many P99s the longest TTL is that a choice may have.
	farthest = 1000
	// spare is how many round trips a renewal has that is sent when it is due, so that a lost one can be sent again: no
	// shorter TTL is chosen.
	spare  = 10
	tries  = 8   // points of the time of a backoff
	starts = 64  // instants of the work at which a pause begins, where they are not integrated
	thin   = 256 // points of the work, where they are not all taken
	// Distinct pauses up to which all are counted; of more, the shorter ones are counted in groups.
	allPauses  = 4000
	somePauses = 256 // the same where the share is not the one that a TTL is chosen by
)

// Compute is the document of all plans.
func Compute(opt Options) *tunings.Tuning {
	t := &tunings.Tuning{Version: tunings.Version, Work: opt.Work.Input(), Pauses: opt.Pauses.Input(),
		Reply: opt.Reply.Input(), MarginSeconds: opt.Margin, BackoffSeconds: opt.Backoff, Contended: opt.Contended,
		Target: opt.Target}
	for _, r := range tunings.Renewals() {
		t.Plans = append(t.Plans, opt.plan(r))
	}
	return t
}

func (opt Options) plan(r tunings.Renewal) tunings.Plan {
	p := tunings.Plan{Renewal: r}
	from, to := opt.Work.Quantile(.5), 10*opt.Work.Quantile(.99)
	for i := range curvePoints {
		ttl := from * math.Pow(to/from, float64(i)/(curvePoints-1))
		p.Curve = append(p.Curve, opt.At(r, digits(ttl, 3)))
	}
	if r != tunings.Never && opt.Pauses.largest() == 0 {
		p.Impossible = "a lease that is renewed ends early only by a pause, and no pauses are given: give --pauses, or " +
			"--pause with --one-in"
		return p
	}
	ttl, ok := opt.shortest(r)
	if !ok {
		p.Impossible = fmt.Sprintf("no TTL up to %.3g s is enough, which is %d times the P99 of the work",
			opt.Work.Quantile(.99)*farthest, farthest)
		return p
	}
	choice := opt.At(r, ttl)
	p.Choice = &choice
	return p
}

// shortest is the shortest TTL, to two digits, that keeps to the target.
func (opt Options) shortest(r tunings.Renewal) (float64, bool) {
	least := opt.Margin + opt.Reply.largest() + 1e-4
	if r != tunings.Never {
		least = opt.Margin + spare*2*opt.Reply.largest()/(1-1/float64(r.Times())) + 1e-4
	}
	low, high := math.Log(least), math.Log(opt.Work.Quantile(.99)*farthest+opt.Pauses.largest()+least)
	if share, _ := opt.outlives(r, math.Exp(high)); share > opt.Target {
		return 0, false
	}
	for high-low > 1e-6 {
		middle := (low + high) / 2
		if share, _ := opt.outlives(r, math.Exp(middle)); share > opt.Target {
			low = middle
		} else {
			high = middle
		}
	}
	ttl := digits(math.Exp(high), 2)
	for range 100 { // up to the next one with two digits
		if share, _ := opt.outlives(r, ttl); share <= opt.Target {
			return ttl, true
		}
		ttl = digits(ttl+math.Pow(10, math.Floor(math.Log10(ttl))-1), 2)
	}
	return 0, false
}

func digits(x float64, n int) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))+1-float64(n))
	return round(math.Round(x/unit) * unit)
}

// At is what one TTL, in seconds, means.
func (opt Options) At(r tunings.Renewal, ttl float64) tunings.Point {
	p := tunings.Point{TTLSeconds: ttl}
	share, extrapolated := opt.outlives(r, ttl)
	twice, check := opt.late(r, ttl)
	n := opt.evidence()
	p.Outlives, p.Extrapolated = tunings.NewShare(share, n), extrapolated
	if extrapolated && n > 0 {
		p.Outlives.Low = 0 // none was counted
	}
	p.Twice, p.LostCheck = tunings.NewShare(twice, n), tunings.NewShare(check, n)
	p.LostUnfenced = p.Twice
	p.BlockedWorstSeconds = round(ttl + opt.Backoff)
	p.BlockedMeanSeconds = round(opt.blocked(r, ttl))
	return p
}

// evidence is the number of durations that bounds what is known: that of the smaller sample. The variance of a share
// that is counted over all pairs of two samples is at most that of one counted over pairs as many as the smaller one
// (Hoeffding 1948).
func (opt Options) evidence() int {
	n := 0
	for _, m := range []int{opt.Work.measured, opt.Pauses.measured, opt.Reply.measured} {
		if m > 0 && (n == 0 || m < n) {
			n = m
		}
	}
	return n
}

// outlives is the share of sections that outlive their lease, and whether it lies beyond what was measured.
func (opt Options) outlives(r tunings.Renewal, ttl float64) (share float64, extrapolated bool) {
	if r != tunings.Never {
		return opt.renewedOutlives(r, ttl)
	}
	lasts := ttl - opt.Margin
	most := opt.Work.largest() + opt.Pauses.largest() + opt.Reply.largest()
	extrapolated = lasts > most && (opt.Work.measured > 0 || opt.Work.law != nil)
	return opt.exceeding(lasts, extrapolated, allPauses), extrapolated
}

// exceeding is the share of sections that have not ended so long after the lease was set.
func (opt Options) exceeding(after float64, extrapolated bool, pauses int) (share float64) {
	var tail *lognormal
	if extrapolated {
		tail = opt.Work.tail()
	}
	for _, d := range opt.Reply.points {
		for _, p := range opt.Pauses.coarse(pauses) {
			share += d.weight * p.weight * opt.Work.exceeding(after-d.value-p.value, tail)
		}
	}
	return min(share, 1)
}

// late is the share of sections that act after another client has been granted the lock and has read, and of those
// whose write comes before the first write of that client.
func (opt Options) late(r tunings.Renewal, ttl float64) (twice, check float64) {
	if opt.Contended == 0 {
		return 0, 0
	}
	share := func(after float64) float64 {
		if r != tunings.Never {
			return opt.renewedLate(r, ttl, after)
		}
		_, extrapolated := opt.outlives(r, ttl)
		return opt.exceeding(after, extrapolated, somePauses)
	}
	reply := opt.Reply.mean()
	works := opt.Work.thinned(32)
	for i := range tries {
		granted := ttl - opt.Margin + opt.Backoff*(1-math.Sqrt(1-(float64(i)+.5)/tries)) + reply
		acts := share(granted + reply) // the read is on its way for as long as a reply
		twice += acts / tries
		after := 0.
		if acts > 0 {
			for _, w := range works {
				after += w.weight * share(granted+max(w.value, reply))
			}
		}
		check += max(acts-after, 0) / tries
	}
	return opt.Contended * twice, opt.Contended * check
}
