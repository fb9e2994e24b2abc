package tunings

import (
	"slices"

	"locksim/scenarios/outcome/causes"
)

// Version is the version of tunings as JSON.
const Version = 1

// Tuning is what lengths of a lease mean for sections of the given lengths.
type Tuning struct {
	// Version is the version of this document.
	Version int `json:"version"`
	// Work is how long the work of a section takes.
	Work Input `json:"work"`
	// Pauses are for how long a section's process stands still; 0 in most.
	Pauses Input `json:"pauses"`
	// Reply is how long after the server has set the lease its holder knows.
	Reply Input `json:"reply"`
	// MarginSeconds is by how much a lease may end before its TTL is over.
	MarginSeconds float64 `json:"margin_seconds"`
	// BackoffSeconds is the longest time between two tries of a client that waits.
	BackoffSeconds float64 `json:"backoff_seconds"`
	// Contended is the share of sections for whose lock another client waits.
	Contended float64 `json:"contended" jsonschema:"maximum=1"`
	// Target is the largest share of sections that may outlive their lease.
	Target float64 `json:"target" jsonschema:"maximum=1"`
	// Plans has the lengths of a lease without renewal, and with renewals of several intervals.
	Plans []Plan `json:"plans" jsonschema:"minItems=1"`
	// Played has sections that were played as a check; absent if none were.
	Played []Played `json:"played,omitempty"`
}

// Input is a distribution of lengths of time.
type Input struct {
	// Source says where it comes from.
	Source string `json:"source"`
	// Measured counts the durations; 0 where the distribution is an assumption.
	Measured int `json:"measured"`
	// P50Seconds is the median.
	P50Seconds float64 `json:"p50_seconds"`
	// P99Seconds is what 99 in 100 do not exceed.
	P99Seconds float64 `json:"p99_seconds"`
	// LargestSeconds is the longest that is known: above it nothing was measured.
	LargestSeconds float64 `json:"largest_seconds"`
}

// Renewal says how often a lease is renewed while its holder works.
type Renewal string

// The renewals.
const (
	// Never is a lease that is not renewed.
	Never Renewal = "none"
	// Half renews it after each half of its TTL.
	Half Renewal = "half"
	// Third renews it after each third of its TTL.
	Third Renewal = "third"
	// Tenth renews it after each tenth of its TTL.
	Tenth Renewal = "tenth"
)

// Renewals are all renewals.
func Renewals() []Renewal { return []Renewal{Never, Half, Third, Tenth} }

// Times is how often in a TTL the lease is renewed; 0 if it is not.
func (r Renewal) Times() int { return map[Renewal]int{Half: 2, Third: 3, Tenth: 10}[r] }

// Words are the renewal in a sentence.
func (r Renewal) Words() string {
	if r == Never {
		return "no renewal"
	}
	return "renewal every " + string(r)
}

// Plan is a curve over the TTL for one renewal, and the choice that it gives.
type Plan struct {
	// Renewal is how often the lease is renewed.
	Renewal Renewal `json:"renewal"`
	// Curve has a point for each TTL, the shortest first.
	Curve []Point `json:"curve" jsonschema:"minItems=1"`
	// Choice is the shortest TTL, to two digits, with which no more sections than the target outlive their lease. It is
	// absent where there is none.
	Choice *Point `json:"choice,omitempty"`
	// Impossible says why there is no choice.
	Impossible string `json:"impossible,omitempty"`
}

// Point is what one TTL means.
type Point struct {
	// TTLSeconds is the length of a lease.
	TTLSeconds float64 `json:"ttl_seconds"`
	// Outlives is the share of sections whose lease ends before their work does.
	Outlives Share `json:"outlives"`
	// Twice is the share of sections that act after another client has been granted the lock and has read.
	Twice Share `json:"two_at_once"`
	// LostUnfenced is the share of sections that cost an acknowledged write without a fence: one client has read before
	// the write of the other.
	LostUnfenced Share `json:"lost_unfenced"`
	// LostCheck is the same behind the fence check: the late write comes before the first write of the other client.
	LostCheck Share `json:"lost_check"`
	// LostSeal is the same behind the fence seal.
	LostSeal Share `json:"lost_seal"`
	// BlockedWorstSeconds is the longest time for which a crash of a holder blocks the others.
	BlockedWorstSeconds float64 `json:"blocked_worst_seconds"`
	// BlockedMeanSeconds is the mean of that time, for a crash at any instant at which the lock is held.
	BlockedMeanSeconds float64 `json:"blocked_mean_seconds"`
	// Extrapolated says that no combination of measured durations is as long, so that the share of Outlives is not
	// counted.
	Extrapolated bool `json:"extrapolated,omitempty"`
}

