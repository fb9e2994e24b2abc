//go:build linux

package sqllocks

import (
	"net"
	"os"
	"testing"
	"time"
)

// recorded is a connection that takes what is written before its deadline.
type recorded struct {
	net.Conn
	deadline time.Time
	written  int
}

func (r *recorded) SetDeadline(t time.Time) error { r.deadline = t; return nil }

func (r *recorded) Write(b []byte) (int, error) {
	if !r.deadline.IsZero() {
		return 0, os.ErrDeadlineExceeded
	}
	r.written += len(b)
	return len(b), nil
}

// A deadline that has passed keeps any message from being sent but the last one, and is in force again after it.
func TestGoodbye(t *testing.T) {
	past := time.Unix(1, 0)
	for _, deadlineFirst := range []bool{true, false} {
		inner := &recorded{}
		g := &goodbye{Conn: inner}
		if deadlineFirst {
			_ = g.SetDeadline(past)
			if _, err := g.Write([]byte("Q...")); err == nil {
				t.Error("a query was sent after the deadline")
			}
		}
		if _, err := g.Write(terminate); err != nil || inner.written != len(terminate) {
			t.Errorf("the last message was not sent: %v", err)
		}
		if deadlineFirst != inner.deadline.Equal(past) {
			t.Errorf("deadline first: %v; afterwards it is %v", deadlineFirst, inner.deadline)
		}
	}
}
