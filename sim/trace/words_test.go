package trace_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"locksim/sim/trace"
)

// told are events of all types with their text, their story and their words on
// the lane of c0, all of them at some time after the start of the run.
var told = []struct {
	what              trace.What
	text, story, lane string
}{
	{trace.Connect{},
		"", "", ""},
	{trace.Refused{},
		"", "", ""},
	{trace.Send{Conn: "#1", Content: trace.Text("GET k")},
		"#1 GET k", "", ""},
	{trace.Receive{Conn: "#1", Bytes: 5},
		"#1 5 bytes", "", ""},
	{trace.Close{Conn: "#1"},
		"#1", "", ""},
	{trace.EOF{Conn: "#1"},
		"#1", "", ""},
	{trace.Reset{Conn: "#1", Client: "c0", Server: "r0"},
		"#1", "RESET #1", "connection reset #1"},
	{trace.Await{Connections: 2},
		"a connection: all 2 of its pool are in use", "waits for a connection: all 2 of its pool are in use", ""},
	{trace.Exec{Conn: "#1", Request: trace.Text("GET k"), Answer: trace.Text("v")},
		"GET k -> v", "", ""},
	{trace.Exec{Conn: "#1", Request: trace.Text("BLPOP k")},
		"BLPOP k -> (waits)", "", ""},
	{trace.Expire{Key: "k"},
		"k", "", "lets k expire"},
	{trace.Apply{Effects: trace.Text("k=v")},
		"k=v", "", "receives from its primary: k=v"},
	{trace.Resync{Keys: 3},
		"3 keys", "", ""},
	{trace.Reveal{Key: "k"},
		"k", "", ""},
	{trace.Snapshot{Keys: 3},
		"3 keys", "", ""},
	{trace.Elected{Term: 2},
		"leader of term 2", "", ""},
	{trace.StepDown{Term: 2},
		"leader no more, in term 2", "", ""},
	{trace.Sentinel{Event: "+switch-master", About: "r0a in place of r0"},
		"+switch-master r0a in place of r0", "TELLS CLIENTS of the new primary: r0a in place of r0",
		"TELLS CLIENTS of the new primary: r0a in place of r0"},
	{trace.Sentinel{Event: "+sdown", About: "r0"},
		"+sdown r0", "", "hears nothing of r0"},
	{trace.Sentinel{Event: "+slave-reconf-sent", About: "r0b"},
		"+slave-reconf-sent r0b", "", ""},
	{trace.FailoverOrder{Answer: "OK"},
		"OK", "IS ORDERED TO REPLACE THE PRIMARY: OK", "is ordered to replace the primary"},
	{trace.ReplicaOf{Was: "r0", Has: 2, Of: 3},
		"primary, with 2 of the 3 effects of r0", "BECOMES THE PRIMARY, with 2 of the 3 effects of r0",
		"becomes the primary"},
	{trace.ReplicaOf{Primary: "r0a"},
		"replica of r0a, and no primary", "IS MADE A REPLICA: it is the primary no more, and copies the keys of r0a",
		"is the primary no more, and copies the keys of r0a"},
	{trace.ReplicaOf{Primary: "r0a", Was: "r0"},
		"replica of r0a", "", "follows r0a"},
	{trace.Cluster{Event: "elected", About: "rc0 in epoch 7, with 2 votes of 3"},
		"WAS ELECTED, to replace rc0 in epoch 7, with 2 votes of 3",
		"WAS ELECTED, to replace rc0 in epoch 7, with 2 votes of 3",
		"WAS ELECTED, to replace rc0 in epoch 7, with 2 votes of 3"},
	{trace.Cluster{Event: "fail?", About: "rc0"},
		"hears nothing of rc0", "", "hears nothing of rc0"},
	{trace.Cluster{Event: "migrating", About: "16025, rc0"},
		"begins to give the slot 16025 to rc0", "begins to give the slot 16025 to rc0",
		"begins to give the slot 16025 to rc0"},
	{trace.Cluster{Event: "fail", About: "rc0"},
		"takes rc0 for failed, as a majority of the primaries does",
		"takes rc0 for failed, as a majority of the primaries does",
		"takes rc0 for failed, as a majority of the primaries does"},
	{trace.ClusterOrder{Order: "TAKE OVER", Answer: "OK"},
		"TAKE OVER: OK", "IS ORDERED TO TAKE OVER: OK", "is ordered to take over"},
	{trace.Decision{Conn: "#1", Resource: "or der", Register: "x", Op: "c0.r1", Grant: "c0.g1", Value: "c1.w1"},
		"READ \"or der\" x c0.r1 0 c0.g1 - -> OK c1.w1", "", "answers the read c0.r1"},
	{trace.Decision{Conn: "#1", Write: true, Resource: "order", Register: "x", Op: "c0.w1", Token: 3, Base: "c1.w1"},
		"WRITE order x c0.w1 3 - c1.w1 -> OK", "takes write c0.w1 (token 3)", "takes the write c0.w1"},
	{trace.Decision{Conn: "#1", Write: true, Resource: "order",
		Register: "x", Op: "c0.w1", Token: 3, Refused: "token 4 was here"},
		"WRITE order x c0.w1 3 - - -> REFUSED token 4 was here",
		"REFUSES write c0.w1 (token 3)",
		"refuses the write c0.w1"},
	{trace.Pause{For: 2 * time.Second},
		"2s", "PAUSED for 2s", "paused 2s"},
	{trace.Resume{},
		"", "RESUMES", ""},
	{trace.Suspend{For: 2 * time.Second},
		"2s", "MACHINE SLEEPS, its monotonic clock with it, for 2s", "machine sleeps 2s"},
	{trace.Wake{},
		"", "MACHINE WAKES: its monotonic clock has not counted that time", ""},
	{trace.Terminate{Grace: 2 * time.Second},
		"2s", "IS ASKED TO END (SIGTERM) within 2s", "asked to end within 2s"},
	{trace.Crash{Mode: "power"},
		"power", "CRASHES: power", "down power"},
	{trace.Crash{Mode: trace.Exit},
		"by itself, as it was asked to", "ENDS by itself, as it was asked to", "ended by itself"},
	{trace.Crash{Mode: trace.Kill},
		"its grace is over", "IS KILLED: its grace is over", "killed"},
	{trace.Crash{Mode: "process", Panic: "nil map"},
		"panic: nil map", "PANICS: nil map", "down process"},
	{trace.Restart{Kept: "3 keys kept"},
		"3 keys kept", "COMES BACK 3 keys kept", ""},
	{trace.Restart{},
		"", "COMES BACK", ""},
	{trace.KillWorker{},
		"", "LOSES ITS WORKER", "worker dies"},
	{trace.Slow{By: time.Millisecond, For: 2 * time.Second},
		"timers late by 1ms, for 2s", "SLOW: timers late by 1ms, for 2s", "slow timers late by 1ms"},
	{trace.SlowEnd{},
		"", "no longer slow", ""},
	{trace.ClockJump{By: time.Second},
		"1s", "CLOCK JUMPS by 1s", "clock jumps +1s"},
	{trace.ClockJump{By: -time.Second},
		"-1s", "CLOCK JUMPS by -1s", "clock jumps -1s"},
	{trace.ClockDrift{PPM: 100},
		"100 ppm", "CLOCK DRIFTS by 100 ppm", "clock drifts 100 ppm"},
	{trace.ClockDrift{PPM: -1_000_000},
		"-1000000 ppm", "CLOCK STANDS STILL", "clock stands still"},
	{trace.ClockDrift{},
		"0 ppm", "CLOCK RUNS as before", ""},
	{trace.Exhaust{Connections: 2, For: 2 * time.Second},
		"2 connections, for 2s", "POOL EXHAUSTED 2 connections, for 2s", "pool exhausted 2 connections, for 2s"},
	{trace.ExhaustEnd{},
		"", "pool free again", ""},
	{trace.Cut{Between: []string{"c0", "c1"}, Bytes: "lost", Direction: "both"},
		"from everything else, bytes: lost, direction: both",
		"CUT OFF from everything else, bytes: lost, direction: both",
		"cut off from everything else"},
	{trace.Cut{Between: []string{"c0"}, And: []string{"r0", "r1"}, Bytes: "held", Direction: "up"},
		"from r0,r1, bytes: held, direction: up",
		"CUT OFF from r0,r1, bytes: held, direction: up",
		"cut off from r0,r1"},
	{trace.Heal{Between: []string{"c0"}},
		"", "CONNECTED again", ""},
	{trace.Toxic{Name: "latency 2ms", Between: []string{"c0"}, Direction: "both"},
		"latency 2ms, between c0 and everything else (both) until healed",
		"NETWORK: latency 2ms, between c0 and everything else (both) until healed",
		"network latency 2ms"},
	{trace.ToxicEnd{Name: "latency 2ms", Between: []string{"c0"}},
		"latency 2ms", "network as before: latency 2ms", ""},
	{trace.Refuse{For: 2 * time.Second},
		"for 2s", "REFUSES connections for 2s", "refuses connections for 2s"},
	{trace.RefuseEnd{},
		"", "takes connections again", ""},
	{trace.Stall{For: 2 * time.Second},
		"for 2s", "STALLS for 2s", "stalled for 2s"},
	{trace.StallEnd{},
		"", "goes on", ""},
	{trace.ReadOnly{},
		"until healed", "READ-ONLY until healed", "read-only until healed"},
	{trace.ReadOnlyEnd{},
		"", "takes writes again", ""},
	{trace.Depart{For: 2 * time.Second},
		"for 2s", "LEAVES its cluster for 2s", "out of its cluster for 2s"},
	{trace.DepartEnd{},
		"", "joins its cluster again", ""},
	{trace.ErrorReply{Error: "OOM", For: 2 * time.Second},
		"OOM, for 2s", "ANSWERS WITH AN ERROR: OOM, for 2s", "answers with an error OOM, for 2s"},
	{trace.ErrorReply{Error: "OOM", Count: 1},
		"OOM, the next request, until healed",
		"ANSWERS WITH AN ERROR: OOM, the next request, until healed",
		"answers with an error OOM, the next request, until healed"},
	{trace.ErrorReply{Error: "OOM", Count: 2},
		"OOM, the next 2 requests, until healed",
		"ANSWERS WITH AN ERROR: OOM, the next 2 requests, until healed",
		"answers with an error OOM, the next 2 requests, until healed"},
	{trace.ErrorReplyEnd{Error: "OOM"},
		"OOM", "answers as before: OOM", ""},
	{trace.Promote{Old: "r0", Fate: "crashed"},
		"old primary r0 crashed", "PROMOTED old primary r0 crashed", "promoted old primary r0 crashed"},
	{trace.Promote{Old: "r0", Fate: "kept", Told: []string{"c0", "c1"}, Follows: true, Has: 3, Of: 4},
		"old primary r0 kept, for c0,c1, with 3 of its 4 effects",
		"PROMOTED old primary r0 kept, for c0,c1, with 3 of its 4 effects",
		"promoted old primary r0 kept, for c0,c1, with 3 of its 4 effects"},
	{trace.NotPromoted{Role: "down"},
		"it is down", "", "not promoted it is down"},
	{trace.Evict{Policy: "volatile-lru", Keys: []string{"a", "b"}},
		"volatile-lru: a b", "EVICTS volatile-lru: a b", "evicts volatile-lru: a b"},
	{trace.Evict{Policy: "volatile-lru"},
		"volatile-lru: nothing", "EVICTS volatile-lru: nothing", "evicts volatile-lru: nothing"},
	{trace.Evict{Role: "down"},
		"nothing: it is down", "EVICTS nothing: it is down", "evicts nothing: it is down"},
	{trace.Flush{What: "all"},
		"all", "FLUSHED: all", "flushed all"},
	{trace.Flush{What: "all", Role: "down"},
		"nothing: it is down", "FLUSHED: nothing: it is down", "flushed nothing: it is down"},
	{trace.Operate{Does: "overwrite", Of: []string{"lock:order"}},
		"writes over lock:order", "OPERATOR writes over lock:order", "operator writes over lock:order"},
	{trace.Operate{Does: trace.EndsSession},
		"finds nothing of the lock", "OPERATOR finds nothing of the lock", "operator finds nothing of the lock"},
	{trace.Mark{Step: trace.Point, Label: "after-read"},
		"after-read", "passes after-read", ""},
	{trace.Mark{Step: trace.Point, Label: trace.PointExtend},
		"extend", "asks to extend its lease", ""},
	{trace.Mark{Step: trace.Point, Label: trace.PointExtended},
		"extended", "has extended its lease", ""},
	{trace.Mark{Step: trace.Point, Label: trace.PointNotExtended, Problem: "too late"},
		"not-extended", "fails to extend its lease: too late", ""},
	{trace.Mark{Step: trace.Point, Label: trace.PointGaveUp},
		"gave-up", "gives up its section, since its writes were refused", ""},
	{trace.Mark{Step: trace.Point, Label: trace.PointReleaseAgain},
		"release-again", "calls Release again for an earlier lease", ""},
	{trace.Mark{Step: trace.Point, Label: trace.PointReleasedAgain},
		"released-again", "has released the earlier lease", ""},
	{trace.Mark{Step: trace.Point, Label: trace.PointNotReleasedAgain, Problem: "lock not held"},
		"not-released-again", "fails again to release the earlier lease: lock not held", ""},
	{trace.Mark{Step: trace.Acquire, Resource: "order"},
		"order", "asks for the lock", ""},
	{trace.Mark{Step: trace.Granted, Resource: "order"},
		"order", "is granted order", ""},
	{trace.Mark{Step: trace.Granted, Resource: "or der", Token: 3},
		"\"or der\" token=3", "is granted \"or der\" token=3", ""},
	{trace.Mark{Step: trace.NotGranted, Resource: "order", Problem: "the time is over"},
		"the time is over", "gives up: the time is over", ""},
	{trace.Mark{Step: trace.Reading, Op: "c0.r1"},
		"c0.r1", "", ""},
	{trace.Mark{Step: trace.Read, Op: "c0.r1"},
		"c0.r1 found nothing", "read c0.r1 found nothing", ""},
	{trace.Mark{Step: trace.Read, Op: "c0.r1", Saw: "c1.w1"},
		"c0.r1 found c1.w1", "read c0.r1 found c1.w1", ""},
	{trace.Mark{Step: trace.Read, Op: "c0.r1", Outcome: "refused", Problem: "a late token"},
		"c0.r1 refused: a late token", "read c0.r1 refused: a late token", ""},
	{trace.Mark{Step: trace.Write, Op: "c0.w1"},
		"c0.w1", "writes c0.w1", ""},
	{trace.Mark{Step: trace.Written, Op: "c0.w1"},
		"c0.w1", "", ""},
	{trace.Mark{Step: trace.Written, Op: "c0.w1", Outcome: "refused", Problem: "a late token"},
		"c0.w1 refused: a late token", "has its write refused", ""},
	{trace.Mark{Step: trace.Written, Op: "c0.w1", Outcome: "unknown", Problem: "no answer"},
		"c0.w1 unknown: no answer", "has no answer to its write", ""},
	{trace.Mark{Step: trace.Written, Op: "c0.w1", Outcome: "not-sent", Problem: "no connection"},
		"c0.w1 not-sent: no connection", "cannot send its write", ""},
	{trace.Mark{Step: trace.Release, Resource: "order"},
		"order", "", ""},
	{trace.Mark{Step: trace.Released, Resource: "order"},
		"order", "has released", ""},
	{trace.Mark{Step: trace.Released, Resource: "order", Problem: "release order: no answer"},
		"release order: no answer", "fails to release: no answer", ""},
	{trace.Mark{Step: trace.Until, Resource: "order"},
		"order", "reaches the end of its lease, by its own clock", "is past the end of its lease, by its own clock"},
	{trace.Mark{Step: trace.UntilSeen, Resource: "order"},
		"the lease has ended", "sees that its lease has ended, and stops", ""},
	{trace.Mark{Step: trace.Lost, Resource: "order"},
		"order", "", ""},
	{trace.Mark{Step: trace.LostSeen, Resource: "order"},
		"order", "learns that it has lost the lock", ""},
	{trace.Mark{Step: trace.Reenter, Resource: "order"},
		"order", "asks for order inside its section", ""},
	{trace.Mark{Step: trace.Reentered, Resource: "order", Token: 3},
		"order token=3", "is granted order token=3 inside its section", ""},
	{trace.Mark{Step: trace.InnerReading, Op: "c0.r2"},
		"c0.r2", "", ""},
	{trace.Mark{Step: trace.InnerRead, Op: "c0.r2", Saw: "c0.w1"},
		"c0.r2 found c0.w1", "", ""},
	{trace.Mark{Step: trace.InnerWrite, Op: "c0.w2"},
		"c0.w2", "writes inside c0.w2", ""},
	{trace.Mark{Step: trace.InnerWritten, Op: "c0.w2"},
		"c0.w2", "", ""},
	{trace.Mark{Step: trace.Leave, Resource: "order"},
		"order", "", ""},
	{trace.Mark{Step: trace.Left, Resource: "order"},
		"order", "has released order inside its section", ""},
	{trace.Mark{Step: trace.Left, Resource: "order", Problem: "lock not held"},
		"lock not held", "fails to release order inside its section: lock not held", ""},
	{trace.Mark{Step: trace.Revived, Resource: "order"},
		"order", "has a lease that holds again, although it had ended", ""},
}

