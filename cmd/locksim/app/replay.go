package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/replay"
	"locksim/scenarios/subject"
)

// replayFlags are the flags of the replay command.
type replayFlags struct {
	mode     string
	until    int
	json     bool
	timeline bool
}

func replayCommand(s *shell) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE|DIR",
		Short: "Make a stored run again and confirm that it is the same",
		Long: `Replay repeats a run that "locksim run --out DIR" has stored in DIR/run.json, and
compares each figure and the hash of each trace. The exit code is 3 if the run differs.
DIR alone stands for DIR/run.json. The exit code of a failure that still fails is 1: a
run that a search has found, or one that is worse than its scenario expects. Where the
replay does not break the lock, since that was mended in between, the first line says
"now safe", and the exit code is 0.

With --timeline it prints the run step by step, with a column for each client and node.

With --until-step it stops at a step of the trace instead, and prints the state of the
world: which client holds the lock and which believes that it does, the keys of each
Redis node with their remaining TTL, and the bytes in flight. --mode chooses the run to
stop where several are stored; without it that is the one that ended worst.`,
		Example: `  locksim run gc-pause --out /tmp/run
  locksim replay /tmp/run
  locksim replay /tmp/run --timeline
  locksim replay /tmp/run --until-step 404
  locksim replay /tmp/run/run.json --mode check --until-step 404`,
		Args: exactly(1, "one file or folder, such as DIR/run.json or DIR"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(cmd.Flags().Changed("until-step")); err != nil {
				return err
			}
			return f.run(s, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", "", "fencing `MODE` of the run to stop (default: that of the run that ended worst)")
	flags.IntVar(&f.until, "until-step", 0, "stop after step `N` of the trace and print the world")
	flags.BoolVar(&f.timeline, "timeline", false, "print the run step by step: a narrow column for each client and node")
	flags.BoolVar(&f.json, "json", false, "print one JSON document; see locksim schema run, and schema state for "+
		"--until-step")
	completion{s.Roster}.flags(cmd)
	return cmd
}

// validate refuses --mode without --until-step, a step below 1, and two forms of one answer. stops says that a step was
// given.
func (f replayFlags) validate(stops bool) error {
	switch {
	case stops && f.until < 1:
		return fmt.Errorf("--until-step %d: steps count from 1: give a number from 1", f.until)
	case f.mode != "" && !stops:
		return fmt.Errorf("--mode %s: also name the step to stop at, with --until-step and a number from 1",
			console.Quote(f.mode))
	case stops && f.timeline:
		return errors.New("--until-step and --timeline: choose one: the world at one step, or all steps")
	}
	return oneForm(map[string]bool{"--json": f.json, "--timeline": f.timeline})
}

func (f replayFlags) run(s *shell, name string) error {
	r, err := readRecording(name)
	if err != nil {
		return err
	}
	if f.until != 0 {
		return inspect(s, r, f)
	}
	return replayAgain(s, r, f)
}

// replayAgain repeats the run and confirms that it is the same.
func replayAgain(s *shell, r *recording, f replayFlags) error {
	o, err := replayed(s, r)
	mended := ""
	if _, differs := errors.AsType[*outcome.ReplayError](err); differs {
		if mended = r.run.Mended(outcome.NewRunFile(o)); mended != "" {
			err = nil
		}
	}
	if err != nil {
		return r.failed(err, "replay", s.Command()+" replay "+console.Quote(r.name))
	}
	if err := f.show(s, o, mended); err != nil {
		return err
	}
	if mended == "" && r.run.Failed() {
		return console.ErrUnexpected
	}
	return nil
}

// show prints a run that was made again. mended says that it does not break the lock any more.
func (f replayFlags) show(s *shell, o *outcome.Outcome, mended string) error {
	opt := reports.Options{Colour: s.Colour(console.IsTerminal), Repeat: outcome.Twice}
	switch {
	case f.json:
		s.Note(mended)
		return s.PrintJSON(outcome.NewRunFile(o))
	case mended != "":
		if _, err := fmt.Fprintln(s.Out, mended); err != nil || !f.timeline {
			return s.Print(err)
		}
	}
	if f.timeline {
		return s.Print(terminal.Timeline(s.Out, o, opt))
	}
	return s.Print(terminal.Replayed(s.Out, o, opt))
}

func replayed(s *shell, r *recording) (*outcome.Outcome, error) {
	defer s.Busy(fmt.Sprintf("replaying %s with seed %d", r.run.Scenario, r.run.Seed))()
	return replay.Run(r.run, s.Extra, outcome.Twice)
}

// inspect stops the run at a step and prints the world.
func inspect(s *shell, r *recording, f replayFlags) error {
	mode := r.run.WorstMode()
	if f.mode != "" {
		var err error
		if mode, err = parseMode(f.mode); err != nil {
			return fmt.Errorf("--mode: %w", err)
		}
	}
	command := fmt.Sprintf("%s replay %s --mode %s --until-step %d", s.Command(), console.Quote(r.name), mode, f.until)
	sc, l, err := replay.Setup(r.run, s.Extra)
	if err != nil {
		return r.failed(err, "replay", command)
	}
	if mode.NeedsToken() && !l.Tokens {
		return fmt.Errorf("--mode %s: this mode needs fencing tokens, and lock %s mints none: choose %s", mode, l.Name,
			fence.None)
	}
	state, err := play.Inspect(sc, l, r.run.Seed, mode, f.until)
	if err != nil {
		return r.failed(err, "replay", command)
	}
	at := reports.Moment{Scenario: sc.Name, Lock: l.Name, Seed: r.run.Seed, Mode: mode}
	if f.json {
		return s.PrintJSON(newState(at, state))
	}
	return s.Print(terminal.State(s.Out, at, state, reports.Options{Colour: s.Colour(console.IsTerminal)}))
}

// recording is a stored run and the name of its file.
type recording struct {
	name string
	run  *outcome.RunFile
}

// maxStored limits the bytes of a stored run, far above the largest real one.
const maxStored = 16 << 20

func readRecording(name string) (*recording, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		dir := name
		name = runfiles.Path(dir)
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return nil, noRunIn(dir)
		}
	}
	if err := scenarioInstead(name, "a stored run is JSON, such as the run.json that locksim run "+
		"--out wrote"); err != nil {
		return nil, err
	}
	data, err := readStored(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the stored run: %w: give the run.json that locksim run --out wrote", err)
	}
	if len(data) > maxStored {
		return nil, &file.InputError{Pos: faults.Pos{File: name}, Msg: fmt.Sprintf("this is no stored run: it is longer "+
			"than %d MiB", maxStored>>20)}
	}
	run, err := outcome.ReadRunFile(name, data)
	if err != nil {
		return nil, err
	}
	return &recording{name: name, run: run}, nil
}

