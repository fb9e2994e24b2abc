package etcd_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"locksim/sim"
	"locksim/sim/etcd"
	"locksim/sim/trace"
)

// A client without the options differs between equal runs, and the advice says which option it lacks.
func TestAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		options []grpc.DialOption
		strike  func(w *sim.World) error
		want    string
	}{
		"any member first": {
			append(etcd.DialOptions(), grpc.WithDefaultServiceConfig(`{"loadBalancingConfig":[{"round_robin":{}}]}`)),
			strikes["calm"], "gRPC begins with one of the members at random",
		},
		"a delay with jitter": {
			append(etcd.DialOptions(),
				grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: time.Second})),
			func(w *sim.World) error {
				for _, member := range []string{"e0", "e1", "e2"} {
					if err := w.Faults().Refuse(member, 20*time.Second); err != nil {
						return err
					}
				}
				return nil
			},
			"gRPC draws the delay before it connects again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := stock(t, c.options, c.strike)
			for range 20 {
				d := trace.Diff(first, stock(t, c.options, c.strike))
				if d == nil {
					continue
				}
				if got := etcd.Advice(d); !strings.HasPrefix(got, c.want) {
					t.Errorf("the advice is %q, for %v", got, d)
				}
				return
			}
			t.Error("20 runs were equal")
		})
	}
}

// stock is a run of a client that is made by the package of etcd itself.
func stock(t *testing.T, options []grpc.DialOption, strike strike) *trace.Trace {
	t.Helper()
	cfg := sim.Config{Seed: 1, Clients: 1, Servers: []sim.Kind{etcd.Servers{Members: 3}}}
	res, err := sim.Run(cfg, func(w *sim.World) error {
		if err := strike(w); err != nil {
			return err
		}
		p := w.Client(0)
		p.Go(func() {
			dial := grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn,
				error) {
				return p.Dial(ctx, "tcp", addr)
			})
			endpoints := []string{p.Address("e0"), p.Address("e1"), p.Address("e2")}
			c, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop(),
				DialOptions: append([]grpc.DialOption{dial}, options...)})
			if err != nil {
				t.Error(err)
				return
			}
			p.OnEnd(func() { _ = c.Close() })
			for range 5 {
				ctx, cancel := context.WithTimeout(p.Context(), 30*time.Second)
				_, _ = c.Put(ctx, "a", "1")
				cancel()
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
	return res.Trace
}

// A piece of gRPC that differs is the work of two goroutines.
func TestAdviceOnPieces(t *testing.T) {
	piece := func(text string) *trace.Event {
		return &trace.Event{N: 1, Actor: "c0", Peer: "e0", What: trace.Send{Conn: "#1", Content: trace.Text(text)}}
	}
	if got := etcd.Advice(&trace.Divergence{A: piece("gRPC"), B: piece("gRPC, a message")}); !strings.HasPrefix(got,
		"two goroutines") {
		t.Error(got)
	}
}

// What no source of chance of gRPC explains has no advice.
func TestNoAdvice(t *testing.T) {
	at := func(actor, peer string, what trace.What) *trace.Event {
		return &trace.Event{N: 1, Actor: actor, Peer: peer, What: what}
	}
	for name, d := range map[string]*trace.Divergence{
		"no difference":     nil,
		"one run is longer": {A: at("c0", "e0", trace.Connect{})},
		"different clients": {A: at("c0", "e0", trace.Connect{}), B: at("c1", "e0", trace.Connect{})},
		"a server": {A: at("e0", "c0", trace.Send{Content: trace.Text("x")}),
			B: at("e0", "c0", trace.Send{Content: trace.Text("y")})},
		"a step of the workload": {A: at("c0", "", trace.Mark{Step: trace.Acquire}),
			B: at("c0", "", trace.Mark{Step: trace.Released})},
	} {
		if got := etcd.Advice(d); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
