package file

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
)

func TestFormat(t *testing.T) {
	s := Defaults()
	s.Name, s.Title, s.Why = "demo", "Say \"when\"", "one\ntwo\n"
	s.Workload.Timeout = time.Second
	s.Faults = []faults.Fault{
		{When: &faults.Event{Client: "c0", Name: "read", Nth: 1}, Action: faults.Pause{Process: "c0", For: 15 * time.Second}},
		{At: 3 * time.Second, Action: faults.Partition{Between: []string{"c0"}, And: []string{"r0", "s0"},
			Bytes: faults.BytesDrop}},
	}
	s.Expect = map[string]map[fence.Mode]checker.Label{
		"single": {fence.Seal: checker.NotApplicable, fence.None: checker.Corrupted}, "broken/x": {},
	}
	got, err := Format(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `name: demo
title: "Say \"when\""
why: "one\ntwo\n"
world: {redis: 1, clients: 2, latency: 1ms..5ms}
lock: {kind: fenced, ttl: 10s, backoff: 50ms..200ms}
workload: {rounds: 1, hold: 2s, think: 1s, stagger: 0s, timeout: 1s, checks_until: never}
faults:
  - when: {client: c0, event: read, nth: 1}
    pause: {process: c0, for: 15s}
  - at: 3s
    partition: {between: [c0], and: [r0, s0], bytes: drop}
expect:
  broken/x: {}
  single: {none: corrupted, seal: n/a}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("Format (-want +got):\n%s", diff)
	}
}

// slowdown is an action that the format does not have.
type slowdown struct{ faults.Pause }

func TestFormatRefusesWhatItCannotWrite(t *testing.T) {
	bad, foreign := Defaults(), Defaults()
	bad.Name = "two words"
	foreign.Name = "foreign"
	foreign.Faults = []faults.Fault{{Action: slowdown{faults.Pause{Process: "c0", For: 1}}}}
	for _, tt := range []struct {
		s    *Scenario
		want string
	}{
		{bad, `format scenario "two words": name: "two words" cannot be a name: use up to 64 of a-z, 0-9 and -`},
		{foreign, `format scenario "foreign": faults[0]: a file.slowdown cannot be written to a file`},
	} {
		if _, err := Format(tt.s); err == nil || err.Error() != tt.want {
			t.Errorf("Format = %v, want %s", err, tt.want)
		}
	}
}

// Parse reads back what Format writes.
func TestFormatRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawScenario(t)
		source, err := Format(want)
		if err != nil {
			t.Fatalf("%v\n%+v", err, want)
		}
		got, err := Parse("round.yaml", source)
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		if diff := cmp.Diff(want, got, ignoreSource); diff != "" {
			t.Fatalf("read back (-want +got):\n%s\n%s", diff, source)
		}
	})
}

func drawSettings(t *rapid.T) (all []Setting) {
	for _, name := range []string{"a", "lock_delay", "tries"} {
		if rapid.IntRange(0, 3).Draw(t, "has "+name) == 0 {
			value := rapid.SampledFrom([]string{"0", "7", "0s", "1.5s", "10ms", "24h"}).Draw(t, name)
			all = append(all, Setting{name, value})
		}
	}
	return all
}

func drawScenario(t *rapid.T) *Scenario {
	care := []checker.Care{checker.CareNever, checker.CareLost, checker.CareSteps}
	s := &Scenario{
		Name:  rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,20}`).Draw(t, "name"),
		Title: strings.ReplaceAll(drawText(t, "title"), "\n", ""),
		Why:   drawText(t, "why"),
		World: World{
			Redis:   rapid.IntRange(1, MaxRedis).Draw(t, "redis"),
			Clients: rapid.IntRange(1, MaxClients).Draw(t, "clients"),
			Latency: drawRangeUpTo(t, "latency", 0, MaxLatency),

			Replicas:    rapid.IntRange(0, MaxReplicas).Draw(t, "replicas"),
			Lag:         drawRange(t, "lag", 0),
			Persistence: rapid.SampledFrom(Persistences()).Draw(t, "persistence"),
			Snapshot:    drawDuration(t, "snapshot", 1),
			Skew:        drawDuration(t, "skew", 0),

			MinReplicas: rapid.IntRange(0, MaxReplicas).Draw(t, "min_replicas"),
			MaxLag:      drawDuration(t, "max_lag", 1),
			DownAfter:   time.Duration(rapid.Int64Range(1, 86_400_000).Draw(t, "down_after")) * time.Millisecond,
			NodeTimeout: time.Duration(rapid.Int64Range(100, 86_400_000).Draw(t, "node_timeout")) * time.Millisecond,
			Quorum:      rapid.IntRange(0, MaxServers).Draw(t, "quorum"),

			FailoverTimeout: time.Duration(rapid.Int64Range(1, 86_400_000).Draw(t, "failover_timeout")) * time.Millisecond,
		},
		Lock: LockSpec{
			Kind: rapid.SampledFrom([]string{"fenced", "broken/x", "null", "a: b", "{", "@", "7"}).Filter(isWord).Draw(t,
				"kind"),
			TTL:     time.Duration(rapid.Int64Range(1, 86_400_000).Draw(t, "ttl")) * time.Millisecond,
			Backoff: drawRange(t, "backoff", time.Millisecond),
			Client:  rapid.SampledFrom([]ClientProfile{ClientQuiet, ClientStock}).Draw(t, "client"),
			Wait:    rapid.SampledFrom([]WaitMode{WaitPoll, WaitNotify}).Draw(t, "wait"),
			Owner:   rapid.SampledFrom(Owners()).Draw(t, "owner"),
			Nodes:   rapid.IntRange(0, MaxRedis).Draw(t, "nodes"),

			Settings: drawSettings(t),
		},
		Workload: Workload{
			Rounds: rapid.IntRange(1, MaxRounds).Draw(t, "rounds"),
			Hold:   drawDuration(t, "hold", 0), Think: drawDuration(t, "think", 0),
			Stagger: drawDuration(t, "stagger", 0), Timeout: drawDuration(t, "timeout", 0),
			ChecksUntil:   rapid.SampledFrom(care).Draw(t, "care"),
			Kind:          rapid.SampledFrom(WorkloadKinds()).Draw(t, "workload"),
			Nested:        rapid.IntRange(0, MaxNested).Draw(t, "nested"),
			Request:       drawDuration(t, "request", 0),
			Deadline:      rapid.Bool().Draw(t, "deadline"),
			AcquireWithin: drawDuration(t, "acquire_within", 0), ExtendWithin: drawDuration(t, "extend_within", 0),
			ReleaseWithin: drawDuration(t, "release_within", 0),
			Data:          rapid.SampledFrom(DataPlaces()).Draw(t, "data"),
			Tries:         rapid.Bool().Draw(t, "tries"),
			Extend:        rapid.IntRange(0, MaxExtend).Draw(t, "extend"),
			Resources:     drawResources(t),
			Release:       rapid.SampledFrom(ReleaseTimes()).Draw(t, "release"),
			Look:          rapid.SampledFrom([]LookTimes{LookTwice, LookOnce}).Draw(t, "look"),
		},
		Catalogue: rapid.SliceOf(rapid.SampledFrom([]string{"F01", "F14", "F73"})).Draw(t, "catalogue"),
		Locks:     rapid.SliceOf(rapid.SampledFrom([]string{"all", "one-node", "broken/x", "true"})).Draw(t, "locks"),
	}
	if s.Workload.TriesFence() || !s.Workload.Fills() && rapid.Bool().Draw(t, "on trial") {
		s.Store = rapid.SampledFrom([]string{"my-fence", "broken/x", "true"}).Draw(t, "store")
	}
	s.World.ClockStep = min(rapid.SampledFrom([]time.Duration{0, 1, time.Microsecond, time.Millisecond}).Draw(t,
		"clock_step"), s.World.Latency.Min)
	if s.World.ClockStep > 0 && time.Millisecond%s.World.ClockStep != 0 {
		s.World.ClockStep = 1
	}
	if most := s.Lock.Backoff.Max; most < MaxDuration/MaxTries { // else no hold is too long for those who try
		s.Workload.Hold = min(s.Workload.Hold, MaxTries*most)
	}
	if !s.Workload.Kind.Takes("nested") {
		s.Workload.Nested = 0
	}
	if s.Workload.Fills() {
		s.Workload.Release = ReleaseLast
	}
	if !s.Workload.Kind.Takes("look") {
		s.Workload.Look = LookTwice
	}
	if rapid.Bool().Draw(t, "listed") {
		s.Workload.Kind, s.Workload.Nested, s.Workload.Section = WorkloadRegister, 0, drawSection(t)
		s.Workload.Look = LookTwice
	}
	if s.Workload.Leads() {
		s.Workload.Ticks, s.Workload.Stop = rapid.IntRange(0, MaxTicks).Draw(t, "ticks"), drawDuration(t, "stop", 0)
	}
	s.Workload.Deadline = s.Workload.Deadline && s.Workload.Request+s.Workload.AcquireWithin+s.Workload.ExtendWithin+
		s.Workload.ReleaseWithin > 0
	for i := range rapid.IntRange(0, 4).Draw(t, "faults") {
		s.Faults = append(s.Faults, drawFault(t, s, i))
	}
	s.Expect = rapid.MapOf(
		rapid.SampledFrom([]string{"fenced", "redlock-fenced", "broken/del-without-owner", "My@Lock"}),
		rapid.MapOf(rapid.SampledFrom(fence.Modes()), rapid.SampledFrom(checker.Labels())),
	).Draw(t, "expect")
	return s
}

