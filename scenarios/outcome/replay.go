package outcome

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/lock/fence"
)

// ReplayError is returned when the replay of a stored run differs from it.
type ReplayError struct {
	Scenario, Lock string
	Seed           uint64
	// Differences are sentences, one for each figure that differs.
	Differences []string
	// Versions are the versions that differ from those that made the file; empty if
	// none does.
	Versions string
}

func (e *ReplayError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the replay of scenario %s, lock %s, seed %d differs from the stored run:", e.Scenario, e.Lock, e.Seed)
	for _, d := range e.Differences {
		b.WriteString("\n  " + d)
	}
	if e.Versions != "" {
		b.WriteString("\nhashes hold for the versions that made them: " + e.Versions)
	} else {
		b.WriteString("\nthe versions are the same: the file was edited, or locksim or the lock has changed since")
	}
	return b.String()
}

// Compare compares every figure of a run that was made again with those of a stored one, except the timing. It returns
// a [*ReplayError] if any differs.
func (f *RunFile) Compare(again *RunFile) error {
	e := &ReplayError{Scenario: f.Scenario, Lock: f.Lock, Seed: f.Seed}
	if f.Scenario != again.Scenario {
		e.Differences = append(e.Differences, fmt.Sprintf("scenario: %s is stored, its source is of %s", f.Scenario,
			again.Scenario))
	}
	if f.Expected != again.Expected {
		e.Differences = append(e.Differences, fmt.Sprintf("as_expected: %v is stored, the replay has %v", f.Expected,
			again.Expected))
	}
	for _, mode := range f.FencingModes() {
		e.Differences = append(e.Differences, differences(mode, f.Modes[mode], again.Modes[mode])...)
	}
	if len(e.Differences) == 0 {
		return nil
	}
	e.Versions = versionChange(f.Timing, again.Timing)
	return e
}

// differences compares two runs of a mode, field by field, as they are stored.
func differences(mode fence.Mode, stored, again ModeFile) []string {
	var out []string
	a, b := storedFields(stored), storedFields(again)
	for _, name := range fieldNames(stored, again) {
		if !bytes.Equal(a[name], b[name]) {
			out = append(out, fmt.Sprintf("mode %s: %s: %s is stored, the replay has %s", mode, name, orNone(a[name]),
				orNone(b[name])))
		}
	}
	return out
}

func storedFields(m ModeFile) map[string]json.RawMessage {
	b, err := json.Marshal(m)
	if err != nil {
		panic("play: a stored mode is not JSON: " + err.Error()) // it holds only strings and numbers
	}
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &out); err != nil {
		panic("play: a stored mode is not JSON: " + err.Error())
	}
	return out
}

// fieldNames are the fields of either, in the order in which they are stored.
func fieldNames(modes ...ModeFile) []string {
	var names []string
	seen := map[string]bool{}
	for _, m := range modes {
		b, _ := json.Marshal(m) // see storedFields
		dec := json.NewDecoder(bytes.NewReader(b))
		_, _ = dec.Token()
		for dec.More() {
			name, _ := dec.Token()
			var skip json.RawMessage
			_ = dec.Decode(&skip)
			if s := name.(string); !seen[s] {
				seen[s] = true
				names = append(names, s)
			}
		}
	}
	return names
}

func orNone(b json.RawMessage) string {
	if len(b) == 0 {
		return "nothing"
	}
	if text := []rune(string(b)); len(text) > shownValue {
		return string(text[:shownValue]) + "…"
	}
	return string(b)
}

// shownValue is how many characters of a stored value an error shows.
const shownValue = 80

func versionChange(stored, now Timing) string {
	var out []string
	if stored.Go != now.Go {
		out = append(out, fmt.Sprintf("Go %s then, %s now", stored.Go, now.Go))
	}
	for _, path := range sortedKeys(stored.Modules) {
		if v := now.Modules[path]; v != "" && v != stored.Modules[path] {
			out = append(out, fmt.Sprintf("%s %s then, %s now", path, stored.Modules[path], v))
		}
	}
	return strings.Join(out, "; ")
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// Failed reports whether the stored run is a failure: a search has found it, or a mode is worse than the scenario
// expects.
func (f *RunFile) Failed() bool { return len(f.Violations) > 0 || !f.Expected }

// Mended says that a lock that broke its promise in a stored run keeps it in the run that was made again, in one line:
// "now safe: …". It is empty unless that is so: a mode of the stored run did harm, no mode does now, and at least as
// many faults struck as before, so that the lock was tried as hard.
func (f *RunFile) Mended(again *RunFile) string {
	var harmed []string
	for _, mode := range f.FencingModes() {
		was, is := f.Modes[mode], again.Modes[mode]
		if harm(is) || is.FaultsFired < was.FaultsFired {
			return ""
		}
		if harm(was) {
			harmed = append(harmed, fmt.Sprintf("%s in mode %s", was.Verdict, mode))
		}
	}
	if len(harmed) == 0 {
		return ""
	}
	return fmt.Sprintf("now safe: the schedule that broke the promise in the stored run (%s) does not break it any more "+
		"(lock %s, seed %d)",
		strings.Join(harmed, ", "), f.Lock, f.Seed)
}

// harm reports whether a run ended with what a lock is to prevent. That beliefs overlap, and that a fence had to refuse
// what was stale, is not: a client that is paused can always believe too long.
func harm(m ModeFile) bool { return harms(m.Verdict, m.Facts) }

// Harmed reports whether a run ended with what a lock is to prevent, which beliefs that overlap and refusals of what
// was stale are not.
func (m *ModeRun) Harmed() bool { return harms(m.Verdict.Label, &m.Verdict.Facts) }

func harms(label checker.Label, facts *checker.Facts) bool {
	switch label {
	case checker.Safe, checker.Untested, checker.Rescued, checker.NotApplicable:
		return false
	case checker.Overlap:
		return facts == nil || facts.ClaimOverlaps > 0
	}
	return true
}

// WorstMode is the mode of the stored run with the most severe label, the first of several.
func (f *RunFile) WorstMode() fence.Mode {
	modes := f.FencingModes()
	worst := modes[0]
	for _, mode := range modes[1:] {
		if f.Modes[mode].Verdict.Severity() > f.Modes[worst].Verdict.Severity() {
			worst = mode
		}
	}
	return worst
}
