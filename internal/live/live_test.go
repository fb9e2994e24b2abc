//go:build linux

package live_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/live"
	"locksim/internal/live/server"
	"locksim/internal/soak"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sentinellocks"
	"locksim/scenarios/subject"
)

func TestMain(m *testing.M) {
	if live.Child(locks()...) {
		return
	}
	if os.Getenv(asCommand) != "" {
		playForever()
		return
	}
	os.Exit(m.Run())
}

// locks are those of the tests, in the processes of their clients too.
func locks() []subject.Lock {
	dies := subject.Lock{Name: "dies", New: func(subject.Env) (lock.Locker, error) { return dying{}, nil }}
	return slices.Concat(etcdlocks.All(), sentinellocks.All(), clusterlocks.All(), []subject.Lock{dies})
}

// dying is a lock whose process ends when it is asked for.
type dying struct{}

func (dying) Acquire(context.Context, string) (lock.Lease, error) { panic("this lock dies") }

// require skips a test whose servers are not installed, or fails it where they have to be.
func require(t *testing.T, kind server.Kind) {
	t.Helper()
	if err := server.Missing(kind); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
			t.Fatalf("%v, and LOCKSIM_REQUIRE_LIVE=1 asks for it", err)
		}
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
}

// session is a session for a test.
func session(t *testing.T) *live.Session {
	t.Helper()
	s, err := live.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// load reads a scenario of the library and a lock.
func load(t *testing.T, scenario, lock string) (*file.Scenario, subject.Lock) {
	t.Helper()
	sc, err := file.Load(scenario)
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Find(lock, locks())
	if err != nil {
		t.Fatal(err)
	}
	return sc, l
}

// scale is that of the tests: a machine with other work to do is late by tens of milliseconds, a small part of a lease.
const scale = 0.2

// steady makes runs, at last slower ones, until the machine was never too late for the scenario: what it shows
// otherwise is the machine.
func steady(t *testing.T, s *live.Session, sc *file.Scenario, l subject.Lock, modes ...fence.Mode) *outcome.Outcome {
	t.Helper()
	for _, slower := range []float64{1, 1, 2, 4} {
		out, err := s.Run(context.Background(), sc, l, live.Options{Seed: 1, Modes: modes, Scale: slower * scale})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(out.Modes, func(m outcome.ModeRun) bool { return m.Late > out.Scenario.LateLimit() }) {
			return out
		}
	}
	t.Skip("the machine has too much other work to do: in four runs it was late by a tenth of a lease or of a timeout")
	return nil
}

// liveRun is the scenario that make test plays. It is played again once before the test fails: what else the machine
// does may have made the difference.
const liveRun = "gc-pause"

// The scenarios end on real Redis servers as in the simulated world: with a label that some seed shows there. They
// mostly sleep, so all are played at once. One of them is played without LOCKSIM_SOAK.
func TestRedis(t *testing.T) {
	require(t, server.Redis)
	s := session(t)
	t.Run("all", func(t *testing.T) {
		for _, name := range []string{liveRun, "partition-holder", "late-packet", "failover-before-replication",
			"holder-crash", "flushall", "forced-unlock", "lost-reply", "pause-in-acquire"} {
			t.Run(name, func(t *testing.T) {
				if name != liveRun {
					soak.RealTime(t)
				}
				t.Parallel()
				sc, l := load(t, name, "fenced")
				seen := simulated(t, sc, l, 5, fence.None, fence.Seal)
				wrong := unlike(seen, steady(t, s, sc, l, fence.None, fence.Seal))
				if len(wrong) > 0 && name == liveRun {
					t.Logf("played again, since the first run differs:\n%s", strings.Join(wrong, "\n"))
					wrong = unlike(seen, steady(t, s, sc, l, fence.None, fence.Seal))
				}
				for _, text := range wrong {
					t.Error(text)
				}
			})
		}
	})
}

// simulated are the labels of so many seeds in the simulated world.
func simulated(
	t *testing.T, sc *file.Scenario, l subject.Lock, seeds uint64, modes ...fence.Mode,
) (seen map[fence.Mode][]checker.Label) {
	t.Helper()
	seen = map[fence.Mode][]checker.Label{}
	for seed := range seeds {
		o, err := play.Run(sc, l, play.RunOptions{Seed: seed + 1, Modes: modes})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range o.Modes {
			seen[m.Mode] = append(seen[m.Mode], m.Verdict.Label)
		}
	}
	return seen
}

// Real Sentinels replace a primary under a lock as those of the simulated world do. They do it at their own pace, so
// that the durations are those of the files. Without LOCKSIM_SOAK=1 it is one scenario.
func TestSentinels(t *testing.T) {
	soak.RealTime(t)
	require(t, server.Sentinel)
	s := session(t)
	t.Run("all", func(t *testing.T) {
		for _, name := range []string{
			"sentinel-failover", "sentinel-operator", "sentinel-min-replicas", "sentinel-hasty", "sentinel-old-primary-returns",
			"sentinel-split-brain", "sentinel-no-majority", "sentinel-tilt", "sentinel-old-release",
		} {
			if os.Getenv("LOCKSIM_SOAK") != "1" && name != "sentinel-operator" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				sc, err := file.Load(name)
				if err != nil {
					t.Fatal(err)
				}
				l, err := redislocks.Find(sc.Lock.Kind, locks())
				if err != nil {
					t.Fatal(err)
				}
				seen := simulated(t, sc, l, 20, fence.None)
				out, err := s.Run(t.Context(), sc, l, live.Options{Seed: 1, Modes: []fence.Mode{fence.None}, Scale: 1})
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range unlike(seen, out) {
					t.Error(text)
				}
			})
		}
	})
}

