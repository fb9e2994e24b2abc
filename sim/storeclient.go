package sim

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// ErrRefused is returned by a [StoreClient] when the store's fencing rule
// refused the operation. The message says why.
var ErrRefused = errors.New("the store refused the operation")

// ErrUnknownOutcome is returned by a [StoreClient] when an operation was sent
// and no answer came: it may have been applied, or may be applied later.
var ErrUnknownOutcome = errors.New("no answer: the operation may have been applied, or may be yet")

// StoreOp names an operation on the store.
type StoreOp struct {
	// Resource and Register say where; neither may contain white space.
	Resource, Register string
	// ID is unique in a run; a write stores it. No white space.
	ID string
	// Token is the fencing token of the grant, 0 for none.
	Token uint64
	// Grant is unique to the grant, Base the id of the operation that a write
	// is based on: what its client's read has found. Either may be empty.
	// No white space, nor a lone dash.
	Grant, Base string
}

func (op StoreOp) validate() error {
	for _, s := range []string{op.Resource, op.Register, op.ID} {
		if f := strings.Fields(s); len(f) != 1 || f[0] != s {
			return fmt.Errorf("sim: operation %+v: resource, register and id must not be empty or contain white space", op)
		}
	}
	for _, s := range []string{op.Grant, op.Base} {
		if f := strings.Fields(s); s == absent || s != "" && (len(f) != 1 || f[0] != s) {
			return fmt.Errorf("sim: operation %+v: grant and base must not be a dash or contain white space", op)
		}
	}
	return nil
}

// StoreClient speaks to the store s0 over the network, one operation at a
// time on one connection. It is safe for concurrent use; which of two
// operations that are begun in one instant goes first is then up to the
// scheduler, and the run is not repeatable.
type StoreClient struct {
	p    *Process
	turn chan struct{} // a lock that may be held across simulated I/O

	mu    sync.Mutex
	conn  net.Conn
	in    *bufio.Reader
	ended bool
}

// Store is the process's client of the store s0. Every call returns the same
// client.
func (p *Process) Store() *StoreClient {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.store == nil {
		p.store = &StoreClient{p: p, turn: make(chan struct{}, 1)}
		p.closers = append(p.closers, p.store.close)
	}
	return p.store
}

// Read returns the name of the operation that wrote the register last, or
// nothing. Errors: [ErrRefused]; [ErrUnknownOutcome] when the operation was
// sent and ctx ended, or the connection broke, before the answer came. With
// any other error nothing was sent: that of the dial, that of ctx, or one
// about op.
func (s *StoreClient) Read(ctx context.Context, op StoreOp) (string, error) {
	return s.do(ctx, op, false)
}

// Write stores the operation's id in the register. Errors as for Read.
func (s *StoreClient) Write(ctx context.Context, op StoreOp) error {
	_, err := s.do(ctx, op, true)
	return err
}

func (s *StoreClient) do(ctx context.Context, op StoreOp, write bool) (string, error) {
	if err := op.validate(); err != nil {
		return "", err
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil { // whichever of the two was chosen
		return "", err
	}
	req := storeRequest{write: write, resource: op.Resource, register: op.Register, op: op.ID, token: op.Token,
		grant: op.Grant, base: op.Base}
	if err := s.sendOnSome(ctx, req.String()+"\n"); err != nil {
		return "", err
	}
	answer, err := s.receive(ctx)
	if err != nil {
		s.drop() // what was sent may still arrive
		return "", fmt.Errorf("%w (%w)", ErrUnknownOutcome, cause(ctx, err))
	}
	return parseAnswer(answer)
}

// sendOnSome sends on the connection there is, or on a new one where that
// turns out to be broken: nothing of a failed send is ever under way.
func (s *StoreClient) sendOnSome(ctx context.Context, line string) error {
	if c := s.current(); c != nil {
		err := s.send(ctx, c, line)
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrCrashed) {
			return err
		}
	}
	c, err := s.dial(ctx)
	if err != nil {
		return err
	}
	if err := s.keep(c); err != nil {
		return err
	}
	return s.send(ctx, c, line)
}

// dial opens a connection, unless ctx or the process ends first.
func (s *StoreClient) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.p.ctx, cancel)()
	return s.p.Dial(ctx, "tcp", s.p.w.store.addr)
}

func (s *StoreClient) send(ctx context.Context, c net.Conn, line string) error {
	err := s.until(ctx, c, func() error {
		_, err := c.Write([]byte(line))
		return err
	})
	if err != nil {
		s.drop()
	}
	return cause(ctx, err)
}

// cause says that ctx has ended where that is why the connection failed.
func cause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ErrCrashed) {
		return err
	}
	return ctx.Err()
}

func (s *StoreClient) receive(ctx context.Context) (answer string, err error) {
	err = s.until(ctx, s.current(), func() error {
		answer, err = s.in.ReadString('\n')
		return err
	})
	return answer, err
}

// until does something on a connection that the end of ctx breaks off.
func (s *StoreClient) until(ctx context.Context, c net.Conn, f func() error) error {
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

func (s *StoreClient) current() net.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// keep makes a new connection the current one.
func (s *StoreClient) keep(c net.Conn) error {
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
func (s *StoreClient) drop() {
	s.mu.Lock()
	c := s.conn
	s.conn = nil
	s.mu.Unlock()
	if c != nil {
		_ = c.Close()
	}
}

func parseAnswer(answer string) (string, error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(answer), " ")
	switch verb {
	case "OK":
		return rest, nil
	case "REFUSED":
		return "", fmt.Errorf("%w: %s", ErrRefused, rest)
	}
	return "", fmt.Errorf("the store answered %q", answer)
}

// close ends the client with the run, also under an operation that waits for
// an answer for ever.
func (s *StoreClient) close() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.drop()
}
