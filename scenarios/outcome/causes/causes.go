// Package causes has the answer to the question when a violation became inevitable: how probable it was after each step
// of its run.
package causes

import (
	"fmt"
	"math"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
)

// Curve says how probable a violation was after some steps of the run that shows it. Each probability is measured by
// continuations: runs that are equal to it up to the step, and draw what comes later anew. See
// [locksim/scenarios/play.Fork] for what that is.
type Curve struct {
	// Mode is the fencing mode of the run.
	Mode fence.Mode `json:"mode"`
	// Label is the verdict of the run. A continuation ends badly if it does harm, and its label is this one or a worse
	// one.
	Label checker.Label `json:"label"`
	// Points are the steps that were measured, in their order.
	Points []Point `json:"points"`
	// From is the step after which the probability rose most: the first of the two neighbouring points with the largest
	// difference.
	From int `json:"from"`
	// To is the second of these points. It is equal to From if the probability rose nowhere.
	To int `json:"to"`
	// What is what the story of the run says about To, or the last step before it that the story has. It is absent if the
	// story has none between From and To.
	What string `json:"what,omitempty"`
	// Inevitable is the first measured step from which on all continuations of all points ended badly. It is absent if
	// some did not at the last point.
	Inevitable *int `json:"inevitable,omitempty"`
	// Undrawn counts the continuations that could not be played to their end. They are in no point.
	Undrawn int `json:"undrawn,omitempty"`
	// Says is the result in a sentence or two.
	Says string `json:"says"`
}

// Point is a step of the run with its continuations.
type Point struct {
	// Step is the number of the last event that the continuations share; 0 is the start of the run.
	Step int `json:"step"`
	// Seconds is the virtual time of that event.
	Seconds float64 `json:"seconds"`
	// Runs counts the continuations.
	Runs int `json:"runs"`
	// Bad counts those that ended badly.
	Bad int `json:"bad"`
	// Low is the low end of the interval in which the probability is with a confidence of 95 %.
	Low float64 `json:"low" jsonschema:"maximum=1"`
	// High is the high end of that interval.
	High float64 `json:"high" jsonschema:"maximum=1"`
}

// NewPoint is a point with its interval, by [Wilson].
func NewPoint(step int, at time.Duration, runs, bad int) Point {
	p := Point{Step: step, Seconds: at.Seconds(), Runs: runs, Bad: bad, High: 1}
	if runs == 0 {
		return p
	}
	p.Low, p.High = Wilson(p.Rate(), runs, Z95)
	return p
}

// Z95 and Z999 are the confidences of 95 % and of 99.9 %, as standard deviations.
const (
	Z95  = 1.959963984540054
	Z999 = 3.290526731491895
)

// Wilson is the interval in which the share of all is with the confidence z, if rate is that of n of them: by Wilson's
// score, Journal of the American Statistical Association 22, 1927.
func Wilson(rate float64, n int, z float64) (low, high float64) {
	of := float64(n)
	middle := (rate + z*z/(2*of)) / (1 + z*z/of)
	half := z / (1 + z*z/of) * math.Sqrt(rate*(1-rate)/of+z*z/(4*of*of))
	low, high = max(middle-half, 0), min(middle+half, 1)
	if rate == 0 {
		low = 0
	}
	if rate == 1 {
		high = 1
	}
	return low, high
}

// Rate is the share of continuations that ended badly; 0 without any.
func (p Point) Rate() float64 {
	if p.Runs == 0 {
		return 0
	}
	return float64(p.Bad) / float64(p.Runs)
}

// Band is the interval in words: "3–10 %".
func (p Point) Band() string { return fmt.Sprintf("%.0f–%.0f %%", p.Low*100, p.High*100) }

// Share is the rate in words: "1 continuation in 12".
func (p Point) Share() string {
	switch rate := p.Rate(); {
	case p.Bad == 0:
		return fmt.Sprintf("none of %d continuations", p.Runs)
	case p.Bad == p.Runs:
		return fmt.Sprintf("all %d continuations", p.Runs)
	case rate < 0.35:
		return fmt.Sprintf("1 continuation in %d", int(math.Round(1/rate)))
	}
	return fmt.Sprintf("%d of %d continuations", p.Bad, p.Runs)
}

