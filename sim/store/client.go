package store

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// Machine is where a client runs.
type Machine interface {
	// Context ends when the machine ends.
	Context() context.Context
	// Address is the address under which a server ("s0") is dialled.
	Address(server string) string
	// Dial opens a connection.
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
	// OnEnd registers a function to call at the end of the run.
	OnEnd(func())
}

// Client sends operations to the store s0 over the network, one at a time on
// one connection. It is safe for concurrent use; but the scheduler orders
// operations that begin in one instant, and the run is then not repeatable.
type Client struct {
	machine Machine
	turn    chan struct{} // a lock that may be held across simulated I/O

	mu    sync.Mutex
	conn  net.Conn
	in    *bufio.Reader
	ended bool
}

// NewClient creates a client, which is closed at the end of the run.
func NewClient(m Machine) *Client {
	c := &Client{machine: m, turn: make(chan struct{}, 1)}
	m.OnEnd(c.close)
	return c
}

// Read returns the name of the operation that wrote the register last, or
// nothing. Errors: [ErrRefused]; [ErrUnknownOutcome] when the operation was
// sent and ctx ended, or the connection broke, before the answer arrived. With
// any other error nothing was sent: that of the dial, that of ctx, or of an
// invalid op.
func (s *Client) Read(ctx context.Context, op Op) (string, error) {
	return s.do(ctx, op, false)
}

// Write stores the operation's id in the register. Errors as for Read.
func (s *Client) Write(ctx context.Context, op Op) error {
	_, err := s.do(ctx, op, true)
	return err
}

func (s *Client) do(ctx context.Context, op Op, write bool) (string, error) {
	if err := op.validate(); err != nil {
		return "", err
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil { // both cases may have been ready
		return "", err
	}
	if err := s.sendOnAny(ctx, requestLine(op, write)+"\n"); err != nil {
		return "", err
	}
	answer, err := s.receive(ctx)
	if err != nil {
		s.drop() // the request may still arrive
		return "", fmt.Errorf("%w (%w)", ErrUnknownOutcome, s.cause(ctx, err))
	}
	return parseAnswer(answer)
}

// sendOnAny sends on the current connection, or on a new one if that is broken:
// a failed send leaves nothing under way.
func (s *Client) sendOnAny(ctx context.Context, line string) error {
	if c := s.current(); c != nil {
		err := s.send(ctx, c, line)
		if err == nil || ctx.Err() != nil || s.machine.Context().Err() != nil {
			return err
		}
	}
	c, err := s.dial(ctx)
	if err != nil {
		return err
	}
	if err := s.use(c); err != nil {
		return err
	}
	return s.send(ctx, c, line)
}

// dial opens a connection, unless ctx or the process ends first.
func (s *Client) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.machine.Context(), cancel)()
	return s.machine.Dial(ctx, "tcp", s.machine.Address(Name))
}

func (s *Client) send(ctx context.Context, c net.Conn, line string) error {
	err := s.withContext(ctx, c, func() error {
		_, err := c.Write([]byte(line))
		return err
	})
	if err != nil {
		s.drop()
	}
	return s.cause(ctx, err)
}

// cause returns the error of ctx if its end is why the connection failed.
func (s *Client) cause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || s.machine.Context().Err() != nil {
		return err
	}
	return ctx.Err()
}

func (s *Client) receive(ctx context.Context) (answer string, err error) {
	err = s.withContext(ctx, s.current(), func() error {
		answer, err = s.in.ReadString('\n')
		return err
	})
	return answer, err
}

// withContext calls f, which uses a connection. The end of ctx ends it by a
// deadline.
func (s *Client) withContext(ctx context.Context, c net.Conn, f func() error) error {
	if c == nil {
		return net.ErrClosed
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	err := f()
	if !stop() { // it has a deadline in the past now, or will have
		s.drop()
	}
	return err
}

func (s *Client) current() net.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// use makes a new connection the current one.
func (s *Client) use(c net.Conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		_ = c.Close()
		return net.ErrClosed
	}
	s.conn, s.in = c, bufio.NewReaderSize(c, 256)
	return nil
}

// drop closes the current connection.
func (s *Client) drop() {
	s.mu.Lock()
	c := s.conn
	s.conn = nil
	s.mu.Unlock()
	if c != nil {
		_ = c.Close()
	}
}

// close ends the client at the end of the run, and an operation that still
// waits for its answer.
func (s *Client) close() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.drop()
}
