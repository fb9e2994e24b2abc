package file

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"locksim/faults"
)

// What Format writes of an action of any kind, Parse reads.
func TestFormatRoundTripOfEveryAction(t *testing.T) {
	for i, k := range faults.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				want := Defaults()
				want.Name, want.World.Redis, want.World.Replicas = "round", 5, MaxReplicas
				d := faultDrawer{t, want, "the fault"}
				want.Faults = []faults.Fault{d.fault(drawActions[i])}
				if got := want.Faults[0].Action.Kind(); got != k.Name {
					t.Fatalf("drew %s for %s", got, k.Name)
				}
				source, err := Format(want)
				if err != nil {
					t.Fatalf("%v\n%+v", err, want.Faults)
				}
				got, err := Parse("round.yaml", source)
				if err != nil {
					t.Fatalf("%v\n%s", err, source)
				}
				if diff := cmp.Diff(want, got, sameStory); diff != "" {
					t.Fatalf("read back (-want +got):\n%s\n%s", diff, source)
				}
			})
		})
	}
}

// faultDrawer draws a fault that fits a scenario.
type faultDrawer struct {
	t     *rapid.T
	s     *Scenario
	label string
}

// drawActions draw an action of each kind, in the order of faults.Kinds.
var drawActions = []func(d faultDrawer) faults.Action{
	func(d faultDrawer) faults.Action { return faults.Pause{Process: d.client(), For: d.time("for", 1)} },
	func(d faultDrawer) faults.Action {
		return faults.Crash{Process: d.of(d.people()), Mode: oneWord(d, faults.CrashModes())}
	},
	func(d faultDrawer) faults.Action { return faults.Restart{Process: d.of(d.people())} },
	func(d faultDrawer) faults.Action {
		return faults.Slow{Process: d.client(), By: d.time("by", 1), For: d.time("for", 0)}
	},
	func(d faultDrawer) faults.Action { return faults.KillWorker{Process: d.client()} },
	func(d faultDrawer) faults.Action {
		return faults.ExhaustPool{Process: d.client(), For: d.time("for", 0)}
	},
	func(d faultDrawer) faults.Action {
		return faults.ClockJump{Clock: d.of(d.people()), By: d.time("by", 1) * time.Duration(d.sign())}
	},
	func(d faultDrawer) faults.Action {
		return faults.ClockDrift{Clock: d.of(d.people()), PPM: d.ppm(), For: d.time("for", 0)}
	},
	func(d faultDrawer) faults.Action {
		return faults.ClockFreeze{Clock: d.of(d.people()), For: d.time("for", 0)}
	},
	func(d faultDrawer) faults.Action {
		between, and := d.sides()
		return faults.Latency{Between: between, And: and, Add: d.time("add", 0), Jitter: d.time("jitter", 1), For: d.time("for", 0), Direction: d.way()}
	},
	func(d faultDrawer) faults.Action {
		between, and := d.sides()
		return faults.Bandwidth{Between: between, And: and, Rate: d.number(faults.MaxRate), For: d.time("for", 0), Direction: d.way()}
	},
	func(d faultDrawer) faults.Action {
		between, and := d.sides()
		delay := d.time("delay", 0).Truncate(time.Microsecond)
		return faults.Slice{Between: between, And: and, Size: d.number(faults.MaxSliceSize), Delay: delay, For: d.time("for", 0), Direction: d.way()}
	},
	func(d faultDrawer) faults.Action {
		between, and := d.sides()
		delay := max(d.time("delay", 1).Truncate(time.Millisecond), time.Millisecond)
		return faults.SlowClose{Between: between, And: and, Delay: delay, For: d.time("for", 0), Direction: d.way()}
	},
	func(d faultDrawer) faults.Action {
		return faults.LoseReply{Between: []string{d.client()}, And: d.some(d.nodes(), 0), Count: d.number(faults.MaxReplies)}
	},
	func(d faultDrawer) faults.Action {
		between, and := d.sides()
		return faults.DelayMessage{Between: between, And: and, By: d.time("by", 1), Direction: d.way()}
	},
	func(d faultDrawer) faults.Action {
		between, and := d.sides()
		return faults.Partition{Between: between, And: and, For: d.time("for", 0), Bytes: oneWord(d, faults.BytesModes()), Direction: d.way()}
	},
	func(d faultDrawer) faults.Action {
		return faults.Reset{Between: []string{d.client()}, And: d.some(d.nodes(), 1)}
	},
	func(d faultDrawer) faults.Action { return faults.Refuse{Node: d.of(d.nodes()), For: d.time("for", 0)} },
	func(d faultDrawer) faults.Action { return faults.Stall{Node: d.of(d.nodes()), For: d.time("for", 0)} },
	func(d faultDrawer) faults.Action {
		to := append([]string{"r0"}, (checked{d.s}).replicas().names...)
		return faults.Failover{To: d.of(to), Old: oneWord(d, faults.OldPrimaries()), Clients: d.some((checked{d.s}).clients().names, 0)}
	},
	func(d faultDrawer) faults.Action {
		return faults.Evict{Node: d.of(d.redis()), Policy: oneWord(d, faults.EvictionPolicies()), Keys: d.number(faults.MaxEvicted)}
	},
	func(d faultDrawer) faults.Action {
		return faults.Flush{Node: d.of(d.redis()), What: oneWord(d, faults.FlushWhats())}
	},
	func(d faultDrawer) faults.Action {
		return faults.ReadOnly{Node: d.of(d.redis()), For: d.time("for", 0)}
	},
}

