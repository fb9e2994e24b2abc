package manager

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"locksim/faults"
	"locksim/internal/soak"
	"locksim/sim"
	"locksim/sim/kube"
)

func init() {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
}

// The defaults of the manager.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
)

// spell is for how long a manager has led.
type spell struct {
	who      string
	from, to time.Duration
}

// campaign starts two managers in a world, as they come but for the addresses on which they would listen, and strikes
// the one that leads after 20 s. It returns who led when, and how each Start ended.
func campaign(t *testing.T, strike func(f *sim.Faults, leader string) error) (spells []spell, ends map[string]string) {
	t.Helper()
	ends = map[string]string{}
	kinds := []sim.Kind{kube.APIServers(2), kube.Stores(1), kube.Webhooks(1)}
	_, err := sim.Run(sim.Config{Seed: 1, Clients: 2, Servers: kinds}, func(w *sim.World) error {
		for i := range 2 {
			p := w.Client(i)
			p.Go(func() {
				m, err := manager.New(&rest.Config{
					Host: fmt.Sprint("http://", kube.Balancer, ":", kube.Port), QPS: -1,
					Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
						return p.Dial(ctx, network, p.Address(kube.Balancer))
					},
				}, manager.Options{
					Scheme: scheme.Scheme, LeaderElection: true, LeaderElectionID: "shop", LeaderElectionNamespace: "default",
					Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
				})
				if err != nil {
					t.Error(err)
					return
				}
				err = m.Add(manager.RunnableFunc(func(ctx context.Context) error {
					from := w.Now()
					i := len(spells)
					spells = append(spells, spell{who: p.Name(), from: from})
					<-ctx.Done()
					spells[i].to = w.Now()
					return nil
				}))
				if err != nil {
					t.Error(err)
				}
				ctx, cancel := context.WithCancel(p.Context())
				defer cancel()
				go func() {
					_ = p.Clock().Sleep(ctx, 2*time.Minute)
					cancel()
				}()
				ends[p.Name()] = fmt.Sprint(m.Start(ctx))
			})
		}
		w.At(20*time.Second, func() {
			if err := strike(w.Faults(), spells[0].who); err != nil {
				t.Error(err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
	return spells, ends
}

// A leader whose process crashes is followed once its lease is over.
func TestLeaderCrashes(t *testing.T) {
	spells, _ := campaign(t, func(f *sim.Faults, leader string) error { return f.Crash(leader, faults.CrashProcess) })
	if len(spells) != 2 || spells[0].who == spells[1].who || spells[1].from < 20*time.Second+leaseDuration-3*time.Second ||
		spells[1].from > 20*time.Second+2*leaseDuration {
		t.Errorf("%+v", spells)
	}
}

// A leader that is cut off stops by RenewDeadline, before another one can begin, and its Start returns an error, on
// which a program is to exit.
func TestLeaderIsCutOff(t *testing.T) {
	spells, ends := campaign(t, func(f *sim.Faults, leader string) error {
		return f.Cut(faults.Partition{
			Between: []string{leader}, And: []string{"api0", "api1"}, For: time.Minute, Bytes: faults.BytesDrop,
		})
	})
	if len(spells) != 2 || spells[0].to > 20*time.Second+renewDeadline+time.Second || spells[1].from < spells[0].to {
		t.Fatalf("%+v", spells)
	}
	if end := ends[spells[0].who]; !strings.Contains(end, "leader election lost") {
		t.Errorf("its Start returned %s", end)
	}
}

// The same with controller-runtime v0.17.2.
func TestOlderVersion(t *testing.T) {
	soak.Only(t, "it compiles another version of the client of Kubernetes")
	out, err := exec.Command("go", "test", "-modfile=go-0.17.mod", "-count=1", "-run", "TestLeader", "-v",
		".").CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: TestLeader") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}