// scenarioInstead is an error if a file is a scenario where JSON is wanted: wanted says so.
func scenarioInstead(name, wanted string) error {
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
		return nil
	}
	return fmt.Errorf("%s is YAML, as scenarios are: %s; locksim run %[1]s plays a scenario", console.Quote(name), wanted)
}

// noRunIn is the error for a folder without run.json. It names the runs that a search has
// stored there.
func noRunIn(dir string) error {
	found, err := filepath.Glob(filepath.Join(globLiteral.Replace(dir), "found-*.json"))
	if err != nil || len(found) == 0 {
		return fmt.Errorf("cannot read the stored run: %s has no run.json: give the folder, or the run.json, that locksim "+
			"run --out wrote", console.Quote(dir))
	}
	return fmt.Errorf("%s has no run.json: name one of the runs in it, such as %s", console.Quote(dir),
		console.Quote(found[0]))
}

// globLiteral makes a pattern of a path that matches this path alone.
var globLiteral = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// readStored reads a file up to one byte above the limit, which shows that it is too
// long.
func readStored(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, maxStored+1))
}

// failed distinguishes a stored run that cannot be repeated, which is bad input, from
// one that differs when repeated. command is the command to report, verb the one of locksim in it.
func (r *recording) failed(err error, verb, command string) error {
	if errors.Is(err, subject.ErrUnknownLock) {
		return fmt.Errorf("%s: this stored run cannot be made again: %w\n%s", r.name, err,
			fmt.Sprintf(withOwnLock, r.run.Lock, verb, console.Quote(r.name)))
	}
	if _, ok := errors.AsType[*file.InputError](err); ok {
		return fmt.Errorf("%s: this stored run cannot be made again: %w", r.name, err)
	}
	return &console.BrokenError{Cause: err, Seed: fmt.Sprintf("seed %d", r.run.Seed), Replay: command}
}