// Real nodes of a Redis Cluster replace a primary under a lock, and move its slot, as those of the simulated world do.
// They do it at their own pace, so that the durations are those of the files. Without LOCKSIM_SOAK=1 it is one
// scenario. cluster-crossslot is not here: a live run does not judge that a release fails. A run that differs is made
// again twice, and the test is skipped if the machine was late in the last one.
func TestClusters(t *testing.T) {
	soak.RealTime(t)
	require(t, server.Cluster)
	s := session(t)
	for _, name := range []string{
		"cluster-moved-release", "cluster-failover", "cluster-takeover", "cluster-agreed-failover",
		"cluster-paused-primary", "cluster-cut", "cluster-grant-lost", "cluster-minority-heals", "cluster-moved-slot",
		"cluster-other-shard", "cluster-empty-primary", "cluster-evalsha", "cluster-redlock", "cluster-old-map",
	} {
		if os.Getenv("LOCKSIM_SOAK") != "1" && name != "cluster-moved-release" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			sc, err := file.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			l, err := redislocks.Find(sc.Lock.Kind, locks())
			if err != nil {
				t.Fatal(err)
			}
			seen := simulated(t, sc, l, 20, fence.None)
			var wrong []string
			for range 3 {
				out, err := s.Run(t.Context(), sc, l, live.Options{Seed: 1, Modes: []fence.Mode{fence.None}, Scale: 1})
				if err != nil {
					t.Fatal(err)
				}
				late := out.Modes[0].Late
				if wrong = unlike(seen, out); len(wrong) == 0 {
					return
				}
				if t.Logf("the machine was late by %v:\n%s", late, strings.Join(wrong, "\n")); late > out.Scenario.LateLimit() {
					wrong = nil
				}
			}
			if wrong == nil {
				t.Skip("the machine has too much other work to do")
			}
			t.Error(strings.Join(wrong, "\n"))
		})
	}
}

// unlike says how a live run differs from those of the simulated world, which have ended with these labels.
func unlike(seen map[fence.Mode][]checker.Label, out *outcome.Outcome) (wrong []string) {
	if never := out.NeverFired(); len(never) > 0 {
		wrong = append(wrong, fmt.Sprintf("faults %v did not strike", never))
	}
	for _, m := range out.Modes {
		if why := strings.Join(m.NotPlayed, ""); why != "" || m.Trace.Len() == 0 || m.Virtual == 0 {
			wrong = append(wrong, fmt.Sprintf("mode %s: %d events in %v, not played: %s", m.Mode, m.Trace.Len(), m.Virtual, why))
		}
		if slices.Contains(seen[m.Mode], m.Verdict.Label) {
			continue
		}
		text := fmt.Sprintf("mode %s: %s, in the simulated world %v: %v", m.Mode, m.Verdict.Label, seen[m.Mode],
			m.Verdict.Reasons)
		for _, line := range m.Story {
			text += fmt.Sprintf("\n%10v %3d %-5s %s", line.At.Round(time.Microsecond), line.N, line.Actor, line.Text)
		}
		wrong = append(wrong, text)
	}
	return wrong
}

