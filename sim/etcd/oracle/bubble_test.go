package oracle_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/types"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/config"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/features"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"locksim/lock/locktest"
	"locksim/sim"
	"locksim/sim/etcd"
)

// small runs a program on a cluster of the world.
func small(t *testing.T, members int, p []step) []string {
	t.Helper()
	var answers []string
	instant := sim.Latency{Min: time.Microsecond, Max: time.Microsecond} // the answers have numbers of seconds
	_, err := sim.Run(sim.Config{Seed: 1, Clients: 1, Latency: instant,
		Servers: []sim.Kind{etcd.Servers{Members: members}}}, func(w *sim.World) error {
		process := w.Client(0)
		process.Go(func() {
			c, err := etcd.Client(process, "e0")
			if err != nil {
				t.Error(err)
				return
			}
			sleep := func(d time.Duration) { _ = process.Clock().Sleep(process.Context(), d) }
			sleep(time.Second)
			answers = run(process.Context(), subject{client: c, sleep: sleep, prefix: "x/"}, p)
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// urls are the addresses of a server that has no peers: no connection is made to them.
func urls(t testing.TB, url string) types.URLs {
	t.Helper()
	u, err := types.NewURLs([]string{url})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// real runs a program on the server of etcd, with one member, in a bubble.
func real(t *testing.T, p []step) []string {
	t.Helper()
	var answers []string
	inBubble(t, func(dial dialer) {
		c := dial(t, nil)
		ctx, cancel := context.WithCancel(context.Background()) // not that of t, which ends outside the bubble
		defer cancel()
		answers = run(ctx, subject{client: c, sleep: time.Sleep, prefix: "x/"}, p)
	})
	return answers
}

// dialer makes a client of the server in the bubble, through a wire if that is not nil. It is closed with the bubble.
type dialer func(t testing.TB, wire func(locktest.Dial) locktest.Dial) *clientv3.Client

// inBubble runs body in a bubble with the server of etcd.
func inBubble(t testing.TB, body func(dial dialer)) {
	t.Helper()
	dir := t.TempDir()
	client, peer := urls(t, "http://127.0.0.1:2379"), urls(t, "http://127.0.0.1:2380")
	synctest.Test(t.(*testing.T), func(t *testing.T) {
		s, err := etcdserver.NewServer(config.ServerConfig{
			Name: "e0", DataDir: dir, ClientURLs: client, PeerURLs: peer, InitialPeerURLsMap: types.URLsMap{"e0": peer},
			InitialClusterToken: "oracle", NewCluster: true, SnapshotCount: 10_000, TickMs: 100, ElectionTicks: 10,
			InitialElectionTickAdvance: true, BootstrapTimeout: time.Second, MaxTxnOps: 128, MaxRequestBytes: 1 << 20,
			MaxConcurrentStreams: 1000, AuthToken: "simple", BcryptCost: 4, TokenTTL: 300, Logger: zap.NewNop(),
			UnsafeNoFsync: true,
			MaxLearners:   1, V2Deprecation: config.V2DeprDefault, Metrics: "basic",
			WatchProgressNotifyInterval: 10 * time.Minute,
			ServerFeatureGate:           features.NewDefaultServerFeatureGate("e0", zap.NewNop()),
			WarningApplyDuration:        time.Second, WarningUnaryRequestDuration: time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		<-s.ReadyNotify()
		l := bufconn.Listen(1 << 20)
		g := v3rpc.Server(s, nil, nil)
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = g.Serve(l)
		}()
		var clients []*clientv3.Client
		time.Sleep(time.Second)
		dial := func(t testing.TB, wire func(locktest.Dial) locktest.Dial) *clientv3.Client {
			t.Helper()
			dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return l.DialContext(ctx) }
			if wire != nil {
				dial = wire(dial)
			}
			c, err := clientv3.New(clientv3.Config{Endpoints: []string{"passthrough:///e0"}, Logger: zap.NewNop(),
				DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: time.Second, DialOptions: []grpc.DialOption{
					grpc.WithTransportCredentials(insecure.NewCredentials()),
					grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn,
						error) {
						return dial(ctx, "tcp", addr)
					})}})
			if err != nil {
				t.Fatal(err)
			}
			clients = append(clients, c)
			return c
		}
		over := make(chan struct{})
		go func() { // a test that is skipped ends its goroutine
			defer close(over)
			body(dial)
		}()
		<-over
		for _, c := range clients {
			_ = c.Close()
		}
		g.Stop()
		<-served
		s.Stop()
	})
}

// The small server has the answers of the real one, whatever is asked. LOCKSIM_SOAK is the part of 2,000 programs that
// is run.
func TestAnswersAreThoseOfEtcd(t *testing.T) {
	for seed := range programs() {
		p := program(etcd37, seed, 40)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { same(t, small(t, 1, p), real(t, p)) })
	}
}

// A cluster of three small servers has the answers of one, to a quarter as many programs.
func TestThreeMembersAnswerAsOne(t *testing.T) {
	for seed := range (programs() + 3) / 4 {
		p := program(etcd37, seed, 40)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { same(t, small(t, 3, p), small(t, 1, p)) })
	}
}

// programs is the number of programs.
func programs() uint64 {
	part := 0.01
	if s := os.Getenv("LOCKSIM_SOAK"); s != "" {
		_, _ = fmt.Sscan(s, &part)
	}
	return uint64(2000 * part)
}

// same compares answers, and shows the first that differs.
func same(t *testing.T, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("after %s\n got %s\nwant %s", strings.Join(want[max(0, i-6):i], "\n      "), got[min(i, len(got)-1)],
				want[i])
		}
	}
}
