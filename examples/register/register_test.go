package register

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/cmd/locksim/app"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/outcome/sweeps"
	"locksim/sim"
	"locksim/sim/trace"
)

// underTest is a lock on one register, with the mistake if blind.
func underTest(name string, blind bool) scenarios.Lock {
	return scenarios.Lock{
		Name: name, Traits: scenarios.Traits{Promise: promise, FollowsSpec: true,
			Servers: []scenarios.Servers{{Kind: Kind(), Count: 1}},
			Keys:    func(resource string) []string { return []string{Key(resource)} }},
		New: func(e scenarios.Env) (lock.Locker, error) { return &locker{env: e, blind: blind}, nil },
	}
}

// promise: no two claims overlap, under any faults of clients, network and
// server: its disk stores each change before the reply, and its leases use a
// monotonic clock.
var promise = lock.Promise{Exclusion: []lock.Fault{
	lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultPartition, lock.FaultLatency,
	lock.FaultReset,
	lock.FaultStall, lock.FaultNodeCrash, lock.FaultNodePower, lock.FaultNodeClock, lock.FaultWallClock,
}}

// The variable commandInstead in the environment makes the test the command
// locksim with two more locks and one more kind of server.
const commandInstead = "REGISTER_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandInstead) != "" {
		os.Exit(app.Main(underTest("register", false), underTest("register-blind", true), likeRedis()))
	}
	os.Exit(m.Run())
}

// Random runs with pauses, partitions, crashes and restarts, and with stalls
// and clock jumps of the server.
func TestRegister(t *testing.T) {
	scenarios.Check(t, underTest("register", false), scenarios.Options{Runs: 400, Seed: 1})
}

// A scenario file names the server and its faults.
func TestScenarioFile(t *testing.T) {
	for _, run := range []struct {
		lock string
		code int
	}{{"register", 0}, {"register-blind", 1}} {
		cmd := exec.Command(os.Args[0], "run", "server-trouble.yaml", "--lock", run.lock, "--seed", "5")
		cmd.Env = append(os.Environ(), commandInstead+"=1")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != run.code {
			t.Errorf("%v: exit code %d, want %d:\n%s", cmd.Args[1:], code, run.code, out)
		}
	}
}

// 200 runs of one seed are the same, with any number of processors.
func TestRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	l := underTest("register", false)
	sc := parse(t, l)
	var first *scenarios.ModeRun
	for i := range 200 {
		runtime.GOMAXPROCS(1 + i%4)
		o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 3, Modes: []fence.Mode{fence.None}, Alone: true})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = &o.Modes[0]
		}
		if d := trace.Diff(first.Trace, o.Modes[0].Trace); d != nil {
			t.Fatalf("run %d differs: %v", i+1, d)
		}
	}
	t.Logf("%d events in each run", first.Trace.Len())
}

// In the scenario of the file the lock with the mistake releases the lock of
// another client, which the ground truth shows.
func TestBlindRelease(t *testing.T) {
	l := underTest("register-blind", true)
	found := 0
	for seed := range uint64(20) {
		o, err := scenarios.Run(parse(t, l), l, scenarios.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None},
			Alone: true})
		if err != nil {
			t.Fatal(err)
		}
		if f := o.Modes[0].Verdict.Facts; f.ForeignReleases > 0 &&
			o.Modes[0].Verdict.Label.Severity() > checker.Safe.Severity() {
			found++
		}
	}
	if found == 0 {
		t.Error("the blind release was not found in 20 seeds")
	}
}

// Check finds the mistake too.
func TestBlindIsFound(t *testing.T) {
	const alone = "REGISTER_ALONE"
	if os.Getenv(alone) != "" {
		scenarios.Check(t, underTest("register-blind", true), scenarios.Options{Runs: 400, Seed: 1, Dir: t.TempDir()})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestBlindIsFound$")
	cmd.Env = append(os.Environ(), alone+"=1")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(string(out), "register-blind fails") {
		t.Errorf("exit code %d, want 1 and a failure:\n%s", code, out)
	}
}

func parse(t *testing.T, l scenarios.Lock) *scenarios.Scenario {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(".", "server-trouble.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	sc, err := scenarios.Parse("server-trouble.yaml", data, l)
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// renamed are registers whose names begin like those of Redis servers: reg0.
type renamed struct{}

// Build implements sim.Kind.
func (renamed) Build(b *sim.Builder) {
	b.Add("reg0", Port, func(node *sim.Node) sim.Server { return &server{node: node, disk: map[string]entry{}} })
}

// elsewhere is an environment in which k0 is called reg0.
type elsewhere struct{ scenarios.Env }

func (e elsewhere) Address(string) string { return e.Env.Address("reg0") }

// likeRedis is the lock on such a register.
func likeRedis() scenarios.Lock {
	l := underTest("register-reg", false)
	l.Servers = []scenarios.Servers{{Kind: scenarios.ServerKind{Facts: scenarios.ServerFacts{Name: "reg", Prefix: "reg"},
		Make: func(int) sim.Kind { return renamed{} }}, Count: 1}}
	l.New = func(e scenarios.Env) (lock.Locker, error) { return &locker{env: elsewhere{e}}, nil }
	return l
}

// A sweep strikes a server of one's own, by whatever name, and does not take it for Redis: its scripts are not flushed.
// Kinds were once told by the first letter of a name.
func TestSweep(t *testing.T) {
	for lock, server := range map[string]string{"register": "k0", "register-reg": "reg0"} {
		cmd := exec.Command(os.Args[0], "sweep", "gc-pause", "--lock", lock, "--faults",
			"node-crash,node-clock,scripts,evict,read_only", "--json", "--quiet")
		cmd.Env = append(os.Environ(), commandInstead+"=1")
		out, err := cmd.Output()
		var got struct {
			Plan    sweeps.Plan
			Summary struct {
				Violating int
				Kinds     map[string]struct{ Struck int }
			}
		}
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args[1:], err, out)
		}
		if s := got.Plan.Servers; len(s) != 1 || s[0].Name != server || s[0].Role != "single" || s[0].Placements == 0 {
			t.Errorf("%s: struck are %+v", lock, s)
		}
		if got.Summary.Violating > 0 || got.Summary.Kinds["node-crash"].Struck == 0 ||
			got.Summary.Kinds["clock_jump"].Struck == 0 {
			t.Errorf("%s: %+v", lock, got.Summary)
		}
		want := "scripts, evict, read-only, error_reply on " + server + ": " + got.Plan.Servers[0].Kind +
			" servers have nothing that this could strike"
		if left := got.Plan.NotPlaced(); !slices.Equal(left, []string{want}) {
			t.Errorf("%s: not placed are %q, want %q", lock, left, want)
		}
		t.Logf("%s: %+v, struck %v", lock, got.Plan.Servers, got.Summary.Kinds)
	}
}
