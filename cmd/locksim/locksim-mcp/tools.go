package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const instructions = `locksim runs real distributed-lock code in a deterministic virtual world full of faults, and says whether mutual
exclusion held, what broke if it did not, and whether a fence at the store would have protected the data.

Start with list (scenarios, locks), then run a scenario, or explore: it draws random schedules until one breaks the lock,
and makes it minimal. Its files are for explain (the verdict, the reasons, the timeline) and replay (the same run again;
with until_step the world at one step). After a change of the lock, replay says whether the failure is gone.

The same arguments give the same document, but for its field timing. An exit code of 1 is a finding, not an error. A pass
is no proof: summary.evidence counts the runs that tried the lock, and summary.rate_bound_95 bounds the rate of violations.
Labels: safe; rescued (the fence refused what would have done harm); corrupted (an acknowledged write was lost); overlap
(two had the lock, without harm); stuck (no client can get it any more). Fields that end in _seconds are virtual time.`

func newServer(p *program) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "locksim", Title: "locksim", Version: "1"},
		&mcp.ServerOptions{Instructions: instructions})
	add := func(name, title, text string) *mcp.Tool {
		return &mcp.Tool{Name: name, Title: title, Description: text, Annotations: &mcp.ToolAnnotations{Title: title,
			ReadOnlyHint: true, IdempotentHint: true}}
	}
	mcp.AddTool(s, add("list", "What there is", "What locksim has: without part the names of everything, with part all "+
		"about one kind. Documents: schema list."), p.list)
	mcp.AddTool(s, add("run", "Play a scenario", "Play a scenario with a lock, under each fencing mode, and judge it. "+
		"It is stored. Document: schema run."), p.run)
	mcp.AddTool(s, add("explore", "Search for a failure", "Play random schedules of faults until one breaks the lock, "+
		"and make it minimal. What is found is stored. Document: schema explore."), p.explore)
	mcp.AddTool(s, add("replay", "Make a run again", "Make a stored run again and confirm that it is the same, or, "+
		"after a change of the lock, that it is safe now. With until_step: the world at that step. Documents: schema run, "+
		"schema state."), p.replay)
	mcp.AddTool(s, add("explain", "Explain a failure", "Why a stored run ended as it did: the verdict and the reasons "+
		"of each mode, and the timeline of the run, step by step."), p.explain)
	return s
}

// Listing is the input of list.
type Listing struct {
	Part string `json:"part,omitempty" jsonschema:"scenarios, locks, specimens (locks that are wrong on purpose), faults, servers, fencing, failure_modes or commands; without it only names"`
}

