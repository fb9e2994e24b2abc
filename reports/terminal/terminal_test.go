package terminal_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

const ms = time.Millisecond

// cases are outcomes with golden files. The first line of each file says what it
// shows.
var cases = map[string]struct {
	shows   string
	outcome func() *outcome.Outcome
	options reports.Options
}{
	"rescued": {
		shows: "data corrupted without a fence and saved with one: both decisive steps, each reason once",
		outcome: func() *outcome.Outcome {
			return testreports.Outcome(testreports.Corrupted(), testreports.Rescued(fence.Check),
				testreports.Rescued(fence.Seal))
		},
		options: reports.Options{Repeat: outcome.Twice, Replay: "locksim run gc-pause --seed 1"},
	},
	"rescued-alone": {
		shows:   "mode none was not asked for: the story is that of the first run",
		outcome: func() *outcome.Outcome { return testreports.Outcome(testreports.Rescued(fence.Seal)) },
	},
	"colour": {
		shows: "colour on the verdicts and on the decisive step, nowhere else (ESC stands for the escape character)",
		outcome: func() *outcome.Outcome {
			return testreports.Outcome(testreports.Corrupted(), testreports.Rescued(fence.Check))
		},
		options: reports.Options{Colour: reports.ANSI},
	},
	"unexpected": {
		shows: "a label that is worse than expected is marked UNEXPECTED",
		outcome: func() *outcome.Outcome {
			o := testreports.Outcome(testreports.Corrupted(), testreports.Rescued(fence.Check))
			o.Scenario.Expect["fenced"] = map[fence.Mode]checker.Label{fence.None: checker.Safe, fence.Check: checker.Safe}
			return o
		},
		options: reports.Options{Replay: "locksim run gc-pause --seed 1"},
	},
	"not-applicable": {
		shows: "a lock without tokens, of which nothing is expected",
		outcome: func() *outcome.Outcome {
			o := testreports.Outcome(testreports.Corrupted(), testreports.NotApplicable(fence.Check),
				testreports.NotApplicable(fence.Seal))
			o.Lock = "single"
			return o
		},
	},
	"none-ran": {
		shows: "no mode could be run: no story, no claim",
		outcome: func() *outcome.Outcome {
			o := testreports.Outcome(testreports.NotApplicable(fence.Seal))
			o.Lock = "single"
			return o
		},
	},
	"safe": {
		shows:   "all safe: no proof, with the counts behind it",
		outcome: testreports.Safe,
	},
	"near-miss": {
		shows: "how near the runs came to a violation: the nearest of the modes",
		outcome: func() *outcome.Outcome {
			o := testreports.Safe()
			far := checker.Slack{Kind: checker.SlackLease, Value: 45_072_623, Client: "c0", Other: "c1", Resource: "order"}
			near := far
			near.Value = 3_000_417
			o.Modes[0].Verdict.Slack, o.Modes[1].Verdict.Slack = []checker.Slack{far}, []checker.Slack{near}
			return o
		},
	},
	"safe-in-one": {
		shows: "one mode safe, another not: the notice on safe names that one only",
		outcome: func() *outcome.Outcome {
			return testreports.Outcome(testreports.Corrupted(), testreports.Run(fence.Seal, checker.Safe, "Nothing went wrong."))
		},
	},
	"vacuous": {
		shows: "safe, but nobody contended, a fault did not strike, and a pause was partial",
		outcome: func() *outcome.Outcome {
			o := testreports.Safe()
			o.Modes[0].Verdict.Facts.Contended = 0
			o.Modes[1].FaultsFired = []bool{false}
			o.Modes[1].PartialPause = true
			return o
		},
	},
	"long": {
		shows: "many steps before the decisive one: the middle is left out, 40 lines remain",
		outcome: func() *outcome.Outcome {
			m := testreports.Corrupted()
			m.Story = append(testreports.Steps(1, 60), m.Story[6:]...)
			r := testreports.Rescued(fence.Check)
			return testreports.Outcome(m, r)
		},
	},
	"long-safe": {
		shows: "a long story without a decisive step: the beginning is shown",
		outcome: func() *outcome.Outcome {
			o := testreports.Safe()
			o.Modes[0].Story = testreports.Steps(1, 60)
			return o
		},
	},
	"crowd": {
		shows: "too many clients for columns: names instead",
		outcome: func() *outcome.Outcome {
			o := testreports.Outcome(testreports.Corrupted())
			o.Scenario.World.Clients = 16
			return o
		},
	},
	"narrow": {
		shows: "60 columns: texts are folded, the table is not",
		outcome: func() *outcome.Outcome {
			return testreports.Outcome(testreports.Corrupted(), testreports.Rescued(fence.Check))
		},
		options: reports.Options{Width: reports.MinWidth},
	},
	"hostile": {
		shows: "escape sequences in the texts of a lock do not reach the terminal; wide reasons and other alphabets do not " +
			"break the columns",
		outcome: func() *outcome.Outcome {
			m := testreports.Run(fence.None, checker.Stuck, "The lock said \x1b[2J\x07 and\nно́рмально "+
				strings.Repeat("x", 130)+".", "b", "c", "d", "e", "f")
			m.Story = []outcome.Line{testreports.Line(1, time.Hour, "c0", "gives up: \x1b]0;owned\x07"),
				testreports.Fatal(testreports.Line(2, time.Hour, "c1", "остановился"))}
			return testreports.Outcome(m)
		},
	},
}

