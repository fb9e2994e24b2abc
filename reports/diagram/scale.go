package diagram

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"locksim/internal/prose"
	"locksim/reports/scene"
)

// Position is the horizontal position of a span on the page without scripts. It is
// computed with integers, so that it is the same on every machine.
type Position struct {
	X, W string `json:"-"`
	wide int64  // W in tenths of a pixel
}

// scale converts times into positions on the page without scripts: from one time to
// another, in a diagram of a width in pixels. Earlier and later times are at its edges.
type scale struct {
	from, end time.Duration
	width     int
}

// x is the position of a time, in tenths of a pixel.
func (s scale) x(t time.Duration) int64 {
	room := int64(s.width-chartGutter-chartRight) * 10
	t = min(max(t, s.from), s.end)
	return chartGutter*10 + int64((t-s.from)/time.Microsecond)*room/max(int64((s.end-s.from)/time.Microsecond), 1)
}

// shows reports whether a part of a span is between the two times.
func (s scale) shows(p scene.Span) bool { return p.End >= s.from && p.Start <= s.end }

func (s scale) position(p scene.Span) Position {
	x0, x1 := s.x(p.Start), s.x(p.End)
	wide := max(x1-x0, 0)
	return Position{tenths(x0), tenths(wide), wide}
}

// At is the position of a moment, in pixels.
func (s scale) At(t time.Duration) string { return tenths(s.x(t)) }

func tenths(n int64) string {
	if n%10 == 0 {
		return strconv.FormatInt(n/10, 10)
	}
	return fmt.Sprintf("%d.%d", n/10, n%10)
}

// Tick is a mark of the time axis.
type Tick struct {
	X, Text string
	// Shift moves the text to the left, so that the edge does not cut it. "" is for one in its place.
	Shift string
}

// steps of an axis, as multiples of a power of ten.
var tickSteps = []int64{1, 2, 5}

// tickWidth is the least distance of two marks of the time axis, in pixels.
const tickWidth = 90

// tickColumn is the width of a character of its text, in tenths of a pixel.
const tickColumn = 70

// ticks are marks at round times.
func (s scale) ticks() []Tick {
	step := int64(1000) // a microsecond
	for i := 0; int64(s.end-s.from)/step > int64(s.width/tickWidth); i++ {
		step = tickSteps[i%3] * pow10(3+i/3)
	}
	var out []Tick
	for t := (int64(s.from) + step - 1) / step * step; t <= int64(s.end); t += step {
		text := tickText(time.Duration(t))
		shift := ""
		if over := s.x(time.Duration(t)) + int64(prose.Columns(text))*tickColumn/2 - int64(s.width)*10; over > 0 {
			shift = "-" + tenths(over)
		}
		out = append(out, Tick{s.At(time.Duration(t)), text, shift})
	}
	return out
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// tickText writes a round time without trailing zeros.
func tickText(d time.Duration) string {
	if d < time.Second && d > 0 {
		return trimmed(int64(d/time.Microsecond), 1000) + " ms"
	}
	return trimmed(int64(d/time.Millisecond), 1000) + " s"
}

// trimmed is n/unit as a decimal; unit is a power of ten.
func trimmed(n, unit int64) string {
	if n%unit == 0 {
		return strconv.FormatInt(n/unit, 10)
	}
	digits := len(strconv.FormatInt(unit, 10)) - 1
	return strconv.FormatInt(n/unit, 10) + "." + strings.TrimRight(fmt.Sprintf("%0*d", digits, n%unit), "0")
}
