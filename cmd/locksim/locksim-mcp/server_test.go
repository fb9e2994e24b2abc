package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asServer makes the test program a server, and asLocksim a locksim that says how it was called.
const (
	asServer  = "LOCKSIM_MCP_SERVER"
	asLocksim = "LOCKSIM_MCP_FAKE"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asLocksim) != "":
		fake(os.Args[1:])
	case os.Getenv(asServer) != "":
		main()
	default:
		os.Exit(m.Run())
	}
}

// fake stands for locksim: it prints its arguments as a document.
func fake(args []string) {
	switch {
	case args[0] == "list":
		_, _ = os.Stdout.WriteString(
			`{"version": 1, "locks": [{"name": "single", "tokens": false}], "failure_modes": [{"id": "F01", "name": "crash"}]}`)
	case args[len(args)-1] == "nowhere":
		_, _ = os.Stderr.WriteString("locksim: there is no scenario nowhere: did you mean anywhere?")
		os.Exit(2)
	case args[len(args)-1] == "lost":
		_, _ = os.Stdout.WriteString("no document")
	default:
		if args[0] == "explore" {
			_ = os.WriteFile(filepath.Join(args[4], "found-1.json"), []byte("{}"), 0o644)
		}
		_ = json.NewEncoder(os.Stdout).Encode(args)
		os.Exit(1)
	}
	os.Exit(0)
}

// connect starts the server, as an agent does, and connects the client of the SDK to it.
func connect(t *testing.T, out string, env string, command ...string) *mcp.ClientSession {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, append([]string{"-out", out}, command...)...)
	cmd.Env = append(os.Environ(), asServer+"=1", env)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call calls a tool. wrong says that it has returned an error, which is the text then.
func call(t *testing.T, session *mcp.ClientSession, tool string,
	args map[string]any) (a Answer, text string, wrong bool) {
	t.Helper()
	r, err := session.CallTool(context.WithoutCancel(t.Context()), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text = r.Content[0].(*mcp.TextContent).Text
	if !r.IsError {
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatalf("%s: %v: %s", tool, err, text)
		}
	}
	return a, text, r.IsError
}

// Each tool calls the command with its flags, and hands on its document, its exit code and its errors.
func TestTools(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	// The fake is called through env, since the server itself must not be one.
	session := connect(t, out, "", "env", asLocksim+"=1", self)
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 5 {
		t.Fatalf("%v: %v", tools, err)
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		want string // the arguments of the command, or a part of the error
	}{
		{"run", map[string]any{"scenario": "gc-pause", "lock": "single", "seed": 7, "fencing": "none,seal"},
			"run --json --out OUT/run-1 --lock=single --fencing=none,seal --seed=7 -- gc-pause"},
		{"run", map[string]any{"yaml": "name: mine"}, "run --json --out OUT/run-2 -- OUT/run-2/scenario.yaml"},
		{"explore", map[string]any{"lock": "single", "faults": "pause", "promise": true, "all": true, "from_seed": 9},
			"explore --json --quiet --out OUT/explore-3 --runs 1000 --lock=single --faults=pause --from-seed=9 --promise --all"},
		{"replay", map[string]any{"file": "-x.json", "until_step": 5, "mode": "none"},
			"replay --json --mode=none --until-step=5 -- -x.json"},
		{"explain", map[string]any{"file": "x.json"}, "replay --json -- x.json"},
	} {
		a, text, wrong := call(t, session, c.tool, c.args)
		var words []string
		for _, word := range asList(a.Document) {
			words = append(words, strings.ReplaceAll(word, out, "OUT"))
		}
		if got := strings.Join(words, " "); wrong || got != c.want || a.ExitCode != 1 ||
			!strings.HasPrefix(a.Meaning, "a violation") {
			t.Errorf("%s %v: %q\n%s", c.tool, c.args, got, text)
		}
		if c.tool == "explore" && (len(a.Files) != 1 || filepath.Base(a.Files[0]) != "found-1.json") {
			t.Errorf("files: %v", a.Files)
		}
		if c.tool == "explain" && !strings.Contains(a.Timeline, "--timeline") {
			t.Errorf("timeline: %q", a.Timeline)
		}
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"run", map[string]any{"scenario": "nowhere"}, "exit code 2: locksim: there is no scenario nowhere: did you mean " +
			"anywhere?"},
		{"run", map[string]any{"scenario": "lost"}, "has printed no document"},
		{"run", map[string]any{}, "give either scenario, the name of one, or yaml, its text"},
		{"list", map[string]any{"part": "keys"}, `part "keys": choose one of failure_modes, locks, version`},
	} {
		if _, text, wrong := call(t, session, c.tool, c.args); !wrong || !strings.Contains(text, c.want) {
			t.Errorf("%s %v: %s", c.tool, c.args, text)
		}
	}
	if _, text, wrong := call(t, session, "list", nil); wrong ||
		!strings.Contains(text, `"document":{"failure_modes":["F01 crash"],"locks":["single"]}`) {
		t.Errorf("list: %s", text)
	}
	if _, text, wrong := call(t, session, "list", map[string]any{"part": "locks"}); wrong ||
		!strings.Contains(text, `"document":{"locks":[{"name":"single","tokens":false}]}`) {
		t.Errorf("list of locks: %s", text)
	}
}

func asList(document any) []string {
	all, _ := document.([]any)
	var words []string
	for _, word := range all {
		words = append(words, word.(string))
	}
	return words
}

// Without locksim in PATH the server says what to do.
func TestNoLocksim(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := serve(t.Context(), t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "put locksim into PATH") {
		t.Errorf("got %v", err)
	}
}

// With locksim itself a failure is found, made again, and explained. make soak builds it; LOCKSIM names one.
func TestLocksim(t *testing.T) {
	locksim := os.Getenv("LOCKSIM")
	if locksim == "" && os.Getenv("LOCKSIM_SOAK") == "" {
		t.Skip("it builds the command: make soak does it, LOCKSIM_SOAK is not set")
	}
	if locksim == "" {
		locksim = filepath.Join(t.TempDir(), "locksim")
		if out, err := exec.CommandContext(t.Context(), "go", "-C", "../../..", "build", "-o", locksim,
			"./cmd/locksim").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	session := connect(t, t.TempDir(), "", locksim)
	found, text, wrong := call(t, session, "explore", map[string]any{"lock": "single", "faults": "pause", "runs": 200})
	if wrong || found.ExitCode != 1 || len(found.Files) != 1 || !strings.Contains(text, "corrupted in mode none: pause") {
		t.Fatal(text)
	}
	file := map[string]any{"file": found.Files[0]}
	if again, text, wrong := call(t, session, "replay", file); wrong || again.ExitCode != 0 ||
		!strings.Contains(text, `"verdict":"corrupted"`) {
		t.Error(text)
	}
	if why, text, wrong := call(t, session, "explain", file); wrong || !strings.Contains(text, `"reasons":["`) ||
		!strings.Contains(why.Timeline, "PAUSED for") {
		t.Error(text)
	}
	if _, text, wrong := call(t, session, "replay", map[string]any{"file": found.Files[0], "until_step": 20}); wrong ||
		!strings.Contains(text, `"believes":`) {
		t.Error(text)
	}
	if _, text, wrong := call(t, session, "run", map[string]any{"scenario": "gc-puse"}); !wrong ||
		!strings.Contains(text, "gc-pause") {
		t.Error(text)
	}
}
