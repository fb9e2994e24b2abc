package html

import (
	"fmt"
	"slices"
	"strings"

	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/causes"
)

// The drawing of a curve, in pixels: its size, which the template has too, and the margins around its plot.
const (
	causeWidth, causeHeight = 1000, 240
	causeLeft, causeRight   = 56, 20
	causeTop, causeBottom   = 12, 46
)

// causePart is when a violation became inevitable, as a sentence and a curve.
type causePart struct {
	*causes.Curve
	Line, Shade              string // the points of the polyline, and of the polygon that is the band
	Dots                     []causeDot
	Rows, Columns            []causeTick
	Rise                     float64 // where the steepest rise ends
	Left, Right, Top, Bottom int
	Middle                   int // of the axis of the steps
}

// causeDot is a point of the curve.
type causeDot struct {
	X, Y float64
	Says string
}

// causeTick is a label of an axis.
type causeTick struct {
	At   float64
	Text string
}

// newCausePart is nil where no cause was asked for.
func newCausePart(o *outcome.Outcome) *causePart {
	c := o.Cause
	if c == nil || len(c.Points) == 0 {
		return nil
	}
	const bottom, right = causeHeight - causeBottom, causeWidth - causeRight
	last := max(c.Points[len(c.Points)-1].Step, 1)
	x := func(step int) float64 { return causeLeft + float64(right-causeLeft)*float64(step)/float64(last) }
	y := func(rate float64) float64 { return bottom - float64(bottom-causeTop)*rate }
	p := &causePart{Curve: c, Rise: x(c.To), Left: causeLeft, Right: right, Top: causeTop, Bottom: bottom,
		Middle: (causeLeft + right) / 2}
	var line, high, low []string
	at := func(step int, rate float64) string { return fmt.Sprintf("%.1f,%.1f", x(step), y(rate)) }
	for _, q := range c.Points {
		line, high, low = append(line, at(q.Step, q.Rate())), append(high, at(q.Step, q.High)), append(low, at(q.Step, q.Low))
		p.Dots = append(p.Dots, causeDot{x(q.Step), y(q.Rate()),
			fmt.Sprintf("after step %d, at %.3fs: %d of %d ended badly, band %s", q.Step, q.Seconds, q.Bad, q.Runs, q.Band())})
	}
	slices.Reverse(low)
	p.Line, p.Shade = strings.Join(line, " "), strings.Join(append(high, low...), " ")
	for i := range 5 {
		step := last * i / 4
		p.Rows = append(p.Rows, causeTick{y(float64(i) / 4), fmt.Sprintf("%d %%", 25*i)})
		p.Columns = append(p.Columns, causeTick{x(step), fmt.Sprint(step)})
	}
	return p
}
