package etcd

import (
	"context"
	"net"
	"time"
	_ "unsafe" // for go:linkname

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Machine is where a client runs: a [locksim/sim.Process], the environment of a lock under test, or anything else that
// can dial.
type Machine interface {
	// Address is the address under which a server ("e0", "leader") is dialled.
	Address(server string) string
	// Dial opens a connection.
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
	// OnEnd registers a function to call at the end of the run.
	OnEnd(func())
}

// Client makes a client of these members, all of them in one client, with [DialOptions]. It is closed at the end of the
// run.
func Client(m Machine, members ...string) (*clientv3.Client, error) {
	return ClientWith(m, clientv3.Config{DialOptions: DialOptions()}, members...)
}

// ClientWith makes a client of these members with the caller's configuration, the machine's dialer, and no log. It is
// closed at the end of the run.
func ClientWith(m Machine, cfg clientv3.Config, members ...string) (*clientv3.Client, error) {
	cfg.Endpoints = nil
	for _, name := range members {
		cfg.Endpoints = append(cfg.Endpoints, m.Address(name))
	}
	dial := grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn,
		error) {
		return m.Dial(ctx, "tcp", addr)
	})
	cfg.DialOptions = append([]grpc.DialOption{dial}, cfg.DialOptions...)
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	c, err := clientv3.New(cfg)
	if err != nil {
		return nil, err
	}
	m.OnEnd(func() { _ = c.Close() })
	return c, nil
}

// DialOptions are the options with which the client of etcd is repeatable:
//
//   - The delay before it connects again has no jitter, which gRPC draws from a source that no seed reaches.
//   - It uses the first member that answers, in the order in which they are given. By default gRPC begins with one of
//     them at random.
//   - A stream opens some microseconds late, by its method: two loops of the client that run every 500 ms would
//     otherwise begin in one instant, and the scheduler would decide which of them comes first.
//   - An answer is received some microseconds late, by its method: answers to two calls that arrive together would
//     otherwise wake two goroutines in one instant. One of them may cancel what the other one does.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: time.Second, Multiplier: 1.6, MaxDelay: 120 * time.Second},
			MinConnectTimeout: 20 * time.Second,
		}),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig":[{"pick_first":{}}]}`),
		grpc.WithDisableServiceConfig(),
		grpc.WithChainStreamInterceptor(streamApart),
		grpc.WithChainUnaryInterceptor(callApart),
	}
}

// Late is how long at most an answer is kept from the code that waits for it: see [DialOptions].
const Late = 64 * letter

// letter is what each letter of the name of a method adds.
const letter = 1013 * time.Nanosecond

// apart sleeps for some microseconds, equally long for all calls of a method.
func apart(method string) { time.Sleep(min(time.Duration(len(method))*letter, Late)) } //nolint:forbidigo // it is in the bubble

// streamApart opens a stream some microseconds late, and so is what it receives.
func streamApart(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer,
	opts ...grpc.CallOption) (grpc.ClientStream, error) {
	apart(method)
	s, err := open(ctx, desc, conn, method, opts...)
	if err != nil {
		return nil, err
	}
	return lateStream{s, method}, nil
}

type lateStream struct {
	grpc.ClientStream

	method string
}

func (s lateStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	apart(s.method)
	return err
}

// callApart ends a call some microseconds late.
func callApart(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn, call grpc.UnaryInvoker,
	opts ...grpc.CallOption) error {
	err := call(ctx, method, request, answer, conn, opts...)
	apart(method)
	return err
}

// The client's watcher has a context whose Done is a channel of the whole program, which is never closed. A goroutine
// that waits for a channel from outside its bubble is never durably blocked, and virtual time would stand still. nil is
// a channel that is never closed either.
//
//go:linkname watcherDone go.etcd.io/etcd/client/v3.valCtxCh
var watcherDone chan struct{}

func init() { watcherDone = nil }
