package records_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/records"
	"locksim/scenarios/play"
)

// textOf is the text of a file of records.
func textOf(t testing.TB, data []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// small is a file of a run with a fault, a queue, and most of what a record can have.
func small(t testing.TB) []byte {
	t.Helper()
	sc := testruns.Parse(t, "name: small\nlock: {ttl: 2s, backoff: 50ms..200ms}\nworld: {clients: 2}\nworkload: "+
		"{rounds: 1, hold: 100ms}\n"+
		"faults: [{when: {client: c0, event: read}, pause: {process: c0, for: 3s}}]\n")
	o := testruns.Play(t, sc, testruns.Kind(t, "fair-fenced"),
		play.RunOptions{Seed: 2, Modes: []fence.Mode{fence.None, fence.Seal}})
	return fileOf(t, of(t, "seed 2", o))
}

// judge reads a text and judges its runs. A text that cannot be judged must be refused with an error about the file, or
// by the checker: it must never end in a panic.
func judge(t testing.TB, text string) error {
	t.Helper()
	runs, err := records.ReadText("x.records.gz", strings.NewReader(text))
	if err != nil {
		input, ok := errors.AsType[*file.InputError](err)
		if !ok || input.Pos.File != "x.records.gz" {
			t.Errorf("%T %v is no error about the file", err, err)
		}
		return err
	}
	for _, r := range runs {
		if _, err := r.Judge(); err != nil {
			if !errors.Is(err, checker.ErrMalformed) {
				t.Errorf("%v is not one about the record", err)
			}
			return err
		}
	}
	return nil
}

// Each way in which a record can be damaged is refused with the place in it.
func TestDamagedRecords(t *testing.T) {
	data := small(t)
	text := textOf(t, data)
	if err := judge(t, text); err != nil {
		t.Fatal(err)
	}
	header, run, _ := strings.Cut(text, "\n")
	edit := func(old, new string) string {
		if !strings.Contains(run, old) {
			t.Errorf("the record has no %s", old)
		}
		return header + "\n" + strings.Replace(run, old, new, 1)
	}
	changed := func(change func(mode map[string]any)) string {
		var r map[string]any
		if err := json.Unmarshal([]byte(run), &r); err != nil {
			t.Fatal(err)
		}
		change(r["modes"].(map[string]any)["none"].(map[string]any)["record"].(map[string]any))
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return header + "\n" + string(b) + "\n"
	}
	grant := func(rec map[string]any) map[string]any {
		for _, c := range rec["clients"].([]any) {
			if grants, ok := c.(map[string]any)["grants"].([]any); ok {
				return grants[0].(map[string]any)
			}
		}
		t.Fatal("no grant")
		return nil
	}
	for want, damaged := range map[string]string{
		"x.records.gz:1:1: these records cannot be judged: it is cut off": header,
		"x.records.gz:2:1: these records cannot be judged: it is cut off": header + "\n" +
			run[:len(run)/2],
		"the first line does not say that it is a file of records": `{"version":1}` +
			"\n",
		"they have version 2, and this locksim reads version 1: take the locksim that has written them": strings.Replace(
			header, "1", "2", 1) + "\n" + run,
		"it is not JSON":              header + "\nhello\n",
		"there is no run in the line": header + "\n{}\n",
		`it has a field "over_there", which this version of locksim does not know: so that a newer`: edit(`"over":`,
			`"over_there":`),
		"the value of modes.record.over has the wrong type, string": edit(`"over":`,
			`"over":"x","over":`),
		"its run: this stored run is invalid": edit(
			`"trace_hash":"`, `"trace_hash":"x`),
		`"sett" is no change of a key: say set, deleted`: edit(
			`"change":"set"`, `"change":"sett"`),
		"its scenario: small.yaml:1:1": edit(
			`"source":"name: small`, `"source":"nome: small`),
		"modes.none: damaged record: over: event 99999, and the run has": changed(
			func(r map[string]any) { r["over"] = 99999 }),
		"modes.none: damaged record: faults: there are 2, and the scenario has 1": changed(
			func(r map[string]any) { r["faults"] = append(r["faults"].([]any), map[string]any{}) }),
		"modes.none: damaged record: faults: there are 0, and the scenario has 1": changed(
			func(r map[string]any) { delete(r, "faults") }),
		"modes.none: damaged record: clients[0].grants[0].released: position 99999, and the run has": changed(
			func(r map[string]any) { grant(r)["released"] = 99999 }),
		"modes.none: damaged record: clients[0].grants[0].lost_seen: position -1, and the run has": changed(
			func(r map[string]any) { grant(r)["lost_seen"] = -1 }),
		"modes.none: damaged record: changes_before: 99999 of": changed(
			func(r map[string]any) { r["changes_before"] = 99999 }),
		"modes.none: damaged record: changes[0].step: step 99999 comes after step 0, and the run has": changed(
			func(r map[string]any) { r["changes"].([]any)[0].(map[string]any)["step"] = 99999 }),
		"modes.none: damaged record: timeline.at[1]: the instant 0s is before the one before it, or befo": changed(
			func(r map[string]any) { at := r["timeline"].(map[string]any)["at"].([]any); at[0], at[1] = 5, 0 }),
		"modes.none: there is no record in it": withoutRecord(t,
			header, run),
	} {
		err := judge(t, damaged)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

func withoutRecord(t *testing.T, header, run string) string {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal([]byte(run), &r); err != nil {
		t.Fatal(err)
	}
	delete(r["modes"].(map[string]any)["none"].(map[string]any), "record")
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return header + "\n" + string(b) + "\n"
}

// A file that is cut off anywhere, or of which a byte has changed, is refused: gzip has a checksum.
func TestDamagedFile(t *testing.T) {
	data := small(t)
	for n := 0; n < len(data); n += max(1, len(data)/200) {
		if _, err := records.Read("x.records.gz", bytes.NewReader(data[:n])); err == nil {
			t.Errorf("the first %d of %d bytes were read", n, len(data))
		}
		if n < 10 { // the header of gzip has bytes that mean nothing
			continue
		}
		wrong := slices.Clone(data)
		wrong[n] ^= 0x55
		if _, err := records.Read("x.records.gz", bytes.NewReader(wrong)); err == nil {
			t.Errorf("byte %d was changed, and nothing noticed", n)
		}
	}
}

// Values of keys that are no text are what they were, and two of them do not become equal.
func TestBytesThatAreNoText(t *testing.T) {
	sc, l := testruns.Load(t, "gc-pause")
	o := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
	rec := o.Modes[0].Record
	want := []string{"\xff\x00\xfe", "\xfe", "ok", "\U0010FEFF", "\U0010FE00\xff", "\ufffd"}
	for i, value := range want {
		rec.Changes[i].Value = value
	}
	rec.Keys["order"][0] = "\xc3key"
	back := readBack(t, fileOf(t, of(t, "", o)))[0].Modes[fence.None].Record
	for i, value := range want {
		if rec.Changes[i].Value != value || back.Changes[i].Value != value {
			t.Errorf("%q was written, %q is there, and %q was read", value, rec.Changes[i].Value, back.Changes[i].Value)
		}
	}
	if back.Keys["order"][0] != "\xc3key" {
		t.Errorf("the key is %q", back.Keys["order"][0])
	}
}

// mutate changes a few values of a document: numbers and words become others, entries disappear, come twice or change
// places.
func mutate(rng *rand.Rand, v any, left *int, chance float64) any {
	if *left > 0 && rng.Float64() < chance {
		*left--
		switch was := v.(type) {
		case float64:
			return []any{-1.0, 0.0, 1.0, was + 1, was - 1, was * 2, 1e6, 9e18, -9e18, 1.0 + float64(rng.IntN(400))}[rng.IntN(10)]
		case bool:
			return !was
		case string:
			return []any{"", "c0", "c1", "r0", "s0", "order", was + "x", "ok", "unknown", "write"}[rng.IntN(10)]
		case []any:
			if len(was) > 0 {
				i, j := rng.IntN(len(was)), rng.IntN(len(was))
				switch rng.IntN(4) {
				case 0:
					return slices.Delete(slices.Clone(was), i, i+1)
				case 1:
					return append(slices.Clone(was), was[i])
				case 2:
					was[i], was[j] = was[j], was[i]
					return was
				case 3:
					return was[:i]
				}
			}
			return nil
		case map[string]any:
			if len(was) > 0 && rng.IntN(4) > 0 {
				delete(was, slices.Sorted(maps.Keys(was))[rng.IntN(len(was))])
				return was
			}
		}
	}
	switch in := v.(type) {
	case []any:
		for _, i := range rng.Perm(len(in)) {
			in[i] = mutate(rng, in[i], left, chance)
		}
	case map[string]any:
		keys := slices.Sorted(maps.Keys(in))
		for _, i := range rng.Perm(len(keys)) {
			in[keys[i]] = mutate(rng, in[keys[i]], left, chance)
		}
	}
	return v
}

// mutated is the text of records with some values changed, in the records of the modes alone or, with whole, anywhere.
func mutated(t testing.TB, text string, seed uint64, whole bool) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	header, run, _ := strings.Cut(text, "\n")
	var r map[string]any
	if err := json.Unmarshal([]byte(run), &r); err != nil {
		t.Fatal(err)
	}
	left := 1 + rng.IntN(3)
	if whole {
		mutate(rng, r, &left, 0.01)
	} else {
		modes := r["modes"].(map[string]any)
		for _, mode := range slices.Sorted(maps.Keys(modes)) {
			mutate(rng, modes[mode], &left, 0.01)
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return header + "\n" + string(b) + "\n"
}

// Whatever is changed in a record, it is judged or refused.
func TestMutatedRecords(t *testing.T) {
	text := textOf(t, small(t))
	refused, n := 0, testruns.Soak(t, 20_000, 0.01)
	for seed := range uint64(n) {
		func() {
			damaged := mutated(t, text, seed, seed%4 == 0)
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("seed %d: %v", seed, p)
					panic(p)
				}
			}()
			if judge(t, damaged) != nil {
				refused++
			}
		}()
	}
	if refused < n/4 || refused == n {
		t.Errorf("%d of %d were refused", refused, n)
	}
	t.Logf("%d of %d were refused", refused, n)
}

// FuzzRecords reads any text as records, and text with changed values: it is judged or refused.
func FuzzRecords(f *testing.F) {
	text := textOf(f, small(f))
	header, run, _ := strings.Cut(text, "\n")
	f.Add(text, uint64(0))
	f.Add(text, uint64(7))
	f.Add(header+"\n", uint64(0))
	f.Add(header+"\n"+run[:len(run)/2], uint64(0))
	f.Add(header+"\n{}\n", uint64(0))
	f.Add(strings.Replace(text, `"version":1`, `"version":2`, 1), uint64(0))
	f.Fuzz(func(t *testing.T, in string, seed uint64) {
		_ = judge(t, in)
		_ = judge(t, mutated(t, text, seed, seed%2 == 0))
		_, _ = records.Read("x.records.gz", strings.NewReader(in))
	})
}
