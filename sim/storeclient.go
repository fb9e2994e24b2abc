package sim

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
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
}

func (op StoreOp) validate() error {
	for _, s := range []string{op.Resource, op.Register, op.ID} {
		if s == "" || strings.ContainsAny(s, " \t\r\n") {
			return fmt.Errorf("sim: operation %+v: resource, register and id must not be empty or contain white space", op)
		}
	}
	return nil
}

// StoreClient speaks to the store s0 over the network, one operation at a
// time on one connection. It is safe for concurrent use.
type StoreClient struct {
	p    *Process
	turn chan struct{} // a lock that may be held across simulated I/O
	conn net.Conn
	in   *bufio.Reader
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
// nothing. Errors: [ErrRefused]; [ErrUnknownOutcome] when ctx ended or the
// connection broke before the answer; the dial's error when nothing was sent.
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
		return "", ctx.Err()
	}
	if err := s.connect(ctx); err != nil {
		return "", err
	}
	req := storeRequest{write: write, resource: op.Resource, register: op.Register, op: op.ID, token: op.Token}
	answer, err := s.exchange(ctx, req.String())
	if err != nil {
		_ = s.conn.Close() // what was sent may still arrive
		s.conn = nil
		return "", fmt.Errorf("%w (%w)", ErrUnknownOutcome, err)
	}
	return parseAnswer(answer)
}

func (s *StoreClient) connect(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	conn, err := s.p.Dial(ctx, "tcp", s.p.w.store.addr)
	if err != nil {
		return err
	}
	s.conn, s.in = conn, bufio.NewReader(conn)
	return nil
}

// exchange sends a line and reads the answer. The end of ctx breaks it off.
func (s *StoreClient) exchange(ctx context.Context, line string) (string, error) {
	conn := s.conn
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write([]byte(line + "\n")); err != nil {
		return "", err
	}
	return s.in.ReadString('\n')
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

func (s *StoreClient) close() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
}
