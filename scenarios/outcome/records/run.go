package records

import (
	"errors"
	"fmt"

	"locksim/lock/fence"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/outcome"
)

// Run is a run with all that a judge needs of it.
type Run struct {
	// Name is its name among the runs of its campaign, such as "seed 7". It is "" for a run that has a file of its own.
	Name string `json:"name,omitempty"`
	// Stored is the run as it was stored, with the verdicts of that time.
	Stored *outcome.RunFile `json:"run"`
	// Played is the text of the scenario as it was played, where that is another one than the source of the run: the
	// durations of a live run are multiplied.
	Played string `json:"played,omitempty"`
	// Modes has the record of each mode. It has mode none, against which a rescue is measured, also where the stored run
	// does not, and no mode that was not run.
	Modes map[fence.Mode]Mode `json:"modes"`

	scenario *file.Scenario
}

// Mode is what was seen of the run in one mode.
type Mode struct {
	// Terms are what the lock was judged by.
	Terms evidence.Terms `json:"terms"`
	// Record is what the driver has seen.
	Record *evidence.Record `json:"record"`
}

// ErrNone is returned by [Of] for an outcome without a record.
var ErrNone = errors.New("there is no record of the run")

// Of is an outcome as it is stored. name is its name among the runs of a campaign, or "" for one whose scenario is that
// of its source. Errors are [ErrNone] and those of [file.Format].
func Of(name string, o *outcome.Outcome) (*Run, error) {
	r := &Run{Name: name, Stored: outcome.NewRunFile(o), Modes: map[fence.Mode]Mode{}}
	clear(r.Stored.Timing.WallSeconds) // all else is the same on every machine
	played, err := file.Format(o.Scenario)
	if err != nil {
		return nil, err
	}
	switch {
	case name != "" || r.Stored.Source == "": // a campaign has drawn it, or has placed faults in it
		r.Stored.File, r.Stored.Source = o.Scenario.Name+".yaml", string(played)
	case o.Live != nil:
		r.Played = string(played)
	}
	modes := o.Modes
	if o.Base != nil {
		modes = append(modes[:len(modes):len(modes)], *o.Base)
	}
	for _, m := range modes {
		if m.Trace == nil {
			continue
		}
		if m.Record == nil {
			return nil, ErrNone
		}
		r.Modes[m.Mode] = Mode{Terms: m.Terms, Record: m.Record}
		if f, ok := r.Stored.Modes[m.Mode]; ok && f.TraceHash == "" { // a search does without
			f.TraceHash = m.Trace.Hash()
			r.Stored.Modes[m.Mode] = f
		}
	}
	return r, nil
}

// IsOf reports whether this is the record of a stored run: their traces are equal.
func (r *Run) IsOf(run *outcome.RunFile) bool {
	for mode, m := range run.Modes {
		if r.Stored.Modes[mode].TraceHash != m.TraceHash {
			return false
		}
	}
	return r.Stored.Lock == run.Lock && r.Stored.Source == run.Source
}

// prepare reads the scenario, and checks that a history can be made of the records. servers are the kinds of servers
// that do not come with locksim. An error names the place in the run.
func (r *Run) prepare(servers []server.Facts) error {
	text := r.Stored.Source
	if r.Played != "" {
		text = r.Played
	}
	sc, err := file.Parse(r.Stored.File, []byte(text), servers...)
	if input, ok := errors.AsType[*file.InputError](err); ok {
		return fmt.Errorf("its scenario: %v: %s", input.Pos, input.Msg)
	}
	if err != nil {
		return fmt.Errorf("its scenario: %w", err)
	}
	r.scenario = sc
	for _, mode := range r.Stored.FencingModes() {
		if _, ok := r.Modes[mode]; !ok && r.Stored.Modes[mode].TraceHash != "" {
			return fmt.Errorf("modes: there is no record of mode %s, which was run", mode)
		}
	}
	for _, mode := range sorted(r.Modes) {
		m := r.Modes[mode]
		if _, err := fence.ParseMode(string(mode)); err != nil {
			return fmt.Errorf("modes: %w", err)
		}
		if m.Record == nil {
			return fmt.Errorf("modes.%s: there is no record in it", mode)
		}
		if err := errors.Join(m.Terms.Validate(), m.Record.Validate(sc)); err != nil {
			return fmt.Errorf("modes.%s: %w", mode, err)
		}
	}
	return nil
}