// A fault that strikes at an event strikes between that event and the client's next step.
func TestStrikesAtTheEvent(t *testing.T) {
	soak.RealTime(t)
	require(t, server.Redis)
	sc, l := load(t, "gc-pause", "fenced")
	out := steady(t, session(t), sc, l, fence.None)
	var own []string
	for _, e := range out.Modes[0].Trace.Events {
		if e.Actor == "c0" || e.Peer == "c0" && e.Actor == "world" {
			own = append(own, e.Kind())
		}
	}
	at := slices.Index(own, "pause")
	if at < 1 || own[at-1] != "read" || at+2 > len(own) || !slices.Contains([]string{"until", "resume"}, own[at+1]) {
		t.Errorf("around the pause c0 has %v", own)
	}
}

// A fault of the leader strikes the member that leads, and the restart after it starts the same one.
func TestLeader(t *testing.T) {
	soak.RealTime(t)
	t.Parallel()
	require(t, server.Etcd)
	sc, l := load(t, "etcd-leader-crash", "etcd")
	out, err := session(t).Run(t.Context(), sc, l, live.Options{Seed: 1, Modes: []fence.Mode{fence.None}, Scale: scale})
	if err != nil {
		t.Fatal(err)
	}
	m := out.Modes[0]
	if why := strings.Join(m.NotPlayed, ""); why != "" {
		t.Errorf("not played: %s", why)
	}
	var whom []string
	for _, e := range m.Trace.Events {
		if kind := e.Kind(); kind == "crash" || kind == "restart" {
			whom = append(whom, kind+" "+e.Peer)
		}
	}
	if len(whom) != 2 || !strings.HasPrefix(whom[0], "crash e") ||
		whom[1] != strings.Replace(whom[0], "crash", "restart", 1) {
		t.Errorf("the world has %q", whom)
	}
}

// A lease outlives the call that has asked for it, also if it ends with the context of that call: the watchdog of this
// lock does, and renews for ever after a release that was lost.
func TestOutlivesItsAcquire(t *testing.T) {
	soak.RealTime(t)
	t.Parallel()
	require(t, server.Redis)
	sc, l := load(t, "watchdog-stop-lost", "broken/watchdog-stop-lost")
	if m := steady(t, session(t), sc, l, fence.None).Modes[0]; m.Verdict.Label != checker.Stuck {
		t.Errorf("it ends %s: %v", m.Verdict.Label, m.Verdict.Reasons)
	}
}

// A grant of a session whose end its process knew before the last answer is void, live too. It is known of a session
// that an earlier grant had, and here the client of etcd gives its session up while it waits.
func TestGrantAfterItsSession(t *testing.T) {
	soak.RealTime(t)
	t.Parallel()
	require(t, server.Etcd)
	sc, err := file.Parse("void.yaml", []byte(`name: void
world: {etcd: 3, clients: 2, latency: 1ms}
lock: {kind: etcd-election, ttl: 10s, backoff: 100ms}
workload: {rounds: 2, hold: 6s, stagger: 1s, checks_until: never}
faults:
  - when: {client: c0, event: granted, nth: 2} # c1 has asked once more
    after: 2s
    partition: {between: [c1], and: [e0, e1, e2], for: 25s}
`), subject.ServerNames(locks()...)...)
	if err != nil {
		t.Fatal(err)
	}
	m := steady(t, session(t), sc, etcdlocks.Election(), fence.None).Modes[0]
	if m.Verdict.Label != checker.Void || m.Verdict.Facts.VoidGrants != 1 {
		t.Errorf("it ends %s, with %d void grants", m.Verdict.Label, m.Verdict.Facts.VoidGrants)
	}
}

// A server without power answers nothing for a client that comes later either, such as the one that asks at the end: a
// dial that was refused would let a lock go on at once.
func TestDarkForNewcomers(t *testing.T) {
	soak.RealTime(t)
	t.Parallel()
	require(t, server.Redis)
	sc, l := load(t, "redlock-dead-node", "broken/redlock-one-by-one")
	sc.Workload.Rounds = 1
	if m := steady(t, session(t), sc, l, fence.None).Modes[0]; m.Verdict.Label != checker.Stuck {
		t.Errorf("it ends %s: %v", m.Verdict.Label, m.Verdict.Reasons)
	}
}

