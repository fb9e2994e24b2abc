package reports_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// cases are outcomes and how they look. Each golden file begins with what it
// shows.
var cases = map[string]struct {
	shows   string
	outcome func() *play.Outcome
	options reports.Options
}{
	"rescued": {
		shows:   "data corrupted without a fence and saved with one: both decisive steps, reasons said once",
		outcome: func() *play.Outcome { return outcome(corrupted(), rescued(fence.Check), rescued(fence.Seal)) },
		options: reports.Options{Repeat: play.Twice, Replay: "locksim run gc-pause --seed 1"},
	},
	"rescued-alone": {
		shows:   "mode none was not asked for: the story is that of the first run",
		outcome: func() *play.Outcome { return outcome(rescued(fence.Seal)) },
	},
	"colour": {
		shows:   "colour on the verdicts and on the decisive step, nowhere else (ESC stands for the escape character)",
		outcome: func() *play.Outcome { return outcome(corrupted(), rescued(fence.Check)) },
		options: reports.Options{Colour: reports.ANSI},
	},
	"unexpected": {
		shows: "a label that is worse than expected is said loudly",
		outcome: func() *play.Outcome {
			o := outcome(corrupted(), rescued(fence.Check))
			o.Scenario.Expect["fenced"] = map[fence.Mode]checker.Label{fence.None: checker.Safe, fence.Check: checker.Safe}
			return o
		},
		options: reports.Options{Replay: "locksim run gc-pause --seed 1"},
	},
	"not-applicable": {
		shows: "a lock without tokens, of which nothing is expected",
		outcome: func() *play.Outcome {
			o := outcome(corrupted(), notApplicable(fence.Check), notApplicable(fence.Seal))
			o.Lock = "single"
			return o
		},
	},
	"none-ran": {
		shows: "no mode could be run: no story, no claim",
		outcome: func() *play.Outcome {
			o := outcome(notApplicable(fence.Seal))
			o.Lock = "single"
			return o
		},
	},
	"safe": {
		shows:   "all safe: no proof, with the counts behind it",
		outcome: safe,
	},
	"safe-in-one": {
		shows: "one mode safe, another not: only the safe one is spoken of",
		outcome: func() *play.Outcome {
			return outcome(corrupted(), run(fence.Seal, checker.Safe, "Nothing went wrong."))
		},
	},
	"vacuous": {
		shows: "safe, but nobody contended, a fault did not strike, and a pause was partial",
		outcome: func() *play.Outcome {
			o := safe()
			o.Modes[0].Verdict.Facts.Contended = 0
			o.Modes[1].FaultsFired = []bool{false}
			o.Modes[1].PartialPause = true
			return o
		},
	},
	"long": {
		shows: "a long way to the decisive step: the middle is left out, 40 lines stay",
		outcome: func() *play.Outcome {
			m := corrupted()
			m.Story = append(steps(1, 60), m.Story[6:]...)
			r := rescued(fence.Check)
			return outcome(m, r)
		},
	},
	"long-safe": {
		shows: "a long story without a decisive step: the beginning stays",
		outcome: func() *play.Outcome {
			o := safe()
			o.Modes[0].Story = steps(1, 60)
			return o
		},
	},
	"crowd": {
		shows: "too many clients for columns: names instead",
		outcome: func() *play.Outcome {
			o := outcome(corrupted())
			o.Scenario.World.Clients = 16
			return o
		},
	},
	"narrow": {
		shows:   "60 columns: texts are folded, the table stays whole",
		outcome: func() *play.Outcome { return outcome(corrupted(), rescued(fence.Check)) },
		options: reports.Options{Width: reports.MinWidth},
	},
	"hostile": {
		shows: "what a lock says cannot command the terminal; wide reasons and other alphabets do not break the columns",
		outcome: func() *play.Outcome {
			m := run(fence.None, checker.Stuck, "The lock said \x1b[2J\x07 and\nно́рмально "+strings.Repeat("x", 130)+".", "b", "c", "d", "e", "f")
			m.Story = []play.Line{line(1, time.Hour, "c0", "gives up: \x1b]0;owned\x07"), fatal(line(2, time.Hour, "c1", "остановился"))}
			return outcome(m)
		},
	},
}

func safe() *play.Outcome {
	calm := run(fence.None, checker.Safe, "Nothing went wrong in this run.")
	calm.Story = steps(1, 3)
	fenced := run(fence.Seal, checker.Safe, "Nothing went wrong in this run.")
	fenced.Story = steps(1, 3)
	return outcome(calm, fenced)
}

func TestTerminal(t *testing.T) {
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := reports.Terminal(&b, tt.outcome(), tt.options); err != nil {
				t.Fatal(err)
			}
			golden(t, name, tt.shows, b.String())
		})
	}
}