// withOwnLock says how to build a command that has a lock of the user's, by the name of
// the lock, the command to give, and the name of its file.
const withOwnLock = `
If %s is a lock of your own, locksim init writes a command that has it into the folder locksimtest/sim
of your module. By hand, that is this main.go:

	//go:debug randseednop=0
	package main

	import (
		"os"

		"locksim/cmd/locksim/app"

		"yours" // your package: not of a test, with a function that returns the scenarios.Lock
	)

	func main() { os.Exit(app.Main(yours.Lock())) }

Then call it in place of locksim, in the folder of go.mod; if main.go is elsewhere, name its folder:

	go run ./locksimtest/sim %s %s`

// State is the world at one step, as replay --until-step --json prints it.
type State struct {
	// Scenario is the name of the scenario.
	Scenario string `json:"scenario"`
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Seed is the number that decides everything random of the run.
	Seed uint64 `json:"seed"`
	// Mode is the fencing mode of the run.
	Mode fence.Mode `json:"mode"`
	// Step is the number of the last event.
	Step int `json:"step"`
	// Event is the last event, for readers.
	Event string `json:"event" jsonschema:"minLength=0"`
	// Over says that the run has ended before the step that was asked for.
	Over bool `json:"over"`
	// VirtualSeconds is the virtual time since the start of the run.
	VirtualSeconds float64 `json:"virtual_seconds"`
	// Clients are the clients.
	Clients []ClientState `json:"clients"`
	// Nodes are the keys of each server.
	Nodes map[string][]KeyState `json:"nodes"`
	// Store are the registers of the store, for readers.
	Store []string `json:"store"`
	// HighestToken is the highest token that the store has seen; 0 for none.
	HighestToken uint64 `json:"highest_token"`
	// InFlight are the bytes under way.
	InFlight []Flight `json:"in_flight"`
}

// ClientState is a client at one step.
type ClientState struct {
	// Name is the name of the client.
	Name string `json:"name"`
	// Condition is running, paused or crashed.
	Condition string `json:"condition"`
	// Holds says whether it holds the lock, by the end of its lease.
	Holds bool `json:"holds"`
	// Believes says whether it acts as if it held the lock.
	Believes bool `json:"believes"`
	// Token is the token of its last grant; 0 for none.
	Token uint64 `json:"token"`
	// LeftSeconds is the time that its lease has left, by its own clock.
	LeftSeconds float64 `json:"left_seconds"`
}

// KeyState is a key of a server.
type KeyState struct {
	// Name is the key.
	Name string `json:"name" jsonschema:"minLength=0"`
	// TTLSeconds is the time that it has to live; 0 means no expiry.
	TTLSeconds float64 `json:"ttl_seconds"`
	// Value is its value, for readers.
	Value string `json:"value" jsonschema:"minLength=0"`
}

// Flight are bytes under way.
type Flight struct {
	// From is who has sent them.
	From string `json:"from"`
	// To is who is to receive them.
	To string `json:"to"`
	// Bytes is their number.
	Bytes int `json:"bytes"`
}

func newState(at reports.Moment, s *outcome.State) *State {
	f := &State{Scenario: at.Scenario, Lock: at.Lock, Seed: at.Seed, Mode: at.Mode,
		Step: s.Step, Event: s.Event, Over: s.Over, VirtualSeconds: s.At.Seconds(),
		Clients: []ClientState{}, Nodes: map[string][]KeyState{}, Store: append([]string{}, s.Store...),
		HighestToken: s.Highest, InFlight: []Flight{}}
	for _, c := range s.Clients {
		f.Clients = append(f.Clients, ClientState{c.Name, c.Condition, c.Holds, c.Believes, c.Token, c.Left.Seconds()})
	}
	for _, n := range s.Nodes {
		keys := []KeyState{}
		for _, k := range n.Keys {
			keys = append(keys, KeyState{k.Name, k.TTL.Seconds(), k.Value})
		}
		f.Nodes[n.Name] = keys
	}
	for _, l := range s.Flights {
		f.InFlight = append(f.InFlight, Flight{l.From, l.To, l.Bytes})
	}
	return f
}
