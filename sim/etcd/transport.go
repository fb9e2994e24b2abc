package etcd

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// transport is the server's end of one HTTP/2 connection that carries gRPC calls. It has no goroutines: bytes go in by
// receive, calls go to the service, and answers collect until flush.
//
// What a client's goroutines write in one instant arrives in one piece, but in an order that is up to the scheduler, so
// the calls of one piece are served in the order of what they ask.
type transport struct {
	service service
	send    func([]byte)

	in      []byte // received, and not a whole frame yet
	greeted bool   // the preface has arrived
	framer  *http2.Framer
	from    bytes.Buffer // the framer reads from it
	to      bytes.Buffer // the framer writes to it
	encoder *hpack.Encoder
	block   bytes.Buffer // the encoder writes to it

	calls   map[uint32]*call
	batch   []signal
	window  int64 // how many bytes of data the client takes on the connection
	initial int64 // and on a new stream
}

// service is what a transport carries calls to.
type service interface {
	// begin is called when a call opens.
	begin(c *call)
	// message is called for each message of a call.
	message(c *call, b []byte)
	// closed is called when the client sends no more messages.
	closed(c *call)
	// cancelled is called when the client has given a call up, or its connection has ended.
	cancelled(c *call)
}

// call is one gRPC call.
type call struct {
	t       *transport
	id      uint32
	method  string // "/etcdserverpb.KV/Range"
	leader  bool   // the client wants an error if there is no leader
	in      []byte // data that is not a whole message yet
	out     []byte // data for which the client has no window
	trailer []string
	window  int64
	started bool // the headers were sent
	over    bool
}

// signal is what happens to a call.
type signal struct {
	call    *call
	kind    signalKind
	message []byte
}

type signalKind int

const (
	signalBegin signalKind = iota
	signalMessage
	signalClosed
	signalCancelled
)

const (
	preface     = http2.ClientPreface
	frameHeader = 9
	maxFrame    = 16 << 10 // the least that HTTP/2 allows
	messageHead = 5        // of a gRPC message: a flag and the length
	// wide is a window that no run fills.
	wide = 1 << 30
	// defaultWindow is that of HTTP/2.
	defaultWindow = 65_535
)

func newTransport(s service, send func([]byte)) *transport {
	t := &transport{service: s, send: send, calls: map[uint32]*call{}, window: defaultWindow, initial: defaultWindow}
	t.framer = http2.NewFramer(&t.to, &t.from)
	t.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	t.encoder = hpack.NewEncoder(&t.block)
	t.check(t.framer.WriteSettings(
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: wide},
		http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1 << 20}))
	t.check(t.framer.WriteWindowUpdate(0, wide))
	return t
}

// check is for errors of writes to memory, which there are none of.
func (t *transport) check(err error) {
	if err != nil {
		panic(fmt.Sprintf("etcd: write an HTTP/2 frame: %v", err))
	}
}

// messagesIn counts the frames with data in what one side sends, which are the messages of calls. It is 0 for bytes
// that are no whole frames.
func messagesIn(b []byte) int {
	b = bytes.TrimPrefix(b, []byte(preface))
	count := 0
	for len(b) >= frameHeader {
		n := frameHeader + frameLength(b)
		if len(b) < n {
			return 0
		}
		if http2.FrameType(b[3]) == http2.FrameData && n > frameHeader {
			count++
		}
		b = b[n:]
	}
	if len(b) > 0 {
		return 0
	}
	return count
}

// frameLength is the length of what follows the header of a frame.
func frameLength(b []byte) int { return int(b[0])<<16 + int(b[1])<<8 + int(b[2]) }

// receive takes bytes from the client and serves the calls in them. An error means that the connection cannot go on.
func (t *transport) receive(b []byte) error {
	t.in = append(t.in, b...)
	if !t.greeted {
		if len(t.in) < len(preface) {
			return nil
		}
		if string(t.in[:len(preface)]) != preface {
			return fmt.Errorf("the connection begins with %q: it is not HTTP/2", t.in[:len(preface)])
		}
		t.in, t.greeted = t.in[len(preface):], true
	}
	for len(t.in) >= frameHeader {
		n := frameHeader + frameLength(t.in)
		if len(t.in) < n {
			break
		}
		t.from.Write(t.in[:n])
		t.in = t.in[n:]
		f, err := t.framer.ReadFrame()
		if err != nil {
			return fmt.Errorf("read an HTTP/2 frame: %w", err)
		}
		t.take(f)
	}
	t.serve()
	return nil
}

func (t *transport) take(f http2.Frame) {
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			t.adjust(f)
			t.check(t.framer.WriteSettingsAck())
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			t.check(t.framer.WritePing(true, f.Data))
		}
	case *http2.WindowUpdateFrame:
		t.widen(f.StreamID, int64(f.Increment))
	case *http2.MetaHeadersFrame:
		c := &call{t: t, id: f.StreamID, method: f.PseudoValue("path"), window: t.initial}
		for _, h := range f.RegularFields() {
			c.leader = c.leader || h.Name == "hasleader" && h.Value == "true"
		}
		t.calls[c.id] = c
		t.batch = append(t.batch, signal{call: c, kind: signalBegin})
		t.ends(c, f.StreamEnded())
	case *http2.DataFrame:
		if c := t.calls[f.StreamID]; c != nil {
			c.in = append(c.in, f.Data()...)
			for m, ok := c.next(); ok; m, ok = c.next() {
				t.batch = append(t.batch, signal{call: c, kind: signalMessage, message: m})
			}
			t.ends(c, f.StreamEnded())
		}
	case *http2.RSTStreamFrame:
		if c := t.calls[f.StreamID]; c != nil {
			t.batch = append(t.batch, signal{call: c, kind: signalCancelled})
		}
	}
}