func (p *program) list(ctx context.Context, _ *mcp.CallToolRequest, in Listing) (*mcp.CallToolResult, Answer, error) {
	a, err := p.call(ctx, "list", "--json")
	if err != nil {
		return nil, a, err
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(a.Document.(json.RawMessage), &parts); err != nil {
		return nil, a, err
	}
	if in.Part != "" {
		text, ok := parts[in.Part]
		if !ok {
			return nil, a, fmt.Errorf("part %q: choose one of %s", in.Part, strings.Join(slices.Sorted(maps.Keys(parts)), ", "))
		}
		a.Document = map[string]any{in.Part: text}
		return nil, a, nil
	}
	names := map[string][]string{}
	for part, text := range parts {
		var entries []struct{ ID, Name string }
		if err := json.Unmarshal(text, &entries); err != nil {
			continue // no list of things with names
		}
		names[part] = []string{}
		for _, e := range entries {
			names[part] = append(names[part], strings.TrimSpace(e.ID+" "+e.Name))
		}
	}
	a.Document = names
	return nil, a, nil
}

// Run is the input of run.
type Run struct {
	Scenario string `json:"scenario,omitempty" jsonschema:"the name of a scenario, such as gc-pause, or a file"`
	YAML     string `json:"yaml,omitempty" jsonschema:"a scenario itself, in place of a name; locksim schema scenario has its keys"`
	Lock     string `json:"lock,omitempty" jsonschema:"the lock; without it that of the scenario"`
	Seed     uint64 `json:"seed,omitempty" jsonschema:"decides everything that is random; without it 1"`
	Fencing  string `json:"fencing,omitempty" jsonschema:"fencing modes, with commas, such as none,seal"`
}

func (p *program) run(ctx context.Context, _ *mcp.CallToolRequest, in Run) (*mcp.CallToolResult, Answer, error) {
	if (in.Scenario == "") == (in.YAML == "") {
		return nil, Answer{}, errors.New("give either scenario, the name of one, or yaml, its text")
	}
	dir, err := p.folder("run")
	if err != nil {
		return nil, Answer{}, err
	}
	name := in.Scenario
	if in.YAML != "" {
		name = filepath.Join(dir, "scenario.yaml")
		if err := os.WriteFile(name, []byte(in.YAML), 0o644); err != nil {
			return nil, Answer{}, err
		}
	}
	args := []string{"run", "--json", "--out", dir}
	args = flagOf(args, "--lock", in.Lock)
	args = flagOf(args, "--fencing", in.Fencing)
	if in.Seed != 0 {
		args = flagOf(args, "--seed", strconv.FormatUint(in.Seed, 10))
	}
	return p.storing(ctx, dir, "run.json", append(args, "--", name))
}

// Exploration is the input of explore.
type Exploration struct {
	Lock     string `json:"lock" jsonschema:"the lock to explore"`
	Faults   string `json:"faults,omitempty" jsonschema:"only faults of these classes or kinds, with commas; none for no faults"`
	Runs     int    `json:"runs,omitempty" jsonschema:"how many runs to make at most; without it 1000"`
	FromSeed uint64 `json:"from_seed,omitempty" jsonschema:"the seed of the first run; without it 1"`
	Promise  bool   `json:"promise,omitempty" jsonschema:"judge the lock by its own promise, and not for everything"`
	All      bool   `json:"all,omitempty" jsonschema:"make all runs, and show one violation of each kind"`
}

func (p *program) explore(ctx context.Context, _ *mcp.CallToolRequest,
	in Exploration) (*mcp.CallToolResult, Answer, error) {
	dir, err := p.folder("explore")
	if err != nil {
		return nil, Answer{}, err
	}
	const usual = 1000
	runs := in.Runs
	if runs == 0 {
		runs = usual
	}
	args := []string{"explore", "--json", "--quiet", "--out", dir, "--runs", strconv.Itoa(runs)}
	args = flagOf(args, "--lock", in.Lock)
	args = flagOf(args, "--faults", in.Faults)
	if in.FromSeed != 0 {
		args = flagOf(args, "--from-seed", strconv.FormatUint(in.FromSeed, 10))
	}
	if in.Promise {
		args = append(args, "--promise")
	}
	if in.All {
		args = append(args, "--all")
	}
	return p.storing(ctx, dir, "found-*.json", args)
}

// storing calls the command and says what it has stored in a folder.
func (p *program) storing(ctx context.Context, dir, pattern string,
	args []string) (*mcp.CallToolResult, Answer, error) {
	a, err := p.call(ctx, args...)
	if err != nil {
		return nil, a, err
	}
	a.Folder = dir
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil, a, err
	}
	for _, f := range found {
		if ok, _ := filepath.Match(pattern, f.Name()); ok {
			a.Files = append(a.Files, filepath.Join(dir, f.Name()))
		}
	}
	return nil, a, nil
}

// Replay is the input of replay.
type Replay struct {
	File      string `json:"file" jsonschema:"a stored run, as run and explore name it in files"`
	UntilStep int    `json:"until_step,omitempty" jsonschema:"stop after this step of the trace, and show the world there"`
	Mode      string `json:"mode,omitempty" jsonschema:"with until_step: the fencing mode; without it that of the run that ended worst"`
}

func (p *program) replay(ctx context.Context, _ *mcp.CallToolRequest, in Replay) (*mcp.CallToolResult, Answer, error) {
	args := []string{"replay", "--json"}
	args = flagOf(args, "--mode", in.Mode)
	if in.UntilStep != 0 {
		args = flagOf(args, "--until-step", strconv.Itoa(in.UntilStep))
	}
	a, err := p.call(ctx, append(args, "--", in.File)...)
	return nil, a, err
}

// Explanation is the input of explain.
type Explanation struct {
	File string `json:"file" jsonschema:"a stored run, as run and explore name it in files"`
}

func (p *program) explain(ctx context.Context, _ *mcp.CallToolRequest,
	in Explanation) (*mcp.CallToolResult, Answer, error) {
	a, err := p.call(ctx, "replay", "--json", "--", in.File)
	if err != nil {
		return nil, a, err
	}
	timeline, _, _, err := p.output(ctx, "replay", "--timeline", "--", in.File)
	a.Timeline = string(timeline)
	return nil, a, err
}

// flagOf adds a flag with its value, unless that is empty.
func flagOf(args []string, flag, value string) []string {
	if value == "" {
		return args
	}
	return append(args, flag+"="+value)
}
