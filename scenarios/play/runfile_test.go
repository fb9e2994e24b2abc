package play_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"locksim/internal/testruns"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/replay"
	"locksim/sim/trace"
)

func stored(t testing.TB, name string) (*outcome.RunFile, []byte) {
	t.Helper()
	sc, l := testruns.Load(t, name)
	f := outcome.NewRunFile(testruns.Play(t, sc, l, play.RunOptions{Seed: 4}))
	b, err := f.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return f, b
}

// A stored run is read back unchanged, and its replay has the same figures.
func TestRunFileRoundTrip(t *testing.T) {
	_, b := stored(t, "gc-pause")
	f, err := outcome.ReadRunFile("run.json", b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, again) {
		t.Error("reading and writing changed the file")
	}
	if _, err := replay.Run(f, nil, outcome.Twice); err != nil {
		t.Errorf("replay: %v", err)
	}
}

// A file that is no stored run is refused with its name and the reason.
func TestRunFileRefusesNonsense(t *testing.T) {
	_, good := stored(t, "calm")
	edit := func(old, new string) []byte {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("the file has no %s", old)
		}
		return bytes.Replace(good, []byte(old), []byte(new), 1)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":         {nil, "cut off"},
		"truncated":     {good[:len(good)/2], "cut off"},
		"in a number":   {[]byte(`{"version": 1, "virtual_seconds": 6.`), "cut off"},
		"not JSON":      {[]byte("hello"), "not a stored run"},
		"other version": {edit(`"version": 1`, `"version": 2`), "it has version 2"},
		"no version":    {[]byte("{}"), "it has no version"},
		"unknown field": {edit(`"seed"`, `"sead"`), "sead"},
		"wrong type":    {edit(`"seed": 4`, `"seed": "four"`), "seed"},
		"bad hash":      {edit(`"trace_hash": "`, `"trace_hash": "x`), "64 hexadecimal digits"},
		"bad label":     {edit(`"verdict": "safe"`, `"verdict": "fine"`), "fine"},
		"bad mode":      {edit(`"seal": {`, `"steal": {`), "steal"},
		"no modes":      {[]byte(`{"version":1,"lock":"fenced"}`), "no modes"},
	} {
		_, err := outcome.ReadRunFile("run.json", c.data)
		if _, ok := errors.AsType[*file.InputError](err); !ok {
			t.Errorf("%s: got %v, want an InputError", name, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), "run.json") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q lacks the file or %q", name, err, c.want)
		}
	}
}

// A file whose figures were edited is well-formed; its replay names each
// figure that differs.
func TestReplayNoticesEdits(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"hash":     {`"trace_hash": "`, "", "trace_hash"},
		"verdict":  {`"verdict": "corrupted"`, `"verdict": "safe"`, "verdict"},
		"fact":     {`"lost_updates": 1`, `"lost_updates": 0`, "lost_updates"},
		"seed":     {`"seed": 4`, `"seed": 5`, "trace_hash"},
		"scenario": {`"scenario": "gc-pause"`, `"scenario": "calm"`, "scenario"},
		"source":   {`for: 15s`, `for: 16s`, "trace_hash"},
	} {
		_, good := stored(t, "gc-pause")
		edited := bytes.Replace(good, []byte(c.old), []byte(c.new), 1)
		if name == "hash" {
			i := bytes.Index(good, []byte(c.old)) + len(c.old)
			edited = bytes.Clone(good)
			edited[i] = "0123456789abcdef0"[bytes.IndexByte([]byte("0123456789abcdef"), edited[i])+1]
		}
		if bytes.Equal(edited, good) {
			t.Fatalf("%s: nothing was edited", name)
		}
		f, err := outcome.ReadRunFile("run.json", edited)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = replay.Run(f, nil, outcome.Once)
		if _, ok := errors.AsType[*outcome.ReplayError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a ReplayError that names %s", name, err, c.want)
		}
	}
}

// Inspect shows the world at a step: in gc-pause, after the successor's grant and
// before the end of the pause, c0 still believes and c1 holds.
func TestInspect(t *testing.T) {
	sc, l := testruns.Load(t, "gc-pause")
	step := 0
	for _, e := range testruns.Play(t, sc, l, play.RunOptions{Seed: 1}).Modes[0].Trace.Events {
		if m, ok := e.What.(trace.Mark); ok && m.Step == trace.Granted && e.Actor == "c1" {
			step = e.N
			break
		}
	}
	s, err := play.Inspect(sc, l, 1, "none", step+2)
	if err != nil {
		t.Fatal(err)
	}
	c0, c1 := s.Clients[0], s.Clients[1]
	if !c0.Believes || c0.Holds || c0.Condition != "paused" || !c1.Holds || !c1.Believes {
		t.Errorf("at step %d (%s): c0 %+v, c1 %+v", s.Step, s.Event, c0, c1)
	}
	if len(s.Nodes) != 1 || len(s.Nodes[0].Keys) != 2 {
		t.Errorf("nodes: %+v, want the lock and its counter on r0", s.Nodes)
	}
	if s.Step < step || s.Over {
		t.Errorf("stopped at step %d, over %v, want about %d", s.Step, s.Over, step)
	}
	if s, err = play.Inspect(sc, l, 1, "none", 1_000_000); err != nil || !s.Over {
		t.Errorf("beyond the end: %+v, %v", s, err)
	}
	if _, err := play.Inspect(sc, l, 1, "none", 0); err == nil {
		t.Error("step 0: no error")
	}
}
