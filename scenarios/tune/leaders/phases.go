package leaders

import (
	"math"

	"locksim/scenarios/outcome/tunings"
)

// Election is an election with its times.
type Election interface {
	// Setting describes it, without its troubles. Its Refused says why no client can have it.
	Setting() tunings.Setting
	// Outage is what an outage of the servers does that lasts for so many seconds.
	Outage(seconds float64) tunings.Trouble
	// Pause is what a pause of the leader does that lasts for so many seconds.
	Pause(seconds float64) tunings.Trouble
	// Crash is what a crash of the leader does.
	Crash() tunings.Trouble
}

// phases is at how many instants between two renewals a trouble begins.
const phases = 10_000

// within are the two ends of a length of time, or of an instant, in seconds.
type within struct{ least, most float64 }

// from is a length of time from one instant to another; 0 where that is earlier.
func (w within) from(start within) within {
	return within{max(w.least-start.most, 0), max(w.most-start.least, 0)}
}

// plus is an instant that is so much later.
func (w within) plus(later within) within { return within{w.least + later.least, w.most + later.most} }

// ending is how a trouble ends that begins at one instant.
type ending struct {
	surely, perhaps bool   // whether the leader is lost
	two, none       within // for how long two lead, and none
}

// lost is the ending in which the leader is lost: the old one stops at one instant, and the candidate is elected at
// another.
func lost(surely bool, stops, elected within) ending {
	return ending{surely: surely, perhaps: true, two: stops.from(elected), none: elected.from(stops)}
}

// over is a trouble over all instants between two renewals, which are so many seconds apart. at says how it ends that
// begins so many seconds after a renewal.
func over(kind tunings.TroubleKind, seconds, apart float64, at func(since float64) ending) tunings.Trouble {
	t := tunings.Trouble{Kind: kind, Seconds: seconds}
	surely, perhaps := 0, 0
	two, none := within{math.Inf(1), 0}, within{math.Inf(1), 0}
	for i := range phases {
		e := at(apart * (float64(i) + .5) / phases)
		if !e.perhaps {
			continue
		}
		if perhaps++; e.surely {
			surely++
		}
		two = within{min(two.least, e.two.least), max(two.most, e.two.most)}
		none = within{min(none.least, e.none.least), max(none.most, e.none.most)}
	}
	if perhaps == 0 {
		return t
	}
	t.Lost = tunings.Span{Least: float64(surely) / phases, Most: float64(perhaps) / phases}
	t.TwoSeconds, t.NoneSeconds = span(two), span(none)
	return t
}

// span is a length of time in hundredths of a second: the instants between two renewals are counted.
func span(w within) tunings.Span {
	return tunings.Span{Least: math.Round(w.least*100) / 100, Most: math.Round(w.most*100) / 100}
}

// none is a length of time of 0.
var none within

// seconds is a length of time of one length.
func seconds(s float64) within { return within{s, s} }
