package trial

import (
	"errors"
	"fmt"
	"time"

	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	"locksim/scenarios/tune"
	"locksim/scenarios/tune/splitting"
)

// Climbs is how many independent climbs draw the sections of [Rare]: at least one section of each is played.
const Climbs = 20

// t95 and t999 are half the widths of the intervals of 95 % and 99.9 % of a mean of so many climbs (Student's
// distribution with 19 degrees of freedom).
const (
	t95  = 2.093
	t999 = 3.883
)

// beyond is how much shorter than a lease, in the longest latencies of a message, work and pause are of the shortest
// sections that are played: those of messages are less.
const beyond = 10

// Rare plays sections of the choice without renewal, of which far fewer outlive their lease than can be played: work
// and pause are drawn by splitting, from those draws that are about as long as the lease. What happened in a share of
// the played sections happened in that share of all draws that are as long. It returns an error if there is no choice,
// or if no draw is as long.
func Rare(opt tune.Options, t *tunings.Tuning, o Options) (*tunings.Played, error) {
	plan := t.Plans[0]
	if plan.Renewal != tunings.Never || plan.Choice == nil {
		return nil, errors.New("there is no choice without renewal: " + plan.Impossible)
	}
	ttl := time.Duration(plan.Choice.TTLSeconds * float64(time.Second)).Round(time.Millisecond)
	if ttl < least {
		return nil, fmt.Errorf("a TTL of %v is too short to be played: sections of %v and longer can be", ttl, least)
	}
	name := locks[tunings.Never]
	l, err := redislocks.Find(name, nil)
	if err != nil {
		return nil, err
	}
	level := ttl.Seconds() - opt.Margin - beyond*o.Latency[1].Seconds()
	var all counted
	outlived, lost := make([]float64, Climbs), make([]float64, Climbs)
	for i := range Climbs {
		climb := splitting.Up(splitting.Options{Parts: 2, Level: level, Seed: o.Seed + uint64(i),
			Score: func(q []float64) float64 { return opt.Work.Quantile(q[0]) + opt.Pauses.Quantile(q[1]) }})
		if len(climb.Reached) == 0 {
			continue
		}
		one := counted{}
		for n := range part(o.Sections, i) {
			q := climb.Reached[n*len(climb.Reached)/part(o.Sections, i)]
			s := section{lock: name, ttl: ttl, work: opt.Work.Draw(q[0]), pause: opt.Pauses.Draw(q[1]), latency: o.Latency,
				backoff: time.Duration(opt.Backoff * float64(time.Second))}
			if err := one.add(s, l, o.Seed+uint64(all.sections+one.sections)); err != nil {
				return nil, err
			}
			if o.Step != nil {
				o.Step()
			}
		}
		outlived[i] = climb.Share * float64(one.outlived) / float64(one.sections)
		lost[i] = climb.Share * float64(one.lost) / float64(one.sections)
		all.outlived, all.lost, all.sections = all.outlived+one.outlived, all.lost+one.lost, all.sections+one.sections
	}
	if all.sections == 0 {
		return nil, fmt.Errorf("no work and pause of the given distributions are as long as the TTL of %v", ttl)
	}
	opt.Contended = 1 // in each section the other client waits
	p := opt.At(tunings.Never, ttl.Seconds())
	return &tunings.Played{Renewal: tunings.Never, TTLSeconds: ttl.Seconds(), Lock: name, Seed: o.Seed, Climbs: Climbs,
		Sections: all.sections, Outlives: estimated(outlived, all.outlived, p.Outlives.Value),
		Lost: estimated(lost, all.lost, p.LostUnfenced.Value)}, nil
}

// part is how many of so many sections a climb draws.
func part(sections, climb int) int { return (sections + Climbs - 1 - climb) / Climbs }

// estimated is the share that climbs estimate, beside the computed one.
func estimated(shares []float64, count int, computed float64) tunings.PlayedShare {
	value, low, high := splitting.Estimate(shares, t95)
	_, least, most := splitting.Estimate(shares, t999)
	return tunings.PlayedShare{Count: count, Share: tunings.Share{Value: value, Low: low, High: min(high, 1)},
		Computed: computed, Agrees: least <= computed && computed <= most}
}

// counted are sections that were played, and what happened in them.
type counted struct{ sections, outlived, lost int }

func (c *counted) add(s section, l subject.Lock, seed uint64) error {
	m, err := s.play(l, seed)
	if err != nil {
		return fmt.Errorf("play section %d, seed %d: %w", c.sections+1, seed, err)
	}
	c.sections++
	if outlives(m) {
		c.outlived++
	}
	if m.Verdict.Facts.LostUpdates > 0 {
		c.lost++
	}
	return nil
}
