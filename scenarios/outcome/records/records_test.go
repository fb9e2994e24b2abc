package records_test

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/records"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// fileOf is a file of records.
func fileOf(t testing.TB, runs ...*records.Run) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := records.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func of(t testing.TB, name string, o *outcome.Outcome) *records.Run {
	t.Helper()
	r, err := records.Of(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func readBack(t testing.TB, data []byte) []*records.Run {
	t.Helper()
	runs, err := records.Read("x.records.gz", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// judgedEqual fails if the judge says of a record, written and read, anything else than it said of the run.
func judgedEqual(t *testing.T, o *outcome.Outcome, r *records.Run) {
	t.Helper()
	again, err := r.Judged()
	if err != nil {
		t.Errorf("%s, lock %s, seed %d: %v", o.Scenario.Name, o.Lock, o.Seed, err)
		return
	}
	for _, m := range o.Modes {
		if m.Trace == nil {
			continue
		}
		if diff := cmp.Diff(m.Verdict, again[m.Mode].Verdict); diff != "" {
			t.Errorf("%s, lock %s, seed %d, mode %s (-played +judged)\n%s", o.Scenario.Name, o.Lock, o.Seed, m.Mode, diff)
		}
	}
	verdicts, err := r.Judge()
	if err != nil {
		t.Error(err)
	}
	for _, v := range verdicts {
		if !v.Equal() {
			t.Errorf("%s, lock %s, seed %d: %+v", o.Scenario.Name, o.Lock, o.Seed, v)
		}
	}
}

// The judge says of the record of a run, once it has been written and read, all that it said of the run: the label, the
// facts, the reasons and the slack, for the scenarios of the library with all of their locks: make soak has all
// scenarios.
func TestLibraryJudgedAnew(t *testing.T) {
	library, err := redislocks.Library(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, sc := range library {
		if i%12 != 0 && os.Getenv("LOCKSIM_SOAK") != "1" {
			continue
		}
		for _, name := range sc.LockNames() {
			l, err := redislocks.Find(name, nil)
			if errors.Is(err, subject.ErrUnknownLock) { // it is in another package
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			o := testruns.Play(t, sc, l, play.RunOptions{Seed: 1})
			judgedEqual(t, o, readBack(t, fileOf(t, of(t, "", o)))[0])
		}
	}
}

// So it is for drawn schedules, in which faults of all kinds strike.
func TestDrawnJudgedAnew(t *testing.T) {
	for _, name := range []string{"single", "fair", "redlock", "broken/get-then-del"} {
		l := testruns.Kind(t, name)
		runs := outcome.Seeds{First: 1, Last: uint64(testruns.Soak(t, 200, 0.05))}
		plan, err := explore.NewPlan(l, explore.Options{Runs: runs.Len(), FirstSeed: 1, Judge: explorations.JudgeEverything,
			Collect: explorations.CollectAll})
		if err != nil {
			t.Fatal(err)
		}
		l = explore.Judged(l, plan.Judge)
		for trial := range search.Trials(l, search.Drawn(l, plan.Space, runs)) {
			if trial.Err != nil {
				t.Fatal(trial.Err)
			}
			r := of(t, trial.String(), trial.Outcome)
			judgedEqual(t, trial.Outcome, readBack(t, fileOf(t, r))[0])
		}
	}
}

// Every field of a record has a name in JSON that does not follow from its name in Go, which may change.
func TestNamesOfFields(t *testing.T) {
	seen := map[reflect.Type]bool{reflect.TypeFor[outcome.RunFile](): true, reflect.TypeFor[file.Scenario](): true}
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
			look(of.Elem())
		case reflect.Struct:
			if seen[of] {
				return
			}
			seen[of] = true
			for i := range of.NumField() {
				field := of.Field(i)
				if field.IsExported() && !field.Anonymous && field.Tag.Get("json") == "" {
					t.Errorf("%v.%s has no name in JSON", of, field.Name)
				}
				look(field.Type)
			}
		}
	}
	look(reflect.TypeFor[records.Run]())
	for _, of := range []reflect.Type{reflect.TypeFor[checker.Grant](), reflect.TypeFor[trace.KeyChange]()} {
		if !seen[of] {
			t.Errorf("%v was not looked at", of)
		}
	}
}

// A fence rescues the data of a run only if it is corrupted without one: the record has the run in mode none too.
func TestRescuedAlone(t *testing.T) {
	sc, l := testruns.Load(t, "gc-pause")
	o := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.Seal}})
	r := readBack(t, fileOf(t, of(t, "", o)))[0]
	verdicts, err := r.Judge()
	if err != nil || len(verdicts) != 1 || verdicts[0].Stored != "rescued" || !verdicts[0].Equal() {
		t.Errorf("%+v, %v", verdicts, err)
	}
}

// BenchmarkKeep is what storing the record of a run costs, BenchmarkJudge what reading and judging it does.
func BenchmarkKeep(b *testing.B) {
	sc, l := testruns.Load(b, "gc-pause")
	o := testruns.Play(b, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	for b.Loop() {
		fileOf(b, of(b, "seed 1", o))
	}
}

func BenchmarkJudge(b *testing.B) {
	sc, l := testruns.Load(b, "gc-pause")
	data := fileOf(b, of(b, "", testruns.Play(b, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})))
	for b.Loop() {
		if _, err := readBack(b, data)[0].Judge(); err != nil {
			b.Fatal(err)
		}
	}
}
