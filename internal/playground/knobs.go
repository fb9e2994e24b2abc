package playground

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
)

// Knob is a length of time of a scenario that the page changes by a slider.
type Knob struct {
	// Path names it: "lock.ttl", "faults[0].pause.for".
	Path string `json:"path"`
	// What is "ttl", "hold", "latency" or the name of the fault, and Field the key of the fault.
	What  string `json:"what"`
	Field string `json:"field,omitempty"`
	// About says what the fault is.
	About string `json:"about,omitempty"`
	Text  string `json:"text"`
	// Value, Least and Most are in nanoseconds.
	Value int64 `json:"value"`
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
}

// The longest lengths that a slider gives.
const (
	mostTTL     = 2 * time.Minute
	mostHold    = 2 * time.Minute
	mostLatency = 5 * time.Second
	mostFault   = 2 * time.Minute
)

// latency is the path of the one knob that is a range.
const latency = "world.latency"

// maxKnobs bounds the sliders of faults.
const maxKnobs = 6

// length is a knob with the field of the scenario that it changes.
type length struct {
	Knob
	set func(d time.Duration) // of the scenario from which it is
	now string                // as the file has it
}

// lengths are the knobs of a scenario, whose faults they change.
func lengths(sc *file.Scenario) []length {
	all := []length{
		knob("lock.ttl", "ttl", "", sc.Lock.TTL, time.Millisecond, mostTTL, func(d time.Duration) { sc.Lock.TTL = d }),
		knob("workload.hold", "hold", "", sc.Workload.Hold, 0, mostHold, func(d time.Duration) { sc.Workload.Hold = d }),
		knob(latency, "latency", "", sc.World.Latency.Max, 10*time.Microsecond, mostLatency,
			func(d time.Duration) { sc.World.Latency = upTo(d) }),
	}
	all[2].now = sc.World.Latency.String()
	some := 0
	for i := range sc.Faults {
		form, ok := faults.Open(sc.Faults[i].Action)
		if !ok {
			continue
		}
		for _, f := range form.Fields {
			var to *time.Duration
			var least time.Duration
			switch h := f.Holds.(type) {
			case faults.Length:
				to = h.To
				if h.Ends {
					least = time.Millisecond
				}
			case faults.Offset:
				to, least = h.To, time.Millisecond
			}
			if to == nil || *to <= 0 || some == maxKnobs {
				continue
			}
			some++
			k := knob(fmt.Sprintf("faults[%d].%s.%s", i, form.Name, f.Key), form.Name, f.Key, *to, least, mostFault,
				func(d time.Duration) {
					*to = d
					sc.Faults[i].Action = form.Action()
				})
			k.About = sc.Faults[i].String()
			all = append(all, k)
		}
	}
	return all
}

func knob(path, what, field string, now, least, most time.Duration, set func(time.Duration)) length {
	return length{Knob{Path: path, What: what, Field: field, Text: lengthOf(now), Value: int64(now), Least: int64(least),
		Most: int64(max(most, now))}, set, now.String()}
}

// upTo is a latency that varies up to a length.
func upTo(d time.Duration) file.Range { return file.Range{Min: max(d/5, time.Microsecond), Max: d} }

func knobs(sc *file.Scenario) []Knob {
	var all []Knob
	for _, l := range lengths(sc) {
		all = append(all, l.Knob)
	}
	return all
}

// turn is the source of a scenario with another length. It changes the text where the file has the old one, and writes
// the file anew where it leaves it out.
func turn(sc *file.Scenario, path, text string) (string, error) {
	changed := sc.Clone()
	all := lengths(changed)
	i := slices.IndexFunc(all, func(l length) bool { return l.Path == path })
	if i < 0 {
		return "", fmt.Errorf("%s: the scenario has no such length", path)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w: give a length of time such as 15s", path, err)
	}
	all[i].set(d)
	if path == latency {
		text = changed.World.Latency.String()
	}
	if source, ok := replace(string(sc.Source), sc.Pos(path), all[i].now, text); ok {
		return source, nil
	}
	changed.Detach()
	b, err := file.Format(changed)
	return string(b), err
}

// replace replaces the value at a position of a file, which must be the one that is there; another length of the same
// value, such as 60s for 1m0s, counts too.
func replace(source string, at faults.Pos, now, text string) (string, bool) {
	lines := strings.SplitAfter(source, "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return source, false
	}
	line := lines[at.Line-1]
	from := at.Column - 1
	if from < 0 || from >= len(line) {
		return source, false
	}
	end := from + strings.IndexAny(line[from:]+"\n", " ,}\r\n#")
	if !sameLength(line[from:end], now) {
		return source, false
	}
	lines[at.Line-1] = line[:from] + text + line[end:]
	return strings.Join(lines, ""), true
}

func sameLength(a, b string) bool {
	as, bs := strings.Split(a, ".."), strings.Split(b, "..")
	return slices.EqualFunc(as, bs, func(a, b string) bool {
		x, errX := time.ParseDuration(a)
		y, errY := time.ParseDuration(b)
		return errX == nil && errY == nil && x == y
	})
}