// all has a value of each type of the package that may be in a trace.
var all = func() (all []trace.What) {
	for _, e := range told {
		if !slices.ContainsFunc(all, func(w trace.What) bool { return reflect.TypeOf(w) == reflect.TypeOf(e.what) }) {
			all = append(all, reflect.Zero(reflect.TypeOf(e.what)).Interface().(trace.What))
		}
	}
	return all
}()

func TestWords(t *testing.T) {
	for _, tt := range told {
		w := tt.what.Words(trace.View{At: time.Second, Lane: "c0"})
		if text := (trace.Event{What: tt.what}).Text(); text != tt.text || w.Story != tt.story || w.Lane != tt.lane {
			t.Errorf("%T%+v:\n\ttext  %q, want %q\n\tstory %q, want %q\n\tlane  %q, want %q",
				tt.what, tt.what, text, tt.text, w.Story, tt.story, w.Lane, tt.lane)
		}
	}
}

// No event is without words: the story tells it, or its type says why not. So is
// every step.
func TestEveryEventHasWords(t *testing.T) {
	steps := trace.Steps()
	ends := map[string]bool{} // kinds that end a fault
	for _, tt := range told {
		for _, kind := range tt.what.Words(trace.View{At: time.Second, Lane: "c0"}).EndedBy {
			ends[kind] = true
		}
		if m, ok := tt.what.(trace.Mark); ok {
			steps = slices.DeleteFunc(steps, func(s trace.Step) bool { return s == m.Step })
		}
	}
	if len(steps) > 0 {
		t.Errorf("no test knows the words of the steps %v", steps)
	}
	faults := typesIn(t, "faults.go")
	views := []trace.View{{}, {At: time.Second}, {At: time.Second, Lane: "c0"}, {Lane: "c0", Stale: true}, {Deaf: true}}
	for _, tt := range told {
		isFault := slices.Contains(faults, reflect.TypeOf(tt.what).Name()) && !ends[tt.what.Kind()]
		for _, v := range views {
			w, name := tt.what.Words(v), fmt.Sprintf("%T%+v at %v", tt.what, tt.what, v.At)
			switch {
			case w.Story == "" && w.Untold == "":
				t.Errorf("%s: a story has no words for it, and it does not say why", name)
			case w.Story != "" && w.Untold != "":
				t.Errorf("%s: its story is %q, although it says that there is none: %s", name, w.Story, w.Untold)
			case isFault && v.Lane != "" && w.Lane == "":
				t.Errorf("%s: it is a fault, and has no words on a lane", name)
			}
		}
	}
	for kind := range ends {
		if !slices.ContainsFunc(all, func(w trace.What) bool { return w.Kind() == kind }) {
			t.Errorf("%s ends a fault, and is no kind of event", kind)
		}
	}
}

