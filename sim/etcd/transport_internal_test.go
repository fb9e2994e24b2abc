package etcd

import (
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
