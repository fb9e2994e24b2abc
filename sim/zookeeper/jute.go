package zookeeper

import (
	"encoding/binary"
	"errors"
)

// This file has the encoding of ZooKeeper's messages, which its documentation calls jute: integers in big-endian order,
// byte strings and lists after their lengths.

// maxMessage is the longest message that a server takes: jute.maxbuffer.
const maxMessage = 0xfffff

// errShort is a message that ends too early, or has a length that cannot be.
var errShort = errors.New("the message ends too early")

// reader reads a message. After an error, which it keeps, it reads zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		r.err = errShort
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) bool() bool {
	b := r.take(1)
	return b != nil && b[0] != 0
}

// bytes reads a byte string. A length of -1 is that of none.
func (r *reader) bytes() []byte {
	n := r.int32()
	if n == -1 {
		return nil
	}
	return r.take(int(n))
}

func (r *reader) string() string { return string(r.bytes()) }

// list reads a list of so many elements as are given.
func list[T any](r *reader, element func() T) []T {
	var all []T
	for n := r.int32(); n > 0 && r.err == nil; n-- {
		all = append(all, element())
	}
	return all
}

// writer writes a message.
type writer struct{ b []byte }

func (w *writer) int32(v int32) *writer {
	w.b = binary.BigEndian.AppendUint32(w.b, uint32(v))
	return w
}

func (w *writer) int64(v int64) *writer {
	w.b = binary.BigEndian.AppendUint64(w.b, uint64(v))
	return w
}

func (w *writer) bool(v bool) *writer {
	b := byte(0)
	if v {
		b = 1
	}
	w.b = append(w.b, b)
	return w
}

func (w *writer) bytes(v []byte) *writer {
	if v == nil {
		return w.int32(-1)
	}
	w.int32(int32(len(v)))
	w.b = append(w.b, v...)
	return w
}

func (w *writer) string(v string) *writer {
	w.int32(int32(len(v)))
	w.b = append(w.b, v...)
	return w
}

// packet is the message with its length before it.
func (w *writer) packet() []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(w.b)), uint32(len(w.b))), w.b...)
}

// cut takes the first whole message off a stream: its content, and what comes after it. The content is nil if there is
// none yet, and err says that a length cannot be.
func cut(stream []byte) (message, rest []byte, err error) {
	if len(stream) < 4 {
		return nil, stream, nil
	}
	n := binary.BigEndian.Uint32(stream)
	switch {
	case n > maxMessage:
		return nil, stream, errors.New("the message is longer than a server takes")
	case uint32(len(stream)-4) < n:
		return nil, stream, nil
	}
	return stream[4 : 4+n : 4+n], stream[4+n:], nil
}
