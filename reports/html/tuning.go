package html

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"locksim/reports"
	"locksim/scenarios/outcome/tunings"
)

// TuningOptions are the command and the versions on the page of a tuning. The zero value is a page without them.
type TuningOptions struct {
	// Again is the command that makes the page again. "" shows none.
	Again string
	// Versions are the versions that the result depends on.
	Versions []reports.Version
}

// Tuning writes the choice of a TTL as one page without other files and without JavaScript: the sentence of each plan,
// the curves, and the figures behind them. The same tuning and options give the same bytes. Tuning returns the error of
// the writer.
func Tuning(w io.Writer, t *tunings.Tuning, opt TuningOptions) error {
	return render(w, "tuning", tuningTemplate, newTuningPage(t, opt))
}

var tuningTemplate = page("tuning.html")

// tuningPage is the data of the template.
type tuningPage struct {
	Target       string
	Sentences    []tuningSentence
	NotCounted   string
	Played       []string
	Inputs       []tuningInput
	Chart        tuningChart
	Renewals     []tunings.Renewal
	Rows         []tuningRow
	Contended    string
	Backoff      string
	Extrapolated bool
	Again        string
	Versions     []reports.Version
	CSS          template.CSS
}

type tuningSentence struct {
	Class, Text string
}

type tuningInput struct{ Name, Text string }

type tuningRow struct {
	TTL                       string
	Outlives                  []string
	Twice, Check, Worst, Mean string
}

// tuningChart has the curves in the units of the drawing.
type tuningChart struct {
	Width, Height            float64
	Left, Right, Top, Bottom float64
	X, Y                     []tuningTick
	Target                   float64 // the height of its line
	Curves                   []tuningLine
	Choices                  []tuningDot
}

type tuningTick struct {
	At   float64
	Text string
}

type tuningLine struct {
	Class, Name   string
	Solid, Dashed string // points of polylines
}

type tuningDot struct {
	Class, Text string
	X, Y        float64
}

// lowestShare is the smallest share that the chart shows.
const lowestShare = 1e-7

func newTuningPage(t *tunings.Tuning, opt TuningOptions) *tuningPage {
	p := &tuningPage{Target: tunings.Share{Value: t.Target}.Sections(), Chart: newTuningChart(t),
		Contended: fmt.Sprintf("%.3g %%", t.Contended*100), Backoff: tunings.Seconds(t.BackoffSeconds),
		Extrapolated: t.Extrapolated(), Again: opt.Again, Versions: opt.Versions,
		CSS: template.CSS(asset("base.css") + asset("tuning.css"))}
	p.NotCounted = tunings.NotCounted
	p.Inputs = []tuningInput{{"Work", t.Work.Sentence()}, {"Pauses", t.Pauses.Sentence()}, {"Reply", t.Reply.Sentence()}}
	if t.MarginSeconds > 0 {
		p.Inputs = append(p.Inputs, tuningInput{"Margin", "a lease may end " + tunings.Seconds(t.MarginSeconds) +
			" before its TTL is over"})
	}
	for i, plan := range t.Plans {
		p.Sentences = append(p.Sentences, tuningSentence{fmt.Sprintf("p%d", i), plan.Sentence()})
		p.Renewals = append(p.Renewals, plan.Renewal)
	}
	for _, played := range t.Played {
		p.Played = append(p.Played, played.Sentence())
	}
	for i, c := range t.Plans[0].Curve {
		row := tuningRow{TTL: tunings.Seconds(c.TTLSeconds), Twice: c.Twice.Text(), Check: c.LostCheck.Text(),
			Worst: tunings.Seconds(c.BlockedWorstSeconds), Mean: tunings.Seconds(c.BlockedMeanSeconds)}
		for _, plan := range t.Plans {
			row.Outlives = append(row.Outlives, plan.Curve[i].OutlivesText())
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

func newTuningChart(t *tunings.Tuning) tuningChart {
	c := tuningChart{Width: 760, Height: 420, Left: 112, Right: 740, Top: 16, Bottom: 366}
	first := t.Plans[0].Curve
	low, high := math.Log10(first[0].TTLSeconds), math.Log10(first[len(first)-1].TTLSeconds)
	for _, plan := range t.Plans {
		if plan.Choice != nil {
			low, high = min(low, math.Log10(plan.Choice.TTLSeconds)), max(high, math.Log10(plan.Choice.TTLSeconds))
		}
	}
	x := func(ttl float64) float64 {
		return c.Left + (math.Log10(ttl)-low)/max(high-low, 1e-9)*(c.Right-c.Left)
	}
	y := func(share float64) float64 {
		return c.Top + math.Log10(max(share, lowestShare))/math.Log10(lowestShare)*(c.Bottom-c.Top)
	}
	for e := math.Floor(low); e <= high; e++ {
		for _, d := range []float64{1, 2, 5} {
			if ttl := d * math.Pow(10, e); math.Log10(ttl) >= low-1e-9 && math.Log10(ttl) <= high+1e-9 {
				c.X = append(c.X, tuningTick{x(ttl), tunings.Seconds(ttl)})
			}
		}
	}
	for share := 1.; share > lowestShare*.9; share /= 10 {
		text := tunings.Share{Value: share}.Text()
		if share < .095 {
			text = fmt.Sprintf("1 in 10^%.0f", -math.Log10(share))
		}
		c.Y = append(c.Y, tuningTick{y(share), strings.NewReplacer("10^2", "100", "10^3", "1,000", "10^4", "10,000", "10^5",
			"100,000", "10^6", "1,000,000", "10^7", "10,000,000").Replace(text)})
	}
	c.Target = y(t.Target)
	for i, plan := range t.Plans {
		line := tuningLine{Class: fmt.Sprintf("p%d", i), Name: plan.Renewal.Words()}
		var solid, dashed []string
		for _, p := range plan.Curve {
			if p.Outlives.Value < lowestShare && len(solid)+len(dashed) == 0 {
				break
			}
			at := fmt.Sprintf("%.1f,%.1f", x(p.TTLSeconds), y(p.Outlives.Value))
			if p.Extrapolated && p.Outlives.Value > 0 {
				if len(dashed) == 0 && len(solid) > 0 {
					dashed = append(dashed, solid[len(solid)-1])
				}
				dashed = append(dashed, at)
			} else {
				solid = append(solid, at)
			}
			if p.Outlives.Value < lowestShare {
				break // the curve ends at the floor of the chart
			}
		}
		line.Solid, line.Dashed = strings.Join(solid, " "), strings.Join(dashed, " ")
		c.Curves = append(c.Curves, line)
		if plan.Choice != nil {
			c.Choices = append(c.Choices, tuningDot{line.Class, tunings.Seconds(plan.Choice.TTLSeconds),
				x(plan.Choice.TTLSeconds), y(plan.Choice.Outlives.Value)})
		}
	}
	return c
}
