package etcdlocks_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/play"
)

// hashes has a line for each run of the scenarios of etcd: scenario, lock, seed and the hash of the trace.
func hashes(t *testing.T) string {
	t.Helper()
	library, err := play.Library(etcdlocks.All())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, sc := range library {
		for _, l := range etcdlocks.All() {
			if !slices.Contains(sc.LockNames(), l.Name) {
				continue
			}
			for seed := range uint64(testruns.Soak(t, 30, 0.04)) {
				o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: seed + 1, Modes: []fence.Mode{fence.None}, Alone: true})
				if err != nil {
					t.Fatal(err)
				}
				_, _ = fmt.Fprintln(&out, "run", sc.Name, l.Name, seed+1, o.Modes[0].TraceHash)
			}
		}
	}
	return out.String()
}

// The same seeds give the same traces in fresh processes at other numbers of processors. LOCKSIM_SOAK=10 is 300 seeds.
func TestEqualInFreshProcesses(t *testing.T) {
	const asChild = "LOCKSIM_ETCD_HASHES"
	if os.Getenv(asChild) != "" {
		fmt.Print(hashes(t))
		return
	}
	var first []string
	for i, procs := range []string{"2", "1", "4"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestEqualInFreshProcesses$", "-test.count=1", "-test.timeout=2h")
		cmd.Env = append(os.Environ(), asChild+"=1", "GOMAXPROCS="+procs)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("GOMAXPROCS=%s: %v\n%s", procs, err, out)
		}
		lines := slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return !strings.HasPrefix(line, "run ") })
		if i == 0 {
			first = lines
			t.Logf("%d runs", len(lines))
			continue
		}
		if slices.Equal(first, lines) {
			continue
		}
		for j := range min(len(first), len(lines)) {
			if first[j] != lines[j] {
				t.Fatalf("GOMAXPROCS=%s: %s, at 2 it is %s", procs, lines[j], first[j])
			}
		}
		t.Fatalf("GOMAXPROCS=%s: %d runs, at 2 there are %d", procs, len(lines), len(first))
	}
	if len(first) < 40 {
		t.Errorf("only %d runs", len(first))
	}
}
