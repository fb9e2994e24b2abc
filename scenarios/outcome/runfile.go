package outcome

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/linked"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/causes"
)

// RunVersion is the version of stored runs that this package reads and writes.
const RunVersion = 1

// RunFile is a run as it is stored, and as the command prints it as JSON: one
// scenario, with one lock and one seed, under each fencing mode that was asked for.
// The run can be repeated from it. Everything except the timing is the same on
// every machine.
type RunFile struct {
	// Version is the version of this format.
	Version int `json:"version"`
	// Scenario is the name of the scenario.
	Scenario string `json:"scenario"`
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Test is the name of the test that found the run. It is absent if a command made
	// the file.
	Test string `json:"test,omitempty"`
	// Seed is the number that decides everything random of the run.
	Seed uint64 `json:"seed"`
	// Live says how the run was made on real servers. It is absent for a run in the simulated world, which alone can be
	// repeated.
	Live *LiveFile `json:"live,omitempty"`
	// Death says how the program ends in the run: a goroutine that the lock has started panics, which nothing can catch.
	// It is absent for all other runs. The run is stored up to there, and is repeated up to there.
	Death *Death `json:"death,omitempty"`
	// Expected says whether no mode was worse than the scenario expects and, of live runs, none differs from the simulated
	// world without an explanation.
	Expected bool `json:"as_expected"`
	// Violations are the ways in which the lock broke its promise, if a search has found the run. They are absent from
	// other runs, which are judged by what their scenario expects.
	Violations []Violation `json:"violations,omitempty"`
	// Modes are the runs by fencing mode.
	Modes map[fence.Mode]ModeFile `json:"modes" jsonschema:"minProperties=1"`
	// Cause says when the violation of the run became inevitable. It is absent if that was not asked, or the run has none.
	Cause *causes.Curve `json:"cause,omitempty"`
	// File is the name of the scenario's file.
	File string `json:"file" jsonschema:"minLength=0"`
	// Source is the scenario's text, from which the run can be repeated.
	Source string `json:"source" jsonschema:"minLength=0"`
	Timing Timing `json:"timing"`
}

// LiveFile is how a run was made on real servers.
type LiveFile struct {
	// Scale is by what the durations of the scenario's text were multiplied.
	Scale float64 `json:"scale"`
	// Differences are the modes in which live runs had a label that no simulated run has. They are about all live runs
	// that were made together, of which this is the worst.
	Differences []Difference `json:"differences,omitempty"`
	// Uncompared says why the labels were not compared with those of simulated runs. It is absent if they were.
	Uncompared string `json:"uncompared,omitempty"`
}

