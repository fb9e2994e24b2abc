package kube

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"locksim/examples/leases/internal/leasetest"
	"locksim/internal/testleaders"
	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/tune/leaders"
)

// settings are those that users publish, and the nearest to 15/15/5 that an elector takes.
var settings = []Times{
	{15 * time.Second, 10 * time.Second, 2 * time.Second},
	{15 * time.Second, 14 * time.Second, 5 * time.Second},
	{137 * time.Second, 107 * time.Second, 26 * time.Second},
}

// An elector does under outages and after a crash what the arithmetic of package leaders says. Pauses are not played:
// timers of client-go go on in one. TestOverwritten has what they come to.
func TestOutagesAgree(t *testing.T) {
	for _, times := range settings {
		k := leaders.Kubernetes(times)
		trial := trialOf(t, times)
		for _, tr := range []tunings.Trouble{k.Outage(5), k.Outage(12), k.Outage(30), k.Crash()} {
			trial.Agrees(t, tr, leasetest.Part(100))
		}
		if last := times.RenewDeadline.Seconds(); last > 30 { // a try in half of the instants
			trial.Agrees(t, k.Outage(104), leasetest.Part(100))
			trial.Agrees(t, k.Outage(117), leasetest.Part(100))
		}
	}
}

var update = flag.Bool("update", false, "write the table of docs/how-to/leaders.md anew")

// docsRuns is how many runs each cell of the table of docs/how-to/leaders.md has.
const docsRuns = 100

// The table of docs/how-to/leaders.md has what the arithmetic says of outages, and what a hundred runs show. With
// -update it is made anew; without LOCKSIM_SOAK=1 one row is compared.
func TestDocsOfOutages(t *testing.T) {
	const page, begin, end = "../../../docs/how-to/leaders.md", "<!-- outages of Kubernetes -->\n", "<!-- end -->"
	whole, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(whole), begin)
	stored, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %q and %q", page, begin, end)
	}
	all := *update || leasetest.Part(docsRuns) == docsRuns
	var made strings.Builder
	made.WriteString("| setting | outage | computed | played, 100 runs |\n|---|---|---|---|\n")
	for i, times := range settings {
		k := leaders.Kubernetes(times)
		trial := trialOf(t, times)
		for _, seconds := range []float64{5, 12, 30} {
			if !all && (i > 0 || seconds != 12) {
				continue
			}
			outage := k.Outage(seconds)
			seen := trial.Agrees(t, outage, docsRuns)
			row := fmt.Sprintf("| %s | %v s | %s | %s |\n", k.Setting().Name, seconds, strings.Join(outage.Cells()[1:], " · "),
				seen.Text())
			if made.WriteString(row); !*update && !strings.Contains(stored, row) {
				t.Errorf("%s is out of date: run go test ./kube -run DocsOfOutages -update: it lacks\n%s", page, row)
			}
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+made.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// trialOf is the election of an elector with its own times.
func trialOf(t *testing.T, times Times) testleaders.Trial {
	t.Helper()
	l, err := Timed("kube-"+leaders.Kubernetes(times).Setting().Name, times)
	if err != nil {
		t.Fatal(err)
	}
	return testleaders.Trial{Lock: l, World: "kube: 2", Servers: []string{"api0", "api1"}, TTL: times.LeaseDuration,
		Apart: times.RetryPeriod, Within: 100 * time.Millisecond}
}

// The settings that users publish, as NewLeaderElector takes them; the arithmetic says the same.
func TestRefusedByClientGo(t *testing.T) {
	second := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	for _, lease := range []float64{1, 5, 14, 15, 15.5, 16} {
		for _, deadline := range []float64{1, 5, 6, 6.5, 14, 15} {
			for _, retry := range []float64{0, 1, 2, 5} {
				times := Times{second(lease), second(deadline), second(retry)}
				_, err := Timed("kube", times)
				refused := leaders.Kubernetes(times).Setting().Refused
				if (err != nil) != (refused != "") {
					t.Errorf("%v: an elector says %v, the arithmetic %q", times, err, refused)
				}
			}
		}
	}
	if _, err := Timed("kube", Times{second(15), second(15), second(5)}); err == nil {
		t.Error("an elector takes 15/15/5")
	}
}

// memory is a record without servers.
type memory struct {
	now   resourcelock.LeaderElectionRecord
	there bool
	fails bool
	tries []time.Duration // of the leader, since it began
	reads []time.Duration
	began time.Time
	id    string
}

func (m *memory) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	m.reads = append(m.reads, time.Since(m.began))
	if m.fails {
		return nil, nil, errors.New("no server")
	}
	if !m.there {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Group: coordination.GroupName, Resource: "leases"}, "l")
	}
	record := m.now
	return &record, fmt.Appendf(nil, "%+v", record), nil
}

func (m *memory) Create(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	m.now, m.there = r, true
	return nil
}

func (m *memory) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	m.tries = append(m.tries, time.Since(m.began))
	if m.fails {
		return errors.New("no server")
	}
	if m.now.HolderIdentity != "" && m.now.HolderIdentity != m.id {
		return errors.New("conflict")
	}
	m.now = r
	return nil
}

func (m *memory) RecordEvent(string) {}
func (m *memory) Identity() string   { return m.id }
func (m *memory) Describe() string   { return "memory" }

// elect runs an elector of 16/10.5/2 s, so that no two of its times coincide, until it stops. It returns when it
// stopped.
func (m *memory) elect(t *testing.T, ctx context.Context) time.Duration {
	t.Helper()
	m.began, m.id = time.Now(), "old"
	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: m, LeaseDuration: 16 * time.Second, RenewDeadline: 10500 * time.Millisecond, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.Run(ctx)
	return time.Since(m.began)
}

// A leader that no server answers tries again after each RetryPeriod, and gives up RetryPeriod and RenewDeadline after
// it renewed last.
func TestOutageOfAnElector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		go func() {
			time.Sleep(5 * time.Second)
			m.fails = true
		}()
		stopped := m.elect(t, t.Context())
		// It renews at 0, 2 and 4 s; then it tries from 6 s on.
		if want := 16500 * time.Millisecond; stopped != want {
			t.Errorf("it stopped after %v, want %v", stopped, want)
		}
		seconds := []time.Duration{0, 2, 4, 6, 8, 10, 12, 14, 16}
		for i := range seconds {
			seconds[i] *= time.Second
		}
		if !slices.Equal(m.tries, seconds) {
			t.Errorf("it tried at %v, want %v", m.tries, seconds)
		}
	})
}

// A leader whose record another one has overwritten, as after a pause, goes on for RenewDeadline from its next try on:
// nothing tells it before.
func TestOverwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		go func() {
			time.Sleep(5 * time.Second)
			m.now.HolderIdentity = "new"
		}()
		if stopped, want := m.elect(t, t.Context()), 16500*time.Millisecond; stopped != want {
			t.Errorf("it stopped after %v, want %v", stopped, want)
		}
	})
}

// A candidate tries after one to 2.2 RetryPeriods.
func TestCandidateWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{there: true, fails: true}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		m.elect(t, ctx)
		least, most := time.Hour, time.Duration(0)
		for i := 1; i < len(m.reads); i++ {
			least, most = min(least, m.reads[i]-m.reads[i-1]), max(most, m.reads[i]-m.reads[i-1])
		}
		const tenth = time.Second / 10
		if least < 20*tenth || least > 23*tenth || most > 44*tenth || most < 41*tenth {
			t.Errorf("it waited for %v to %v", least, most)
		}
	})
}
