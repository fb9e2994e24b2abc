package tunings

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"locksim/internal/prose"
)

// NotCounted says what the shares of a renewed lease leave out. A TTL that is a small one of them is no recommendation.
const NotCounted = "With a renewal only the pauses that were given count. A renewal that fails, a message that is " +
	"lost and an outage of the servers do not: a short TTL that is renewed ends at the first of them."

// Sections is a share of sections in words: "one section in 10,000".
func (s Share) Sections() string {
	switch v := s.Value; {
	case v == 0:
		return "no section"
	case v == 1:
		return "every section"
	case v >= .095:
		return fmt.Sprintf("%.0f sections in 100", v*100)
	}
	return "one section in " + s.oneIn()
}

// Text is a share for a table: "1 in 10,000", "1 in 3.2e7", "12 %", or "0".
func (s Share) Text() string {
	switch v := s.Value; {
	case v < 1e-12:
		return "0"
	case v >= .095:
		return fmt.Sprintf("%.0f %%", v*100)
	case v < .95e-6:
		return "1 in " + power(1/v)
	}
	return "1 in " + s.oneIn()
}

// OutlivesText is the share of sections that outlive their lease for a table, with ~ where it is extrapolated.
func (p Point) OutlivesText() string {
	if p.Extrapolated {
		return "~ " + p.Outlives.Text()
	}
	return p.Outlives.Text()
}

// oneIn is the reciprocal of the share, to two digits.
func (s Share) oneIn() string {
	n := 1 / s.Value
	if n > 1e9 {
		return power(n)
	}
	unit := math.Pow(10, math.Floor(math.Log10(n))-1)
	if n < 100 {
		unit = 1
	}
	return prose.Thousands(int(math.Round(math.Round(n/unit) * unit)))
}

// power is a large number to two digits: "3.2e7".
func power(n float64) string {
	return strings.NewReplacer("e+0", "e", "e+", "e").Replace(strconv.FormatFloat(n, 'e', 1, 64))
}

// Seconds is a length of time in a sentence: "4.2 s", "350 ms".
func Seconds(s float64) string {
	if s < 1 && s > 0 {
		return strconv.FormatFloat(s*1000, 'g', 3, 64) + " ms"
	}
	if s >= 100 {
		return fmt.Sprintf("%.0f s", s)
	}
	return strconv.FormatFloat(math.Round(s*100)/100, 'f', -1, 64) + " s"
}

// Sentence says what the choice of a plan means, or why there is none.
func (p Plan) Sentence() string {
	how := map[Renewal]string{Never: "without renewal", Half: "renewed every half of it",
		Third: "renewed every third of it", Tenth: "renewed every tenth of it"}[p.Renewal]
	c := p.Choice
	if c == nil {
		return fmt.Sprintf("A TTL %s: none is recommended, since %s.", how, p.Impossible)
	}
	text := fmt.Sprintf("With a TTL of %s, %s, %s outlives its lease; a crash blocks the others for %s at most, %s on "+
		"average.", Seconds(c.TTLSeconds), how, c.Outlives.Sections(), Seconds(c.BlockedWorstSeconds),
		Seconds(c.BlockedMeanSeconds))
	switch {
	case c.Extrapolated && c.Outlives.High > c.Outlives.Value:
		text += fmt.Sprintf(" That is extrapolated: what was measured shows no such section, which says only that it is at "+
			"most %s (95 %%).", Share{Value: c.Outlives.High}.Sections())
	case c.Extrapolated:
		text += " That is extrapolated: it lies above the P99 that was given."
	case c.Outlives.High > c.Outlives.Low:
		text += fmt.Sprintf(" The measured durations allow %s to %s (95 %%).", Share{Value: c.Outlives.Low}.Text(),
			Share{Value: c.Outlives.High}.Text())
	}
	return text
}

// Sentence says what the played sections of a point showed.
func (p Played) Sentence() string {
	verdict := "they agree"
	if !p.Agree() {
		verdict = "they disagree"
	}
	how := p.Renewal.Words()
	if p.GivesUpSeconds > 0 {
		how += " until " + Seconds(p.GivesUpSeconds) + " before its end"
	}
	if p.Climbs > 0 {
		return fmt.Sprintf("Played with %s, TTL %s, %s: %s long sections, drawn by splitting: %s outlived their lease, %s "+
			"lost a write. By that %s outlives its lease (%s), and %s loses a write (%s); %s.", p.Lock, Seconds(p.TTLSeconds),
			how, prose.Thousands(p.Sections), prose.Thousands(p.Outlives.Count), prose.Thousands(p.Lost.Count),
			p.Outlives.Share.Sections(), p.Outlives.estimate(), p.Lost.Share.Sections(), p.Lost.estimate(), verdict)
	}
	return fmt.Sprintf("Played with %s, TTL %s, %s: %s sections, %s outlived their lease (computed %s), %s lost a write "+
		"(computed %s); %s.", p.Lock, Seconds(p.TTLSeconds), how, prose.Thousands(p.Sections),
		between(p.Outlives), Share{Value: p.Outlives.Computed}.percent(), between(p.Lost),
		Share{Value: p.Lost.Computed}.percent(), verdict)
}

// estimate is the interval of an estimate, the rarer end first, and the computed share.
func (p PlayedShare) estimate() string {
	return fmt.Sprintf("%s to %s, computed %s", Share{Value: p.Share.Low}.Text(), Share{Value: p.Share.High}.Text(),
		Share{Value: p.Computed}.Text())
}

func between(p PlayedShare) string {
	return fmt.Sprintf("%s (%.3g to %.3g %%)", prose.Thousands(p.Count), p.Share.Low*100, p.Share.High*100)
}

func (s Share) percent() string { return fmt.Sprintf("%.3g %%", s.Value*100) }

// Sentence says what a distribution is.
func (in Input) Sentence() string {
	if in.Measured == 0 {
		return in.Source
	}
	return fmt.Sprintf("%s: %s durations, P50 %s, P99 %s, longest %s", in.Source, prose.Thousands(in.Measured),
		Seconds(in.P50Seconds), Seconds(in.P99Seconds), Seconds(in.LargestSeconds))
}