// drawSection draws steps that are in a valid order.
func drawSection(t *rapid.T) []Step {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"stock", "order", "null", "x-1"}), 1, 3, rapid.ID).Draw(t,
		"registers")
	var steps []Step
	for _, name := range names {
		steps = append(steps, Step{Do: StepRead, Register: name})
		switch rapid.IntRange(0, 3).Draw(t, "between") {
		case 1:
			steps = append(steps, Step{Do: StepCheck})
		case 2:
			steps = append(steps, Step{Do: StepWork})
		case 3:
			steps = append(steps, Step{Do: StepWork, For: drawDuration(t, "work", 1)})
		}
	}
	for _, name := range names[:rapid.IntRange(1, len(names)).Draw(t, "writes")] {
		steps = append(steps, Step{Do: StepWrite, Register: name})
	}
	return steps
}

func drawResources(t *rapid.T) []string {
	name := rapid.Custom(func(t *rapid.T) string { return drawText(t, "resource") }).
		Filter(func(s string) bool { return s != "" && len(s) <= 200 && utf8.ValidString(s) })
	return rapid.SliceOfNDistinct(name, 1, MaxResource, rapid.ID).Draw(t, "resources")
}

func drawDuration(t *rapid.T, what string, least time.Duration) time.Duration {
	return drawUpTo(t, what, least, MaxDuration)
}

func drawUpTo(t *rapid.T, what string, least, most time.Duration) time.Duration {
	return time.Duration(rapid.Int64Range(int64(least), int64(most)).Draw(t, what))
}

func drawRange(t *rapid.T, what string, least time.Duration) Range {
	return drawRangeUpTo(t, what, least, MaxDuration)
}

func drawRangeUpTo(t *rapid.T, what string, least, most time.Duration) Range {
	low := drawUpTo(t, what+" min", least, most)
	return Range{low, drawUpTo(t, what+" max", low, most)}
}

// drawText draws text with all characters that have a meaning in YAML.
func drawText(t *rapid.T, what string) string {
	return rapid.StringOf(rapid.SampledFrom([]rune("ab é日0 \n\\\"'#:-{}[],&*!|>%@`?~"))).Draw(t, what)
}

func isWord(s string) bool { return s == "" || IsWord(s) }