// Steepest is the index of the point before which the probability rose most, from the point before: the first of
// several; 0 if it rose nowhere.
func (c *Curve) Steepest() int {
	most, at := 0.0, 0
	for i := 1; i < len(c.Points); i++ {
		if rise := c.Points[i].Rate() - c.Points[i-1].Rate(); rise > most {
			most, at = rise, i
		}
	}
	return at
}

// Conclude fills what follows from the points. what describes the steps after the first, up to the second; "" for none.
func (c *Curve) Conclude(what func(from, to int) string) {
	if len(c.Points) == 0 {
		c.Says = "No continuation could be played."
		return
	}
	i := c.Steepest()
	before, after := c.Points[max(i-1, 0)], c.Points[i]
	if i == 0 {
		before = after
	}
	c.From, c.To = before.Step, after.Step
	if c.From < c.To {
		c.What = what(c.From, c.To)
	}
	c.Inevitable = nil
	for j := len(c.Points) - 1; j >= 0 && c.Points[j].Runs > 0 && c.Points[j].Bad == c.Points[j].Runs; j-- {
		step := c.Points[j].Step
		c.Inevitable = &step
	}
	c.Says = c.sentence(before, after)
}

func (c *Curve) sentence(before, after Point) string {
	bad := fmt.Sprintf("ended as badly (%s, or worse)", c.Label)
	first := c.Points[0]
	if c.Inevitable != nil && *c.Inevitable == first.Step {
		return fmt.Sprintf("From the start, %s %s: no delay and no fault that is drawn anew prevents it.", first.Share(), bad)
	}
	if c.From == c.To {
		return fmt.Sprintf("It became more probable at no step: %s at the start %s.", first.Share(), bad)
	}
	at := ""
	if c.What != "" {
		at = " (" + c.What + ")"
	}
	text := fmt.Sprintf("%s, %s %s; after step %d%s, %s did.", c.until(before), before.Share(), bad, after.Step, at,
		after.Share())
	if top := c.highest(before); top.Low > before.High {
		text += fmt.Sprintf(" It had been more probable before: %s after step %d.", top.Share(), top.Step)
	}
	switch {
	case c.Inevitable == nil:
		text += " It was not certain even at the last step that was measured."
	case *c.Inevitable != after.Step:
		text += fmt.Sprintf(" From step %d on, every continuation did.", *c.Inevitable)
	}
	return text
}

// until is how the sentence begins: "Until step 63" if the point is as probable as all before it, as far as their bands
// tell.
func (c *Curve) until(p Point) string {
	if p.Step == 0 {
		return "At the start"
	}
	for _, q := range c.Points {
		if q.Step < p.Step && (q.Low > p.High || q.High < p.Low) {
			return fmt.Sprintf("After step %d", p.Step)
		}
	}
	return fmt.Sprintf("Until step %d", p.Step)
}

// highest is the most probable of the points up to one of them, the first of several.
func (c *Curve) highest(last Point) Point {
	top := last
	for _, q := range c.Points {
		if q.Step < last.Step && q.Rate() > top.Rate() {
			top = q
		}
	}
	return top
}

// Method says in words how the points were measured.
func (c *Curve) Method() string {
	runs := 0
	for _, p := range c.Points {
		runs += p.Runs
	}
	text := fmt.Sprintf("Measured at %s by %s in mode %s: each is the run up to a step, with every later delay and "+
		"every fault that had not struck drawn anew. Such a fault strikes at any instant from there to the end of the "+
		"work, and lasts for half to one and a half of its time.",
		prose.Count(len(c.Points), "step"), prose.Count(runs, "continuation"), c.Mode)
	if c.Undrawn > 0 {
		text += fmt.Sprintf(" %s could not be played.", prose.Count(c.Undrawn, "further continuation"))
	}
	return text
}