// Share is a share of all sections, with the interval that the number of measured durations allows. Of an assumed
// distribution the interval is empty: it says nothing of whether the assumption holds.
type Share struct {
	// Value is the share.
	Value float64 `json:"value" jsonschema:"maximum=1"`
	// Low is the lower end of the interval of 95 %, by Wilson's score.
	Low float64 `json:"low" jsonschema:"maximum=1"`
	// High is its upper end.
	High float64 `json:"high" jsonschema:"maximum=1"`
}

// NewShare is a share of which n durations, or sections, are the evidence; of an assumption with 0.
func NewShare(value float64, n int) Share {
	s := Share{Value: value, Low: value, High: value}
	if n > 0 {
		s.Low, s.High = causes.Wilson(value, n, causes.Z95)
	}
	return s
}

// Played is what played sections say of one TTL, beside the arithmetic.
type Played struct {
	// Renewal is how often the lease was renewed.
	Renewal Renewal `json:"renewal"`
	// TTLSeconds is the length of the lease.
	TTLSeconds float64 `json:"ttl_seconds"`
	// Lock is the lock that was played.
	Lock string `json:"lock"`
	// GivesUpSeconds is how long before the end of a lease that lock renews it no more. The computed shares have it, those
	// of the plans do not.
	GivesUpSeconds float64 `json:"gives_up_seconds,omitempty"`
	// Seed is the seed of the first section: each following one has the next.
	Seed uint64 `json:"seed"`
	// Climbs counts the climbs of splitting that have drawn the sections; absent where they were drawn as they come. The
	// shares are those that the climbs estimate of all draws, and Count is of the played ones.
	Climbs int `json:"climbs,omitempty"`
	// Sections counts the sections that were played.
	Sections int `json:"sections" jsonschema:"minimum=1"`
	// Outlives is how many sections outlived their lease, beside what the arithmetic says.
	Outlives PlayedShare `json:"outlives"`
	// Lost is the same of acknowledged writes that were lost without a fence.
	Lost PlayedShare `json:"lost_unfenced"`
}

// PlayedShare is a share that was counted in played sections, beside the one that was computed.
type PlayedShare struct {
	// Count is in how many sections it happened.
	Count int `json:"count"`
	// Share is that of all sections, with its interval.
	Share Share `json:"share"`
	// Computed is the share of the arithmetic.
	Computed float64 `json:"computed" jsonschema:"maximum=1"`
	// Agrees says that the computed share is in the interval of 99.9 %, which is wider than that of Share.
	Agrees bool `json:"agrees"`
}

// NewPlayedShare compares what happened in count of n played sections with what was computed.
func NewPlayedShare(count, n int, computed float64) PlayedShare {
	rate := float64(count) / float64(n)
	low, high := causes.Wilson(rate, n, causes.Z999)
	return PlayedShare{Count: count, Share: NewShare(rate, n), Computed: computed,
		Agrees: low <= computed && computed <= high}
}

// Agree reports whether both shares of the played sections agree with the arithmetic.
func (p Played) Agree() bool { return p.Outlives.Agrees && p.Lost.Agrees }

// JSON is the tuning as one indented document.
func (t *Tuning) JSON() ([]byte, error) { return indented("the tuning", t) }

// Extrapolated reports whether a point lies above what was measured.
func (t *Tuning) Extrapolated() bool {
	return slices.ContainsFunc(t.Plans, func(p Plan) bool {
		return slices.ContainsFunc(p.Curve, func(c Point) bool { return c.Extrapolated })
	})
}