// drawFault draws a fault of any kind that the scenario can have.
func drawFault(t *rapid.T, s *Scenario, i int) faults.Fault {
	d := faultDrawer{t, s, fmt.Sprint("fault ", i)}
	kind := rapid.IntRange(0, len(drawActions)-1).Draw(t, d.label+" kind")
	if faults.Kinds()[kind].Name == "failover" && s.World.Replicas == 0 {
		kind = 0
	}
	return d.fault(drawActions[kind])
}

func (d faultDrawer) fault(action func(faultDrawer) faults.Action) faults.Fault {
	if !rapid.Bool().Draw(d.t, d.label+" by event") {
		return faults.Fault{At: d.time("at", 0), Action: action(d)}
	}
	name := rapid.SampledFrom(append(faults.Events(), "null", "my-point", "true")).Draw(d.t, d.label+" event")
	nth := rapid.IntRange(1, d.s.Workload.Rounds).Draw(d.t, d.label+" nth")
	return faults.Fault{
		When:  &faults.Event{Client: d.client(), Name: name, Nth: nth},
		After: d.time("after", 0), Action: action(d),
	}
}

func (d faultDrawer) client() string { return d.of((checked{d.s}).clients().names) }

// redis are the nodes that any lock of the scenario has, and the replicas.
func (d faultDrawer) redis() []string {
	return slices.Concat((checked{d.s}).redis().names, (checked{d.s}).replicas().names)
}

func (d faultDrawer) nodes() []string { return append(d.redis(), "s0") }

func (d faultDrawer) people() []string { return append(d.redis(), (checked{d.s}).clients().names...) }

func (d faultDrawer) of(names []string) string {
	return rapid.SampledFrom(names).Draw(d.t, d.label+" name")
}

func (d faultDrawer) some(names []string, least int) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(names), least, len(names), rapid.ID[string]).Draw(d.t, d.label+" names")
}

// sides are a client and any nodes, or none.
func (d faultDrawer) sides() (between, and []string) {
	return []string{d.client()}, d.some(d.nodes(), 0)
}

func (d faultDrawer) way() faults.Direction { return oneWord(d, faults.Directions()) }

func (d faultDrawer) time(field string, least time.Duration) time.Duration {
	return drawDuration(d.t, d.label+" "+field, least)
}

func (d faultDrawer) number(most int) int {
	return rapid.IntRange(1, most).Draw(d.t, d.label+" number")
}

func (d faultDrawer) sign() int { return rapid.SampledFrom([]int{1, -1}).Draw(d.t, d.label+" sign") }

func (d faultDrawer) ppm() int64 {
	if d.sign() > 0 {
		return int64(d.number(faults.MaxPPM))
	}
	return -int64(d.number(-faults.MinPPM))
}

func oneWord[T any](d faultDrawer, words []T) T {
	return rapid.SampledFrom(words).Draw(d.t, d.label+" choice")
}