// A server whose power has failed serves clients again after its restart, and not only when the network is healed in
// the end.
func TestBackFromPowerFailure(t *testing.T) {
	soak.RealTime(t)
	t.Parallel()
	require(t, server.Redis)
	sc, l := load(t, "process-crash-everysec", "single")
	sc.World.Persistence = file.PersistNone
	for i, f := range sc.Faults {
		if crash, ok := f.Action.(faults.Crash); ok {
			crash.Mode = faults.CrashPower
			sc.Faults[i].Action = crash
		}
	}
	m := steady(t, session(t), sc, l, fence.None).Modes[0]
	if n := m.Verdict.Facts.Grants; n != 2 || strings.Join(m.NotPlayed, "") != "" {
		t.Errorf("%d of two clients were granted the lock; not played: %v", n, m.NotPlayed)
	}
}

// The end of a process that no fault has killed is an error of the run, with what the process has written.
func TestProcessEnds(t *testing.T) {
	soak.RealTime(t)
	require(t, server.Redis)
	sc, l := load(t, "calm", "dies")
	_, err := session(t).Run(context.Background(), sc, l, live.Options{Modes: []fence.Mode{fence.None}})
	if err == nil || !strings.Contains(err.Error(), "this lock dies") {
		t.Errorf("the error is %v", err)
	}
}

// An interrupted run ends at once, and leaves no process.
func TestInterrupted(t *testing.T) {
	soak.RealTime(t)
	require(t, server.Redis)
	s := session(t)
	sc, l := load(t, "gc-pause", "fenced")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	if _, err := s.Run(ctx, sc, l, live.Options{Scale: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// What cannot be played is refused before anything is started.
func TestRefused(t *testing.T) {
	require(t, server.Redis)
	sc, l := load(t, "gc-pause", "fenced")
	if err := live.Check(sc, l, 0.0001); err == nil || !strings.Contains(err.Error(), "--scale") {
		t.Errorf("a tiny scale: %v", err)
	}
	if err := live.Check(sc, l, 0.1); err != nil {
		t.Error(err)
	}
}

// asCommand makes this program a command that plays live until it is ended, in its environment.
const asCommand = "LOCKSIM_TEST_PLAYS_LIVE"

// playForever is that command.
func playForever() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := live.Open()
	if err != nil {
		panic(err)
	}
	defer func() { _ = s.Close() }()
	sc, err := file.Load("gc-pause")
	if err != nil {
		panic(err)
	}
	l, err := redislocks.Kind("fenced")
	if err != nil {
		panic(err)
	}
	for ctx.Err() == nil {
		_, _ = s.Run(ctx, sc, l, live.Options{Modes: []fence.Mode{fence.None}, Scale: scale})
	}
}

// openFolder is a temporary folder that the unprivileged user of the servers may pass.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// workingIn are the processes whose working directory is in a folder.
func workingIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir) {
			all = append(all, link)
		}
	}
	return all
}

// However a command ends that plays live, after five seconds no process and no folder of it is left: neither clients,
// one of which may be stopped by a pause, nor servers.
func TestNothingIsLeft(t *testing.T) {
	soak.RealTime(t)
	require(t, server.Redis)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rounds := 1
	if os.Getenv("LOCKSIM_SOAK") == "1" {
		rounds = 17
	}
	moment := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		for _, end := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
			dir := openFolder(t)
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+dir)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// the server and both clients
			for begun := time.Now(); len(workingIn(t, dir)) < 3 && time.Since(begun) < 20*time.Second; {
				time.Sleep(10 * time.Millisecond)
			}
			if len(workingIn(t, dir)) < 3 {
				t.Error("it does not play")
			}
			time.Sleep(time.Duration(moment.IntN(2000)) * time.Millisecond)
			if err := cmd.Process.Signal(end); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // its exit code is that of the signal
			ended := time.Now()
			var left []string
			for time.Since(ended) < 5*time.Second {
				entries, err := os.ReadDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				left = workingIn(t, dir)
				for _, e := range entries {
					left = append(left, e.Name())
				}
				if len(left) == 0 {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			if len(left) > 0 {
				t.Errorf("five seconds after %v: %v", end, left)
			}
		}
	}
}

// A crash that this world cannot play is not played, and neither is the restart after it.
func TestCrashIsNotPlayed(t *testing.T) {
	soak.RealTime(t)
	require(t, server.Redis)
	sc, l := load(t, "power-loss-everysec", "single")
	out, err := session(t).Run(t.Context(), sc, l, live.Options{Seed: 1, Modes: []fence.Mode{fence.None}})
	if err != nil {
		t.Fatal(err)
	}
	for i, why := range out.Modes[0].NotPlayed {
		if !strings.Contains(why, "unable to do this") {
			t.Errorf("fault %d: %q", i+1, why)
		}
	}
}
