// Package chrome writes runs in the trace-event format of Chrome. chrome.go writes the
// file, tracks.go places slices on tracks, run.go and messages.go make the tracks of a
// run.
package chrome

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// Run writes the runs of all fencing modes in the trace-event format of
// Chrome, which trace viewers such as Perfetto (https://ui.perfetto.dev) open.
//
// Each mode is a process, and all begin at time 0, so that the moment at which they
// diverge has the same horizontal position in each. A process has tracks for the
// story, for the waits, beliefs, claims and faults of each client, for the lock by the
// nodes' own record, and for what each node did and received. A message lasts as long
// as it is under way, and an arrow connects it with the command or the read that it
// caused. An event that takes no virtual time is drawn a nanosecond long.
//
// A run of mode n/a is left out. Of the options, only Replay is used. The same outcome
// gives the same bytes. Run returns the error of the writer. It only reads the outcome,
// and is safe for concurrent use.
func Run(w io.Writer, o *outcome.Outcome, opt reports.Options) error {
	c := &traceFile{}
	for i := range o.Modes {
		if m := &o.Modes[i]; m.Trace != nil {
			c.process(m)
		}
	}
	b, err := c.document(o, opt)
	if err != nil {
		return fmt.Errorf("write the run as trace events: %w", err)
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write the run as trace events: %w", err)
	}
	return nil
}

// traceFile gathers the events of all processes.
type traceFile struct {
	events []event
	runs   int // processes so far
	flows  int // arrows so far
}

// event is one entry of the trace-event format.
type event struct {
	Phase    string         `json:"ph"`
	PID      int            `json:"pid"`
	TID      int            `json:"tid"`
	Time     micros         `json:"ts"`
	Duration micros         `json:"dur,omitempty"`
	Category string         `json:"cat,omitempty"`
	Name     string         `json:"name"`
	ID       int            `json:"id,omitempty"`
	Scope    string         `json:"s,omitempty"`
	Bind     string         `json:"bp,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// The phases of events that are used.
const (
	phaseName    = "M"
	phaseSlice   = "X"
	phaseInstant = "i"
	phaseStart   = "s" // of an arrow
	phaseFinish  = "f"
)

// micros is a time that is written in microseconds, the unit of the format, to the
// nanosecond.
type micros time.Duration

// MarshalJSON writes the time as a number.
func (m micros) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%03d", m/1000, m%1000), nil
}

// document is the file, with one event on each line.
func (c *traceFile) document(o *outcome.Outcome, opt reports.Options) ([]byte, error) {
	times := "virtual"
	if o.Live != nil {
		times = "real"
	}
	about := map[string]string{"scenario": o.Scenario.Name, "lock": o.Lock, "seed": fmt.Sprint(o.Seed),
		"times": times, "replay": opt.Replay}
	for _, m := range scene.Ran(o) {
		about["trace hash of mode "+string(m.Mode)] = m.TraceHash
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteString("{\"displayTimeUnit\":\"ms\",\n\"otherData\":")
	if err := enc.Encode(about); err != nil {
		return nil, err
	}
	b.WriteString(",\"traceEvents\":[\n")
	for i, e := range c.events {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(e); err != nil {
			return nil, err
		}
	}
	b.WriteString("]}\n")
	return b.Bytes(), nil
}