func TestRun(t *testing.T) {
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := terminal.Run(&b, tt.outcome(), tt.options); err != nil {
				t.Fatal(err)
			}
			testreports.Golden(t, name, tt.shows, b.String())
		})
	}
}

// A story of any length takes at most 40 lines, with the decisive step among them.
func TestStoryFits(t *testing.T) {
	for before := range 60 {
		for _, after := range []int{0, 1, 5, 50} {
			m := testreports.Corrupted()
			m.Story = append(testreports.Steps(1, before), append(m.Story[6:7], testreports.Steps(200, after)...)...)
			var b bytes.Buffer
			if err := terminal.Run(&b, testreports.Outcome(m, testreports.Rescued(fence.Check)), reports.Options{}); err != nil {
				t.Fatal(err)
			}
			_, story, _ := strings.Cut(b.String(), "\nstory in mode none\n")
			story, _, _ = strings.Cut(story, "\n\nOne seed")
			if n := strings.Count(story, "\n") + 2; n > 40 {
				t.Errorf("%d steps before and %d after: %d lines", before, after, n)
			}
			if !strings.Contains(story, "a stale") || !strings.Contains(story, "REFUSES") {
				t.Errorf("%d steps before and %d after: a decisive step is missing:\n%s", before, after, story)
			}
		}
	}
}

// The same outcome gives the same bytes, and is not changed.
func TestRunIsPure(t *testing.T) {
	o := testreports.Outcome(testreports.Corrupted(), testreports.Rescued(fence.Check), testreports.Rescued(fence.Seal))
	var first, second bytes.Buffer
	if err := errors.Join(terminal.Run(&first, o, reports.Options{}),
		terminal.Run(&second, o, reports.Options{})); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Error("two reports of one outcome differ")
	}
	if diff := cmp.Diff(testreports.Outcome(testreports.Corrupted(), testreports.Rescued(fence.Check),
		testreports.Rescued(fence.Seal)).Modes, o.Modes, cmpopts.IgnoreUnexported(outcome.ModeRun{})); diff != "" {
		t.Errorf("the report changed its outcome:\n%s", diff)
	}
}

func TestOptions(t *testing.T) {
	for _, opt := range []reports.Options{{Width: -1}, {Width: reports.MinWidth - 1}, {Colour: 7}} {
		var b bytes.Buffer
		for name, err := range map[string]error{
			"Run":      terminal.Run(&b, testreports.Safe(), opt),
			"Replayed": terminal.Replayed(&b, testreports.Safe(), opt),
			"State":    terminal.State(&b, reports.Moment{}, new(outcome.State), opt),
		} {
			if err == nil || b.Len() > 0 {
				t.Errorf("%s took the options %+v and wrote %d bytes", name, opt, b.Len())
			}
		}
	}
}

func TestWriterFails(t *testing.T) {
	if err := terminal.Run(testreports.FullDisk{}, testreports.Safe(), reports.Options{}); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("got %v", err)
	}
}

func TestReplayed(t *testing.T) {
	var b bytes.Buffer
	o := testreports.Outcome(testreports.Corrupted(), testreports.Rescued(fence.Check),
		testreports.NotApplicable(fence.Seal))
	if err := terminal.Replayed(&b, o, reports.Options{Repeat: outcome.Twice}); err != nil {
		t.Fatal(err)
	}
	testreports.Golden(t, "replayed", "a stored run that came out equal, with a mode that was not run", b.String())
}

func TestState(t *testing.T) {
	at := reports.Moment{Scenario: "gc-pause", Lock: "fenced", Seed: 1, Mode: fence.Check}
	event := trace.Event{N: 40, At: 700 * ms, Actor: "c1", Peer: "r0",
		What: trace.Send{Conn: "#1", Content: trace.Text(strings.Repeat("EVALSHA ", 20))}}
	for name, tt := range map[string]struct {
		shows string
		state outcome.State
	}{
		"state": {"one client paused with the lock, one crashed, a key with and a key without an end, bytes both ways",
			outcome.State{
				Step: 40, Event: event.String(), At: 700 * ms,
				Clients: []outcome.ClientState{
					{Name: "c0", Condition: "paused", Holds: true, Believes: true, Token: 1, Left: 9588 * ms},
					{Name: "c1", Condition: "crashed"},
					{Name: "c2", Condition: "running", Believes: true, Token: 12},
				},
				Nodes: []outcome.NodeState{
					node("r0", trace.Key{Name: "lock:{order}", TTL: 9591 * ms, Value: "a5cd"},
						trace.Key{Name: "lock:{order}:token", Value: "1\x1b"}),
					node("r1"),
				},
				Store: []string{"order/balance=c0.w2"}, Highest: 12,
			}},
		"state-over": {"the run had ended before the step: nothing written, nothing under way", outcome.State{
			Step: 7, At: 2 * time.Second, Over: true, Clients: []outcome.ClientState{{Name: "c0", Condition: "running"}},
			Nodes: []outcome.NodeState{{Name: "r0"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if !tt.state.Over {
				tt.state.Flights = append(tt.state.Flights, trace.Flight{From: "c1", To: "r0", Bytes: 1280},
					trace.Flight{From: "s0", To: "c2", Bytes: 9})
			}
			var b bytes.Buffer
			if err := terminal.State(&b, at, &tt.state, reports.Options{}); err != nil {
				t.Fatal(err)
			}
			testreports.Golden(t, name, tt.shows, b.String())
		})
	}
}

func node(name string, keys ...trace.Key) outcome.NodeState {
	return outcome.NodeState{Name: name, Keys: keys}
}
