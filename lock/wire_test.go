package lock_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9/maintnotifications"
)

var maintOff = maintnotifications.Config{Mode: maintnotifications.ModeDisabled}

// wire is the network between one client and the node. An armed fault applies to the next request with its command, and
// may refuse later dials.
type wire struct {
	node *miniredis.Miniredis

	mu      sync.Mutex
	fault   *fault
	refused bool
	isCut   bool
}

type fault struct {
	command     string        // the command of the request
	loseRequest bool          // the node does not get it
	loseReply   bool          // the node carries it out, and its answer is lost
	err         error         // the client's error instead of the answer; nil: none
	delay       time.Duration // delay of the answer
	thenRefuse  bool          // later dials are refused
}

func (w *wire) arm(f fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = &f
}

// armed reports whether the fault has not been applied yet.
func (w *wire) armed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault != nil
}

// refuse makes every dial fail from now on.
func (w *wire) refuse() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = true
}

// cut loses everything that is sent from now on, also dials, until heal.
func (w *wire) cut()  { w.setCut(true) }
func (w *wire) heal() { w.setCut(false) }

func (w *wire) setCut(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = cut
}

func (w *wire) loses() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.isCut
}

// hit returns the armed fault if it applies to this request, and disarms it.
func (w *wire) hit(request []byte) *fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.fault
	if f == nil || !bytes.Contains(request, []byte("\r\n"+f.command+"\r\n")) {
		return nil
	}
	w.fault = nil
	w.refused = f.thenRefuse
	return f
}

func (w *wire) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if w.loses() {
		ctx, cancel := context.WithTimeout(ctx, time.Second) // shorter than the sleep at the end of a bubble
		defer cancel()
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
	w.mu.Lock()
	refused := w.refused
	w.mu.Unlock()
	if refused {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	c, err := w.node.Dial()
	return &wiredConn{Conn: c, wire: w}, err
}

type wiredConn struct {
	net.Conn
	wire  *wire
	fault *fault // of the request in flight
}

func (c *wiredConn) Write(request []byte) (int, error) {
	c.fault = c.wire.hit(request)
	if c.wire.loses() || c.fault != nil && c.fault.loseRequest {
		return len(request), nil
	}
	return c.Conn.Write(request)
}

func (c *wiredConn) Read(reply []byte) (int, error) {
	f := c.fault
	if f == nil {
		return c.Conn.Read(reply)
	}
	if f.loseReply {
		if _, err := c.Conn.Read(reply); err != nil {
			return 0, err
		}
	}
	if f.err != nil {
		return 0, f.err
	}
	n, err := c.Conn.Read(reply) // without a message it waits for the deadline
	time.Sleep(f.delay)
	c.fault = nil
	return n, err
}

// losses are the ways in which the answer to a request can be missing.
var losses = []struct {
	name    string
	fault   fault
	applied bool
	cause   error
}{
	{"the answer is lost", fault{loseReply: true}, true, os.ErrDeadlineExceeded},
	{"the connection ends after it was carried out", fault{loseReply: true, err: io.EOF}, true, io.EOF},
	{"the connection is reset after it was carried out", fault{loseReply: true, err: syscall.ECONNRESET}, true,
		syscall.ECONNRESET},
	{"the request is lost", fault{loseRequest: true}, false, os.ErrDeadlineExceeded},
	{"the connection is reset before it was carried out", fault{loseRequest: true, err: syscall.ECONNRESET}, false,
		syscall.ECONNRESET},
}