func (t *transport) ends(c *call, ended bool) {
	if ended {
		t.batch = append(t.batch, signal{call: c, kind: signalClosed})
	}
}

// next cuts the next whole message off what has arrived.
func (c *call) next() (message []byte, ok bool) {
	if len(c.in) < messageHead {
		return nil, false
	}
	n := messageHead + int(binary.BigEndian.Uint32(c.in[1:]))
	if len(c.in) < n {
		return nil, false
	}
	message, c.in = c.in[messageHead:n], c.in[n:]
	return message, true
}

// adjust takes the client's settings.
func (t *transport) adjust(f *http2.SettingsFrame) {
	if size, ok := f.Value(http2.SettingInitialWindowSize); ok {
		for _, c := range t.calls {
			c.window += int64(size) - t.initial
		}
		t.initial = int64(size)
	}
}

// widen widens the window of a stream, or with 0 of the connection, and sends what has waited for it.
func (t *transport) widen(stream uint32, by int64) {
	if c := t.calls[stream]; c != nil {
		c.window += by
		c.drain()
		return
	}
	if stream != 0 {
		return
	}
	t.window += by
	for _, id := range slices.Sorted(maps.Keys(t.calls)) {
		t.calls[id].drain()
	}
}

// serve passes on what has happened to the calls, in an order that does not depend on the scheduler of the client.
func (t *transport) serve() {
	batch := t.batch
	t.batch = nil
	order := map[*call]string{}
	for _, s := range batch {
		order[s.call] += fmt.Sprintf("%s\x00%d%s", s.call.method, s.kind, s.message)
	}
	slices.SortStableFunc(batch, func(a, b signal) int { return strings.Compare(order[a.call], order[b.call]) })
	for _, s := range batch {
		if s.call.over {
			continue
		}
		switch s.kind {
		case signalBegin:
			t.service.begin(s.call)
		case signalMessage:
			t.service.message(s.call, s.message)
		case signalClosed:
			t.service.closed(s.call)
		case signalCancelled:
			t.drop(s.call)
		}
	}
}

// drop ends a call that the client has given up.
func (t *transport) drop(c *call) {
	c.over = true
	delete(t.calls, c.id)
	t.service.cancelled(c)
}

// dropAll ends all calls: the connection has ended.
func (t *transport) dropAll() {
	t.send = func([]byte) {}
	for _, id := range slices.Sorted(maps.Keys(t.calls)) {
		t.drop(t.calls[id])
	}
}

// flush sends what has collected.
func (t *transport) flush() {
	if t.to.Len() > 0 {
		t.send(bytes.Clone(t.to.Bytes()))
		t.to.Reset()
	}
}

// headers writes a frame of headers, given as names and values.
func (t *transport) headers(stream uint32, end bool, fields ...string) {
	t.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		t.check(t.encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}))
	}
	t.check(t.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: t.block.Bytes(),
		EndHeaders: true, EndStream: end}))
}

// start sends the headers of an answer.
func (c *call) start() {
	if !c.started && !c.over {
		c.started = true
		c.t.headers(c.id, false, ":status", "200", "content-type", "application/grpc")
	}
}

func (c *call) reply(m proto.Message) {
	if c.over || c.trailer != nil {
		return
	}
	c.start()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("etcd: marshal %T: %v", m, err))
	}
	head := make([]byte, messageHead, messageHead+len(b))
	binary.BigEndian.PutUint32(head[1:], uint32(len(b)))
	c.out = append(append(c.out, head...), b...)
	c.drain()
}

// end ends the call, with the status of an error of gRPC; nil is OK.
func (c *call) end(err error) {
	if c.over || c.trailer != nil {
		return
	}
	s := status.New(codes.OK, "")
	if err != nil {
		s = status.Convert(err)
	}
	c.trailer = []string{"grpc-status", strconv.Itoa(int(s.Code()))}
	if s.Message() != "" {
		c.trailer = append(c.trailer, "grpc-message", url.PathEscape(s.Message()))
	}
	c.drain()
}

// drain sends data for which there is window, and the trailer after all data.
func (c *call) drain() {
	for n := c.room(); n > 0; n = c.room() {
		c.t.check(c.t.framer.WriteData(c.id, false, c.out[:n]))
		c.out = c.out[n:]
		c.window -= int64(n)
		c.t.window -= int64(n)
	}
	if len(c.out) > 0 || c.trailer == nil || c.over {
		return
	}
	fields := c.trailer
	if !c.started {
		fields = append([]string{":status", "200", "content-type", "application/grpc"}, fields...)
	}
	c.t.headers(c.id, true, fields...)
	c.over = true
	delete(c.t.calls, c.id)
}

// room is how many bytes the next frame of data has.
func (c *call) room() int {
	return int(max(min(int64(len(c.out)), maxFrame, c.window, c.t.window), 0))
}
