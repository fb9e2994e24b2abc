package locktest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"locksim/lock/locktest"
)

// echo is a server that replies to every request with the same bytes.
type echo struct {
	t        *testing.T
	requests chan string
}

func (e *echo) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		buf := make([]byte, 16)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			e.requests <- string(buf[:n])
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	return client, nil
}

// clientConn is a connection to an echo over a wire.
type clientConn struct {
	*testing.T
	net.Conn
	echo *echo
}

// ask sends a request. It returns the reply, or the error, within a second.
func (l *clientConn) ask(request string) (string, error) {
	l.Helper()
	if err := l.SetDeadline(time.Now().Add(time.Second)); err != nil {
		l.Fatal(err)
	}
	if _, err := l.Write([]byte(request)); err != nil {
		l.Fatal(err)
	}
	buf := make([]byte, 16)
	n, err := l.Read(buf)
	return string(buf[:n]), err
}

func overWire(t *testing.T, test func(w *locktest.Wire, dial func(server string) *clientConn)) {
	synctest.Test(t, func(t *testing.T) {
		e := &echo{t: t, requests: make(chan string, 100)}
		w := locktest.NewWire(e.dial)
		var all []net.Conn
		test(w, func(server string) *clientConn {
			c, err := w.Dial(t.Context(), "tcp", server)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
			return &clientConn{t, c, e}
		})
		for _, c := range all {
			_ = c.Close()
		}
	})
}

// want fails unless the request is answered with itself or with this failure, and this many requests have reached the
// servers.
func (l *clientConn) want(request string, failure error, reached int) {
	l.Helper()
	got, err := l.ask(request)
	if !errors.Is(err, failure) || err == nil && got != request {
		l.Errorf("%s is answered with %q and error %v, want error %v", request, got, err, failure)
	}
	if n := len(l.echo.requests); n != reached {
		l.Errorf("%d requests have reached the server, want %d", n, reached)
	}
}

func TestWirePasses(t *testing.T) {
	overWire(t, func(w *locktest.Wire, dial func(string) *clientConn) {
		dial("r0").want("a", nil, 1)
		if n := w.Answers(); n != 1 {
			t.Errorf("%d answers, want 1", n)
		}
	})
}

func TestWireCut(t *testing.T) {
	overWire(t, func(w *locktest.Wire, dial func(string) *clientConn) {
		before := dial("r0")
		before.want("a", nil, 1)
		w.Cut()
		before.want("b", os.ErrDeadlineExceeded, 1)
		during := dial("r0")
		during.want("c", os.ErrDeadlineExceeded, 1)
		w.Heal()
		before.want("d", syscall.ECONNRESET, 1)
		during.want("e", syscall.ECONNRESET, 1)
		dial("r0").want("f", nil, 2)
	})
}

func TestWireLosesTheNextRequestToEachServer(t *testing.T) {
	overWire(t, func(w *locktest.Wire, dial func(string) *clientConn) {
		w.LoseRequests()
		broken := dial("r0")
		broken.want("a", os.ErrDeadlineExceeded, 0)
		broken.want("b", os.ErrDeadlineExceeded, 0)
		dial("r0").want("c", nil, 1)
		dial("r1").want("d", os.ErrDeadlineExceeded, 1)
		w.Heal()
		dial("r2").want("e", nil, 2)
	})
}

func TestWireLosesTheNextReplyOfEachServer(t *testing.T) {
	overWire(t, func(w *locktest.Wire, dial func(string) *clientConn) {
		w.LoseReplies()
		dial("r0").want("a", os.ErrDeadlineExceeded, 1)
		dial("r0").want("b", nil, 2)
		dial("r1").want("c", os.ErrDeadlineExceeded, 3)
	})
}

func TestWireDelaysReplies(t *testing.T) {
	overWire(t, func(w *locktest.Wire, dial func(string) *clientConn) {
		c := dial("r0")
		w.DelayReplies(999 * time.Millisecond)
		began := time.Now()
		c.want("a", nil, 1)
		if took := time.Since(began); took != 999*time.Millisecond {
			t.Errorf("the answer took %v", took)
		}
		w.DelayReplies(time.Hour)
		began = time.Now()
		c.want("b", os.ErrDeadlineExceeded, 2)
		if took := time.Since(began); took != time.Second {
			t.Errorf("the deadline of a second came after %v", took)
		}
	})
}

func TestWireOverTheRealNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.Copy(c, c)
			_ = c.Close()
		}
	}()
	c, err := locktest.NewWire(nil).Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write([]byte("a")); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("read %d bytes: %v", n, err)
	}
}
