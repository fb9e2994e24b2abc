package main

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
)

// tap counts what clients send and receive, at their sockets. Its methods are safe for concurrent use.
type tap struct {
	// http2 says that requests are messages of gRPC. Those of all other protocols are counted as writes: their clients
	// write each request, or each pipeline of requests, at once.
	http2 bool

	requests, sent, received atomic.Int64
}

// dial connects, and counts.
func (t *tap) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return t.over(c), nil
}

// dialTimeout is dial for the client of ZooKeeper.
func (t *tap) dialTimeout(network, addr string, limit time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return t.dial(ctx, network, addr)
}

// over is a connection that is counted.
func (t *tap) over(c net.Conn) net.Conn {
	counted := &tapped{Conn: c, tap: t, requests: func([]byte) int64 { return 1 }}
	if t.http2 {
		counted.requests = (&messages{skip: len(http2.ClientPreface)}).in
	}
	return counted
}

// traffic is what was counted so far.
func (t *tap) traffic() traffic {
	return traffic{Requests: t.requests.Load(), Sent: t.sent.Load(), Received: t.received.Load()}
}

// traffic counts requests, and bytes each way.
type traffic struct {
	Requests int64 `json:"requests"`
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
}

// since is the traffic after an earlier count.
func (t traffic) since(earlier traffic) traffic {
	return traffic{t.Requests - earlier.Requests, t.Sent - earlier.Sent, t.Received - earlier.Received}
}

// tapped is a connection that is counted. A connection has one writer at a time.
type tapped struct {
	net.Conn
	tap      *tap
	requests func(written []byte) int64
}

// Read implements [net.Conn].
func (c *tapped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.tap.received.Add(int64(n))
	return n, err
}

// Write implements [net.Conn].
func (c *tapped) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.tap.sent.Add(int64(n))
	c.tap.requests.Add(c.requests(b[:n]))
	return n, err
}

// messages finds the messages in the bytes that a client of gRPC sends: frames of HTTP/2 with data. Those that only
// open a stream, confirm or steer the flow are none.
type messages struct {
	skip   int // of the preface or of the body of a frame
	header [headerSize]byte
	have   int // of the header
}

const headerSize = 9 // 24 bits of length, the type, flags, 32 bits of the stream

// in counts the messages that begin in the next bytes.
func (m *messages) in(b []byte) (n int64) {
	for len(b) > 0 {
		if m.skip > 0 {
			over := min(m.skip, len(b))
			m.skip, b = m.skip-over, b[over:]
			continue
		}
		got := copy(m.header[m.have:], b)
		m.have, b = m.have+got, b[got:]
		if m.have < headerSize {
			break
		}
		length := int(m.header[0])<<16 | int(m.header[1])<<8 | int(m.header[2])
		if http2.FrameType(m.header[3]) == http2.FrameData && length > 0 {
			n++
		}
		m.have, m.skip = 0, length
	}
	return n
}
