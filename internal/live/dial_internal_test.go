//go:build linux

package live

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// dialling is the process of a client whose server is at an address, with the hook for dials that other code makes.
func dialling(t *testing.T, to string) childEnv {
	t.Helper()
	c := &client{known: map[string]string{}, changed: make(chan struct{}), gone: map[<-chan struct{}]int64{}}
	c.setTable(leading(1, to, false))
	before := everyDial
	t.Cleanup(func() { everyDial = before })
	dialEverywhere(c.env("c0").Dial)
	return c.env("c0")
}

// leading is a table with one server, which its client is told as 127.0.0.1:1.
func leading(version int, to string, waits bool) table {
	return table{Version: version, Address: map[string]string{"r0": "127.0.0.1:1"}, Dial: map[string]string{"r0": to},
		Waits: map[string]bool{"r0": waits}}
}

// A dial waits as long as the client is cut off from the server, that of the environment and that of code that dials by
// itself, and ends with its context. A table that is older than another one changes nothing.
func TestDialWaits(t *testing.T) {
	l, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	e := dialling(t, l.Addr().String())
	alone := func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, ok, err := everyDial(ctx, network, addr)
		if !ok {
			t.Errorf("a dial of %s leads around the world", addr)
		}
		return c, err
	}
	for name, dial := range map[string]func(ctx context.Context, network, addr string) (net.Conn,
		error){"of the environment": e.Dial, "of others": alone} {
		version := e.table.Version
		e.setTable(leading(version+2, l.Addr().String(), true))
		e.setTable(leading(version+1, l.Addr().String(), false))
		short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := dial(short, "tcp", "127.0.0.1:1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a dial %s, cut off: %v", name, err)
		}
		cancel()
		connected := make(chan error)
		go func() {
			c, err := dial(t.Context(), "tcp", "127.0.0.1:1")
			if err == nil {
				err = c.Close()
			}
			connected <- err
		}()
		select {
		case err := <-connected:
			t.Fatalf("a dial %s does not wait: %v", name, err)
		case <-time.After(20 * time.Millisecond):
		}
		e.setTable(leading(version+3, l.Addr().String(), false))
		if err := <-connected; err != nil {
			t.Errorf("a dial %s, connected again: %v", name, err)
		}
	}
}

// Code that dials by itself reaches the servers of the world alone; what is no connection is not for the world, nor is
// a dial to a proxy.
func TestDialsOfOthers(t *testing.T) {
	dialling(t, "127.0.0.1:2")
	if _, ok, err := everyDial(t.Context(), "tcp", "127.0.0.1:7"); !ok || err == nil ||
		!strings.Contains(err.Error(), "no server") {
		t.Errorf("an address that the world does not have: %v %v", ok, err)
	}
	if _, ok, _ := everyDial(t.Context(), "udp", "127.0.0.1:1"); ok {
		t.Error("a datagram is for the world")
	}
	if _, ok, _ := everyDial(context.WithValue(t.Context(), direct{}, true), "tcp", "127.0.0.1:1"); ok {
		t.Error("a dial to a proxy comes back to the world")
	}
}

// A loss was known before a grant if it was seen well before the last answer came, and not only before the grant.
func TestGoneBefore(t *testing.T) {
	l, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	e := dialling(t, l.Addr().String())
	conn, err := e.Dial(t.Context(), "tcp", "r0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	lost := make(chan struct{})
	close(lost)
	now := monotonic()
	answered := func() bool {
		if _, err := io.WriteString(there, "x"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return e.goneBefore(lost)
	}
	if answered() {
		t.Error("a loss that is not known yet")
	}
	e.gone[lost] = now - int64(2*looked)
	if !answered() {
		t.Error("a loss of long ago is not known")
	}
	e.gone[lost] = monotonic()
	if answered() {
		t.Error("a loss of this moment: the lock may have looked before")
	}
}