// ModeFile is the run of one fencing mode as it is stored. A mode that was not run,
// since the lock mints no tokens, has the verdict n/a and no facts.
type ModeFile struct {
	Verdict checker.Label `json:"verdict"`
	// Expected is the worst label that the scenario expects. It is absent if the
	// scenario expects none.
	Expected checker.Label `json:"expected,omitempty"`
	*checker.Facts
	// Faults counts the faults of the schedule.
	Faults int `json:"faults"`
	// FaultsFired counts the faults of the schedule that struck.
	FaultsFired int `json:"faults_fired"`
	// NotPlayed says, for each fault that real servers cannot play, why.
	NotPlayed []string `json:"faults_not_played,omitempty"`
	// LateSeconds is the longest time by which the machine of a live run was late.
	LateSeconds float64 `json:"late_seconds,omitempty"`
	// LongestWait is the longest time from an Acquire to its grant, in virtual
	// time.
	LongestWait float64 `json:"longest_wait_seconds"`
	// Pause is "partial" if the lock acted during a pause, and "whole" otherwise.
	// The absence of violations under a partial pause is no evidence.
	Pause string `json:"pause,omitempty" jsonschema:"enum=whole,enum=partial"`
	// Corroboration is the result of porcupine's independent check.
	Corroboration checker.Agreement `json:"corroboration,omitempty"`
	// Reasons are sentences that give the reasons of the verdict, the decisive ones
	// first.
	Reasons []string `json:"reasons,omitempty"`
	// Slack is how near the run came to what must not happen: the least of each kind that it has.
	Slack []checker.Slack `json:"slack,omitempty"`
	// TraceHash is the SHA-256 of all details of all events of the trace. Equal
	// hashes mean equal runs.
	TraceHash string `json:"trace_hash,omitempty" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Events counts the events of the trace: the number of the last step.
	Events int `json:"events"`
	// VirtualSeconds is the length of the run in virtual time.
	VirtualSeconds float64 `json:"virtual_seconds"`
}

// Timing has the values that differ from run to run and from machine to machine.
type Timing struct {
	// WallSeconds is the time of each mode on the wall clock.
	WallSeconds map[fence.Mode]float64 `json:"wall_seconds"`
	// Go is the version of Go for which the hashes are valid.
	Go string `json:"go"`
	// Modules are the versions of the modules that a trace depends on, by module
	// path. They are absent if the program has no build information.
	Modules map[string]string `json:"modules,omitempty"`
	// Asked are the versions of client libraries that the module of the lock asks for, where the program has others, by
	// module path.
	Asked map[string]string `json:"asked,omitempty"`
}

// NewRunFile makes the stored form of an outcome.
func NewRunFile(o *Outcome) *RunFile {
	f := &RunFile{Version: RunVersion, Scenario: o.Scenario.Name, Lock: o.Lock, Seed: o.Seed,
		Expected: len(o.Mismatches()) == 0, Modes: map[fence.Mode]ModeFile{},
		File: o.Scenario.File, Source: string(o.Scenario.Source),
		Timing: Timing{WallSeconds: map[fence.Mode]float64{}, Go: runtime.Version(), Modules: Modules(),
			Asked: askedOfClients()}}
	if o.Live != nil {
		f.Live = (*LiveFile)(o.Live)
	}
	f.Death, f.Cause = o.Death, o.Cause
	for _, m := range o.Modes {
		mf := newModeFile(m)
		mf.Expected, _ = o.Expected(m.Mode)
		f.Modes[m.Mode] = mf
		f.Timing.WallSeconds[m.Mode] = m.Wall.Seconds()
	}
	return f
}

func newModeFile(m ModeRun) ModeFile {
	f := ModeFile{Verdict: m.Verdict.Label}
	if m.Trace == nil {
		return f
	}
	f.Facts = &m.Verdict.Facts
	f.Faults, f.Pause = len(m.FaultsFired), "whole"
	for _, fired := range m.FaultsFired {
		if fired {
			f.FaultsFired++
		}
	}
	if m.PartialPause {
		f.Pause = "partial"
	}
	for _, why := range m.NotPlayed {
		if why != "" {
			f.NotPlayed = append(f.NotPlayed, why)
		}
	}
	f.LateSeconds = m.Late.Seconds()
	f.Corroboration = m.Corroboration.Agreement
	for _, r := range m.Verdict.Reasons {
		f.Reasons = append(f.Reasons, r.Text)
	}
	f.Slack = slices.DeleteFunc(slices.Clone(m.Verdict.Slack), func(s checker.Slack) bool {
		return s.Kind == checker.SlackWait // its bound is learnt from another run in a search than in a replay
	})
	f.LongestWait, f.VirtualSeconds = m.LongestWait.Seconds(), m.Virtual.Seconds()
	f.TraceHash, f.Events = m.TraceHash, m.Events
	return f
}

// Modules are the versions of the modules that a trace depends on, and of the client libraries that the module of the
// lock asks for.
func Modules() map[string]string {
	paths := []string{"github.com/redis/go-redis/v9", "github.com/alicebob/miniredis/v2",
		"github.com/Shopify/toxiproxy/v2", "github.com/yuin/gopher-lua"}
	for _, c := range linked.Clients() {
		paths = append(paths, c.Module)
	}
	return linked.Modules(paths...)
}

func askedOfClients() map[string]string {
	var out map[string]string
	for _, c := range linked.Clients() {
		if c.Differs() {
			if out == nil {
				out = map[string]string{}
			}
			out[c.Module] = c.Asked
		}
	}
	return out
}

// JSON is the file's text: one indented document.
func (f *RunFile) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write run of %s as JSON: %w", f.Scenario, err)
	}
	return append(b, '\n'), nil
}

// ReadRunFile reads a stored run. Every fault in it is an *InputError: text that is
// not JSON or was cut off, unknown fields, another version, an invalid hash.
func ReadRunFile(name string, data []byte) (*RunFile, error) {
	var v struct{ Version *int }
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, jsonError(name, data, err)
	}
	if v.Version == nil || *v.Version != RunVersion {
		return nil, &file.InputError{Pos: faults.Pos{File: name}, Msg: fmt.Sprintf("this is not a stored run of version "+
			"%d: %s; make it again with this version of locksim", RunVersion, versionFound(v.Version))}
	}
	f := new(RunFile)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(f); err != nil {
		return nil, jsonError(name, data, err)
	}
	if problem := f.problem(); problem != "" {
		return nil, &file.InputError{Pos: faults.Pos{File: name}, Msg: "this stored run is invalid: " + problem +
			"; make it again with locksim run --out"}
	}
	return f, nil
}

func versionFound(v *int) string {
	if v == nil {
		return "it has no version"
	}
	return fmt.Sprintf("it has version %d", *v)
}

// jsonError makes an error of the JSON decoder one with a position in the file.
func jsonError(name string, data []byte, err error) *file.InputError {
	offset := int64(len(data))
	msg := "this is not a stored run: " + err.Error()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = kind.Offset
		msg = fmt.Sprintf("this is not a stored run: the value of %s has the wrong type, %s", kind.Field, kind.Value)
		if kind.Field == "" {
			msg = "this is not a stored run, which is one JSON object: the file has a JSON " + kind.Value
		}
	}
	var whole json.RawMessage // a decoder of a stream knows an end that comes too early, also within a number
	if cut := json.NewDecoder(bytes.NewReader(data)).Decode(&whole); errors.Is(cut, io.ErrUnexpectedEOF) ||
		errors.Is(cut, io.EOF) {
		msg = "this stored run is cut off: the text is incomplete"
	}
	return file.NewInputError(data, position(name, data, offset), "%s", msg)
}

func position(name string, data []byte, offset int64) faults.Pos {
	before := data[:min(max(offset-1, 0), int64(len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	return faults.Pos{File: name, Line: line, Column: len(before) - bytes.LastIndexByte(before, '\n')}
}

var hashForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// problem describes what is wrong with a well-formed file.
func (f *RunFile) problem() string {
	if f.Lock == "" {
		return "it names no lock"
	}
	if len(f.Modes) == 0 {
		return "it has no modes"
	}
	for _, mode := range f.FencingModes() {
		m := f.Modes[mode]
		if _, err := fence.ParseMode(string(mode)); err != nil {
			return err.Error()
		}
		if _, err := checker.ParseLabel(string(m.Verdict)); err != nil {
			return fmt.Sprintf("mode %s: %v", mode, err)
		}
		if m.Verdict != checker.NotApplicable && (m.Facts == nil || !hashForm.MatchString(m.TraceHash)) {
			return fmt.Sprintf("mode %s has no facts, or its trace_hash is not 64 hexadecimal digits", mode)
		}
	}
	return ""
}

// FencingModes are the modes of the file in the order of fence.Modes, unknown ones last.
func (f *RunFile) FencingModes() []fence.Mode {
	var out []fence.Mode
	for _, m := range fence.Modes() {
		if _, ok := f.Modes[m]; ok {
			out = append(out, m)
		}
	}
	for m := range f.Modes {
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}
