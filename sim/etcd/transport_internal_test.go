package etcd

import (
	"bytes"
	"testing"

	"golang.org/x/net/http2"
)

// quiet is a service that answers nothing.
type quiet struct{ messages int }

func (*quiet) begin(*call)             {}
func (q *quiet) message(*call, []byte) { q.messages++ }
func (*quiet) closed(c *call)          { c.end(nil) }
func (*quiet) cancelled(*call)         {}
func (q *quiet) transport() *transport { return newTransport(q, func([]byte) {}) }

// Bytes that are no HTTP/2 are an error, and never a panic, in whatever pieces they come.
func FuzzTransport(f *testing.F) {
	f.Add([]byte(http2.ClientPreface), 3)
	f.Add([]byte(http2.ClientPreface+"\x00\x00\x00\x04\x00\x00\x00\x00\x00"), 7)
	f.Add([]byte(http2.ClientPreface+"\x00\x00\x05\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00"), 1)
	f.Add([]byte("GET / HTTP/1.1\r\nHost: e0\r\n\r\n----------"), 5)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		x := (&quiet{}).transport()
		size := 1 + piece&63
		for len(b) > 0 {
			n := min(size, len(b))
			if x.receive(b[:n]) != nil {
				break
			}
			b = b[n:]
		}
		x.flush()
		x.dropAll()
	})
}

// The messages of calls are counted in what a client writes, whatever else is there.
func TestMessagesIn(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&b, nil)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(n int) {
		t.Helper()
		if got := messagesIn(b.Bytes()); got != n {
			t.Errorf("%d messages in %q, want %d", got, b.Bytes(), n)
		}
	}
	want(0)
	check(f.WriteSettings())
	check(f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x82}, EndHeaders: true}))
	want(0)
	check(f.WriteData(1, false, []byte("a message")))
	check(f.WriteData(1, true, nil))
	check(f.WriteData(3, true, []byte("another")))
	check(f.WritePing(true, [8]byte{}))
	want(2)
	b.Truncate(b.Len() - 1)
	want(0)
}
