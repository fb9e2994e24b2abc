package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/evidence"
	"locksim/scenarios/outcome"
)

// Verdict is what today's judge says of the run of one mode.
type Verdict struct {
	// Mode is the mode.
	Mode fence.Mode `json:"mode"`
	// Stored is the label of the stored run.
	Stored checker.Label `json:"stored"`
	// Today is the label that today's judge gives it.
	Today checker.Label `json:"today"`
	// Differences are the facts that are not as they were stored, in sentences. It is absent if there are none.
	Differences []string `json:"differences,omitempty"`
	// Reasons say why the run has today's label. It is absent if no more than the label is to be said.
	Reasons []string `json:"reasons,omitempty"`
}

// Equal reports whether the label and all facts are as they were stored.
func (v Verdict) Equal() bool { return v.Stored == v.Today && len(v.Differences) == 0 }

// Judge judges the run of each stored mode by its record, without playing it. Errors are those of the checker, of a
// record that contradicts itself.
func (r *Run) Judge() ([]Verdict, error) {
	runs, err := r.Judged()
	if err != nil {
		return nil, err
	}
	var out []Verdict
	for _, mode := range r.Stored.FencingModes() {
		if m, ok := runs[mode]; ok {
			out = append(out, Compare(r.Stored.Modes[mode], m))
		}
	}
	return out, nil
}

// Judged are the runs with their verdicts, by mode.
func (r *Run) Judged() (map[fence.Mode]*outcome.ModeRun, error) {
	out := map[fence.Mode]*outcome.ModeRun{}
	for _, mode := range sorted(r.Modes) {
		m := r.Modes[mode]
		run := &outcome.ModeRun{Mode: mode, Record: m.Record, Terms: m.Terms,
			History: evidence.History(r.scenario, m.Terms, m.Record), KeyChanges: m.Record.KeyChanges()}
		if err := run.Judge(out[fence.None]); err != nil { // which comes first
			return nil, fmt.Errorf("modes.%s: %w", mode, err)
		}
		out[mode] = run
	}
	return out, nil
}

// sorted are the modes of a map in the order of [fence.Modes], unknown ones last.
func sorted[T any](modes map[fence.Mode]T) []fence.Mode {
	rank := func(m fence.Mode) int {
		if i := slices.Index(fence.Modes(), m); i >= 0 {
			return i
		}
		return len(fence.Modes())
	}
	return slices.SortedFunc(maps.Keys(modes), func(a, b fence.Mode) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return bytes.Compare([]byte(a), []byte(b))
	})
}

// Compare compares a stored run of a mode with one that was judged.
func Compare(stored outcome.ModeFile, run *outcome.ModeRun) Verdict {
	v := Verdict{Mode: run.Mode, Stored: stored.Verdict, Today: run.Verdict.Label}
	was, is := fields(stored.Facts), fields(&run.Verdict.Facts)
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if !bytes.Equal(was[name], is[name]) {
			v.Differences = append(v.Differences, fmt.Sprintf("%s: %s is stored, today's judge says %s", name, said(was[name]),
				said(is[name])))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, ok := is[name]; !ok {
			v.Differences = append(v.Differences, fmt.Sprintf("%s: %s is stored, today's judge says nothing", name,
				said(was[name])))
		}
	}
	for _, reason := range run.Verdict.Reasons {
		v.Reasons = append(v.Reasons, reason.Text)
	}
	return v
}

func said(value json.RawMessage) string {
	if len(value) == 0 {
		return "nothing"
	}
	return string(value)
}

// fields are facts by their names in JSON.
func fields(f *checker.Facts) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	b, err := json.Marshal(f)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		panic("records: facts are not JSON: " + err.Error()) // they are strings and numbers
	}
	return out
}