// The words of some events depend on from where they are seen.
func TestWordsFromElsewhere(t *testing.T) {
	cut := trace.Cut{Between: []string{"c0"}, And: []string{"r0"}}
	for _, tt := range []struct {
		what trace.What
		view trace.View
		want trace.Words
	}{
		{cut, trace.View{Lane: "c0"}, trace.Words{Lane: "cut off from r0"}},
		{cut, trace.View{Lane: "r0"}, trace.Words{Lane: "cut off from c0"}},
		{trace.ClockJump{By: time.Second}, trace.View{Lane: "c0"},
			trace.Words{Story: "CLOCK IS AHEAD from the start, by 1s", Lane: "clock ahead by 1s"}},
		{trace.ClockJump{By: -time.Second}, trace.View{Lane: "c0"},
			trace.Words{Story: "CLOCK IS BEHIND from the start, by 1s", Lane: "clock behind by 1s"}},
		{trace.Decision{Write: true, Op: "c0.w1", Token: 3}, trace.View{Lane: "s0", Stale: true},
			trace.Words{Story: "takes write c0.w1 (token 3)", Lane: "takes the stale write c0.w1"}},
		{trace.Mark{Step: trace.LostSeen}, trace.View{Deaf: true},
			trace.Words{Story: "is told by the lock that its lease has ended, but does not look before it writes"}},
	} {
		got := tt.what.Words(tt.view)
		if got.Lane != tt.want.Lane || tt.want.Story != "" && got.Story != tt.want.Story {
			t.Errorf("%T%+v from %+v: %q and %q, want %q and %q",
				tt.what, tt.what, tt.view, got.Story, got.Lane, tt.want.Story, tt.want.Lane)
		}
	}
}