// golden compares with a file of testdata, or writes it with -update.
func golden(t *testing.T, name, shows, got string) {
	t.Helper()
	got = "# " + shows + "\n" + strings.ReplaceAll(got, "\x1b", "ESC")
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test ./reports -update writes it anew):\n%s", file, diff)
	}
}

// Whatever the length of the story, it takes at most 40 lines, and the decisive
// step is among them.
func TestStoryFits(t *testing.T) {
	for before := range 60 {
		for _, after := range []int{0, 1, 5, 50} {
			m := corrupted()
			m.Story = append(steps(1, before), append(m.Story[6:7], steps(200, after)...)...)
			var b bytes.Buffer
			if err := reports.Terminal(&b, outcome(m, rescued(fence.Check)), reports.Options{}); err != nil {
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
func TestTerminalIsPure(t *testing.T) {
	o := outcome(corrupted(), rescued(fence.Check), rescued(fence.Seal))
	var first, second bytes.Buffer
	if err := errors.Join(reports.Terminal(&first, o, reports.Options{}), reports.Terminal(&second, o, reports.Options{})); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Error("two reports of one outcome differ")
	}
	if diff := cmp.Diff(outcome(corrupted(), rescued(fence.Check), rescued(fence.Seal)).Modes, o.Modes, cmpopts.IgnoreUnexported(play.ModeRun{})); diff != "" {
		t.Errorf("the report changed its outcome:\n%s", diff)
	}
}

func TestOptions(t *testing.T) {
	for _, opt := range []reports.Options{{Width: -1}, {Width: reports.MinWidth - 1}, {Colour: 7}} {
		var b bytes.Buffer
		for name, err := range map[string]error{
			"Terminal": reports.Terminal(&b, safe(), opt),
			"Replayed": reports.Replayed(&b, safe(), opt),
			"State":    reports.State(&b, reports.Moment{}, new(play.State), opt),
		} {
			if err == nil || b.Len() > 0 {
				t.Errorf("%s took the options %+v and wrote %d bytes", name, opt, b.Len())
			}
		}
	}
}

// closed is a writer that takes nothing.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriterFails(t *testing.T) {
	if err := reports.Terminal(closed{}, safe(), reports.Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

func TestReplayed(t *testing.T) {
	var b bytes.Buffer
	o := outcome(corrupted(), rescued(fence.Check), notApplicable(fence.Seal))
	if err := reports.Replayed(&b, o, reports.Options{Repeat: play.Twice}); err != nil {
		t.Fatal(err)
	}
	golden(t, "replayed", "a stored run that came out equal, with a mode that was not run", b.String())
}

func TestState(t *testing.T) {
	at := reports.Moment{Scenario: "gc-pause", Lock: "fenced", Seed: 1, Mode: fence.Check}
	event := trace.Event{N: 40, At: 700 * ms, Actor: "c1", Peer: "r0", What: trace.Send{Conn: "#1", Content: trace.Text(strings.Repeat("EVALSHA ", 20))}}
	for name, tt := range map[string]struct {
		shows string
		state play.State
	}{
		"state": {"one client paused with the lock, one crashed, a key with and a key without an end, bytes both ways", play.State{
			Step: 40, Event: event.String(), At: 700 * ms,
			Clients: []play.ClientState{
				{Name: "c0", Condition: "paused", Holds: true, Believes: true, Token: 1, Left: 9588 * ms},
				{Name: "c1", Condition: "crashed"},
				{Name: "c2", Condition: "running", Believes: true, Token: 12},
			},
			Nodes: []play.NodeState{
				node("r0", trace.Key{Name: "lock:{order}", TTL: 9591 * ms, Value: "a5cd"}, trace.Key{Name: "lock:{order}:token", Value: "1\x1b"}),
				node("r1"),
			},
			Store: []string{"order/balance=c0.w2"}, Highest: 12,
		}},
		"state-over": {"the run had ended before the step: nothing written, nothing under way", play.State{
			Step: 7, At: 2 * time.Second, Over: true, Clients: []play.ClientState{{Name: "c0", Condition: "running"}}, Nodes: []play.NodeState{{Name: "r0"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if !tt.state.Over {
				tt.state.Flights = append(tt.state.Flights, trace.Flight{From: "c1", To: "r0", Bytes: 1280}, trace.Flight{From: "s0", To: "c2", Bytes: 9})
			}
			var b bytes.Buffer
			if err := reports.State(&b, at, &tt.state, reports.Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, name, tt.shows, b.String())
		})
	}
}

func node(name string, keys ...trace.Key) play.NodeState {
	return play.NodeState{Name: name, Keys: keys}
}
