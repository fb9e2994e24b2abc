package play_test

import (
	"reflect"
	"testing"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
)

// A run that is taken for that of another mode has its trace, its verdict and its story.
func TestSharedRuns(t *testing.T) {
	shared := 0
	for _, name := range []string{
		"gc-pause", "stale-write-first", "split-brain", "late-packet", "lost-reply", "shared-owner", "torn-by-crash",
		"crowded-queue",
	} {
		sc, err := file.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := redislocks.Find(sc.Lock.Kind, nil)
		if err != nil {
			t.Fatal(err)
		}
		opts := play.RunOptions{Seed: 1, Modes: fence.Modes()}
		apart, err := play.Run(sc, l, opts)
		if err != nil {
			t.Fatal(err)
		}
		opts.Shared = true
		together, err := play.Run(sc, l, opts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range apart.Modes {
			a, b := &apart.Modes[i], &together.Modes[i]
			equal := a.Mode == b.Mode && a.TraceHash == b.TraceHash && a.Corroboration == b.Corroboration &&
				reflect.DeepEqual(a.Verdict, b.Verdict) && reflect.DeepEqual(a.Story, b.Story) &&
				reflect.DeepEqual(a.History, b.History)
			if !equal {
				t.Errorf("%s in mode %s: %s without sharing, %s with it", name, a.Mode, a.Verdict.Label, b.Verdict.Label)
			}
			if b.Trace != nil && b.Wall == 0 {
				shared++
			}
		}
	}
	if shared < 8 {
		t.Errorf("%d runs were shared", shared)
	}
	t.Logf("%d runs were shared", shared)
}
