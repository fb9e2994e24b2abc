package play_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

var updateDigests = flag.Bool("update-digests", false, "rewrite testdata/digests: only for a change that is meant to "+
	"change runs")

// digestSeeds is the number of seeds whose runs testdata/digests has.
const digestSeeds = 5

// TestDigests compares every run of the library with its stored digest: its label,
// its facts, and instant, actor, kind and peer of each of its events. The files
// were first written at commit 03736fc, before the kernel was split up, and have on
// each line the lock, the seed, the modes whose runs were equal, the label, the
// facts that say something, the number of events and their digest.
//
// With LOCKSIM_SOAK=1 each scenario is played with all seeds, without it every tenth one with one seed.
func TestDigests(t *testing.T) {
	if testing.Short() {
		t.Skip("plays the whole library with every lock")
	}
	all, err := redislocks.Library(nil)
	if err != nil {
		t.Fatal(err)
	}
	full := os.Getenv("LOCKSIM_SOAK") == "1"
	for i, sc := range all {
		if !full && i%10 != 7 && !*updateDigests {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			path := filepath.Join("testdata", "digests", sc.Name+".txt")
			if *updateDigests {
				write(t, path, digestsOf(t, sc, 1, 2, 3, 4, 5))
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v (a new scenario: go test ./scenarios/play -run TestDigests/^%s$ -update-digests)", err, sc.Name)
			}
			lines := strings.SplitAfter(strings.TrimSpace(string(want))+"\n", "\n")
			seeds := []uint64{uint64(i/10%digestSeeds) + 1}
			if full {
				seeds = []uint64{1, 2, 3, 4, 5}
			}
			lines = slices.DeleteFunc(lines, func(line string) bool {
				f := strings.Fields(line)
				return len(f) < 2 || !slices.ContainsFunc(seeds, func(s uint64) bool { return f[1] == fmt.Sprint(s) })
			})
			if d := gocmp.Diff(strings.Join(lines, ""), digestsOf(t, sc, seeds...)); d != "" {
				t.Errorf("runs have changed (-stored +now):\n%s", d)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// digestsOf plays a scenario with every kind of lock, and with the specimens that it names; one of a large crowd, which
// takes long, with those alone that it names. The locks of other packages have digests of their own.
func digestsOf(t *testing.T, sc *file.Scenario, seeds ...uint64) string {
	t.Helper()
	all := kinds.Names()
	if sc.World.Clients > spaces.LargeCrowd {
		all = nil
	}
	for _, name := range sc.LockNames() {
		if _, elsewhere := kinds.Package(name); !elsewhere && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	var out strings.Builder
	for _, kind := range all {
		l, err := redislocks.Kind(kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, seed := range seeds {
			out.WriteString(digestsOfLock(t, sc, l, seed))
		}
	}
	return out.String()
}

func digestsOfLock(t *testing.T, sc *file.Scenario, l subject.Lock, seed uint64) string {
	t.Helper()
	o, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: fence.Modes()})
	if _, unfit := errors.AsType[*file.InputError](err); unfit {
		return fmt.Sprintf("%s %d does not fit\n", l.Name, seed)
	}
	if err != nil {
		return fmt.Sprintf("%s %d %q\n", l.Name, seed, strings.SplitN(err.Error(), "\n", 2)[0])
	}
	var order []string
	modes := map[string][]string{}
	for i := range o.Modes {
		m := &o.Modes[i]
		if m.Verdict.Label == checker.NotApplicable {
			continue
		}
		text := fmt.Sprintf("%s %s %d %s", m.Verdict.Label, factsInALine(t, m.Verdict.Facts), m.Trace.Len(),
			digestOf(m.Trace))
		if !slices.Contains(order, text) {
			order = append(order, text)
		}
		modes[text] = append(modes[text], string(m.Mode))
	}
	var out strings.Builder
	for _, text := range order {
		fmt.Fprintf(&out, "%s %d %s %s\n", l.Name, seed, strings.Join(modes[text], ","), text)
	}
	return out.String()
}

// factsInALine are the facts, in the order of the struct, without those that say nothing: a new fact changes only the
// lines of the runs in which it was found.
func factsInALine(t *testing.T, f checker.Facts) string {
	t.Helper()
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	var values []string
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		if _, ok := token.(json.Delim); ok {
			continue
		}
		if token == "calls" { // how calls ended, which nearly every run would repeat
			var calls checker.Calls
			if err := dec.Decode(&calls); err != nil {
				t.Fatal(err)
			}
			continue
		}
		value, err := dec.Token() // after the name
		if err != nil {
			t.Fatal(err)
		}
		switch value {
		case 0.0, string(checker.LivenessOK), string(checker.DataRight):
		default:
			values = append(values, fmt.Sprintf("%v=%v", token, value))
		}
	}
	return cmp.Or(strings.Join(values, ","), "-")
}

// digestOf is the beginning of the SHA-256 of instant, actor, kind and peer of each event.
func digestOf(tr *trace.Trace) string {
	h := sha256.New()
	for _, e := range tr.Events {
		_ = binary.Write(h, binary.BigEndian, int64(e.At))
		_, _ = fmt.Fprintf(h, "%s\x00%s\x00%s\x00", e.Actor, e.Kind(), e.Peer)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
