package play_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/internal/testruns"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/replay"
)

// FuzzReadRunFile checks what ReadRunFile promises for any bytes: a clear error
// with the file's name, or a run that stays the same when it is written and read,
// and that can be set up and replayed or is refused with a reason.
func FuzzReadRunFile(f *testing.F) {
	_, calm := stored(f, "calm")
	_, pause := stored(f, "gc-pause")
	for _, b := range [][]byte{calm, pause, calm[:len(calm)/2], nil, []byte("{}"), []byte(`{"version":1}`), []byte("null"),
		[]byte("[]"),
		[]byte(`{"version":1,"modes":{"none":{}}}`), []byte(`{"version":1e9}`),
	} {
		f.Add(b)
	}
	for _, edit := range [][2]string{
		{`"seed": 4`, `"seed": 1e400`}, {`"seed": 4`, `"seed": -1`}, {`"none"`, `"nine"`}, {`"safe"`, `"fine"`},
		{`"lock": "fenced"`, `"lock": "broken/nobody"`}, {`name: calm`, `name: storm`},
		{`"trace_hash": "`, `"trace_hash": "x`},
		{`rounds: `, `rounds: 99999999`}, {`"file": "`, `"file": "\u0000`}, {`"modes": {`, `"modes": {"none": null, `},
	} {
		f.Add(bytes.ReplaceAll(calm, []byte(edit[0]), []byte(edit[1])))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := outcome.ReadRunFile("fuzz.json", data)
		if err != nil {
			wantInputError(t, err, "fuzz.json")
			return
		}
		sameWhenWritten(t, run)
		sc, _, err := replay.Setup(run, nil)
		if err != nil {
			wantInputError(t, err, run.File)
			return
		}
		if short(sc) {
			_, err = replay.Run(run, nil, outcome.Once)
			if _, differs := errors.AsType[*outcome.ReplayError](err); !differs {
				testruns.RefusedOrPlayed(t, sc, err)
			}
		}
	})
}

// wantInputError checks that an error is one line about a file.
func wantInputError(t *testing.T, err error, name string) {
	t.Helper()
	input, ok := errors.AsType[*file.InputError](err)
	if !ok || input.Pos.File != name || input.Msg == "" || strings.ContainsAny(input.Msg, "\n\x00") {
		t.Fatalf("want an InputError with one line about %q, got %v", name, err)
	}
}

func sameWhenWritten(t *testing.T, run *outcome.RunFile) {
	t.Helper()
	first, err := run.JSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := outcome.ReadRunFile("again.json", first)
	if err != nil {
		t.Fatalf("%v\n%s", err, first)
	}
	second, err := again.JSON()
	if err != nil || !bytes.Equal(first, second) {
		t.Fatalf("written and read back (%v):\n%s\nthen\n%s", err, first, second)
	}
}

// short reports whether any run of a scenario is over quickly.
func short(sc *file.Scenario) bool {
	w := sc.Workload
	work := time.Duration(sc.World.Clients*w.Rounds) * (w.Hold + w.Think + sc.Lock.TTL)
	return work < time.Hour && sc.Lock.Backoff.Min >= time.Millisecond && len(sc.Faults) < 5 && !longFaults(sc.Faults)
}

func longFaults(list []faults.Fault) bool {
	for _, f := range list {
		if f.At > time.Hour || f.After > time.Hour || f.Action.Kind() != "pause" && f.Action.Kind() != "partition" {
			return true
		}
	}
	return false
}
