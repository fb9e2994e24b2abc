package proxytest

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"locksim/faults"
)

var (
	c0 = []string{"c0"}
	r0 = []string{"r0"}
)

// numbers are distinct words, to tell what is missing, doubled or overtaken.
func numbers(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(i, ";")
	}
	return all
}

// What is sent during a partition that holds arrives after it, whole, in order
// and with the end behind it.
func TestHold(t *testing.T) {
	l := newLive(t)
	client, server := l.dial()
	send(t, client, "before;")
	wantText(t, server, "before;")
	l.apply(faults.Partition{Between: c0, And: r0})
	words := numbers(100)
	for _, word := range words {
		send(t, client, word)
	}
	sent := strings.Join(words, "")
	l.up.await(len("before;" + sent))
	_ = client.Close()
	var arrived arrival
	read := arrived.follow(server)
	if got, _ := arrived.state(); got != "" {
		t.Errorf("%q arrived through the partition", got)
	}
	l.heal()
	<-read
	if got, ended := arrived.state(); got != sent || !ended {
		t.Errorf("arrived: %q, end %v; want %q and the end", got, ended, sent)
	}
}

// What is sent during a partition that drops is lost, and the connection with
// it. One on which nothing was sent goes on.
func TestDrop(t *testing.T) {
	l := newLive(t)
	loser, loserServer := l.dial()
	lucky, luckyServer := l.dial()
	l.apply(faults.Partition{Between: c0, And: r0, Bytes: faults.BytesDrop, Direction: faults.DirectionForward})
	send(t, loser, "lost")
	l.up.await(len("lost"))
	l.heal()
	wantEnd(t, loserServer)
	send(t, lucky, "there")
	wantText(t, luckyServer, "there")
}

// The command arrives, its reply does not, and the client sees the end of the
// connection. It dials again, and after so many losses it has its answer.
func TestLose(t *testing.T) {
	l := newLive(t)
	l.apply(faults.LoseReply{Between: c0, And: r0, Count: 2})
	for range 2 {
		client, server := l.dial()
		send(t, client, "SET")
		wantText(t, server, "SET")
		before := l.down.seen()
		send(t, server, "OK")
		l.down.await(before + len("OK"))
		for range 3 {
			_, _ = io.WriteString(server, "more") // may fail: the connection is over
		}
		wantEnd(t, client)
	}
	client, server := l.dial()
	send(t, client, "SET")
	wantText(t, server, "SET")
	send(t, server, "OK")
	wantText(t, client, "OK")
}

// A delayed message holds up what is behind it on its connection, while another
// connection overtakes it.
func TestDelay(t *testing.T) {
	l := newLive(t)
	late, lateServer := l.dial()
	quick, quickServer := l.dial()
	l.apply(faults.DelayMessage{Between: c0, And: r0, By: 24 * time.Hour})
	send(t, late, "first;")
	l.up.await(len("first;"))
	send(t, late, "second;")
	l.up.await(len("first;second;"))
	for range 10 {
		send(t, quick, "ping")
		wantText(t, quickServer, "ping")
	}
	var arrived arrival
	read := arrived.follow(lateServer)
	if got, _ := arrived.state(); got != "" {
		t.Errorf("%q was not late", got)
	}
	_ = late.Close()
	l.heal()
	<-read
	if got, ended := arrived.state(); got != "first;second;" || !ended {
		t.Errorf("arrived: %q, end %v; want both messages and the end", got, ended)
	}
}

// A delay that is over needs nobody to end it.
func TestDelayPasses(t *testing.T) {
	l := newLive(t)
	client, server := l.dial()
	l.apply(faults.DelayMessage{Between: c0, And: r0, By: time.Millisecond, Direction: faults.DirectionBoth})
	for _, word := range numbers(20) {
		send(t, client, word)
		wantText(t, server, word)
		send(t, server, word)
		wantText(t, client, word)
	}
}

// Toxics that lose nothing: on many connections at the same time, in both
// directions, all arrives in order, and the end last.
func TestNothingIsLost(t *testing.T) {
	for _, action := range []faults.Action{
		faults.Latency{Between: c0, And: r0, Add: time.Millisecond, Jitter: 3 * time.Millisecond},
		faults.DelayMessage{Between: c0, And: r0, By: 5 * time.Millisecond, Direction: faults.DirectionBoth},
		faults.Bandwidth{Between: c0, And: r0, Rate: 100},
		faults.Slice{Between: c0, And: r0, Size: 3, Delay: 10 * time.Microsecond},
		faults.SlowClose{Between: c0, And: r0, Delay: 5 * time.Millisecond},
	} {
		t.Run(action.Kind(), func(t *testing.T) {
			l := newLive(t)
			l.apply(action)
			var pairs sync.WaitGroup
			for range 8 {
				client, server := l.dial()
				pairs.Go(func() { exchange(t, client, server) })
			}
			pairs.Wait()
		})
	}
}

// exchange sends words both ways at the same time. The client closes when it has
// everything.
func exchange(t *testing.T, client, server net.Conn) {
	words := numbers(60)
	text := strings.Join(words, "")
	var up, down arrival
	atServer := up.follow(server)
	var senders sync.WaitGroup
	for _, c := range []net.Conn{client, server} {
		senders.Go(func() {
			for _, word := range words {
				_, _ = io.WriteString(c, word)
			}
		})
	}
	senders.Wait()
	_, _ = io.CopyN(&down, client, int64(len(text)))
	_ = client.Close()
	<-atServer
	if got, _ := down.state(); got != text {
		t.Errorf("the client has %q, want %q", got, text)
	}
	if got, ended := up.state(); got != text || !ended {
		t.Errorf("the server has %q, end %v; want %q and the end", got, ended, text)
	}
}

// Healing in the middle of it all: what was late passes on, nothing is lost.
func TestHealing(t *testing.T) {
	for _, action := range []faults.Action{
		faults.Partition{Between: c0, And: r0},
		faults.Latency{Between: c0, And: r0, Add: time.Hour, Jitter: time.Hour},
		faults.DelayMessage{Between: c0, And: r0, By: time.Hour, Direction: faults.DirectionBoth},
		faults.LoseReply{Between: []string{"c9"}, And: r0}, // removed before anything comes back
	} {
		t.Run(action.Kind(), func(t *testing.T) {
			l := newLive(t)
			client, server := l.dial()
			for range 5 {
				l.apply(action)
				send(t, client, "request;")
				l.heal()
				wantText(t, server, "request;")
				send(t, server, "reply;")
				wantText(t, client, "reply;")
			}
		})
	}
}

// arrival is what one end of a connection has read.
type arrival struct {
	mu    sync.Mutex
	text  []byte
	ended bool
}

func (a *arrival) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text = append(a.text, b...)
	return len(b), nil
}

// follow reads until the end in the background. The channel is closed then.
func (a *arrival) follow(c net.Conn) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(a, c)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.ended = true
	}()
	return done
}

func (a *arrival) state() (text string, ended bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return string(a.text), a.ended
}
