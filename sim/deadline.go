package sim

import (
	"errors"
	"time"
)

const (
	forRead = iota
	forWrite
)

// deadline is a deadline of a connection and the event that enforces it.
type deadline struct {
	at    time.Time
	armed time.Time // the instant for which an event is planned
}

var deadlineNames = [2]string{forRead: "read deadline", forWrite: "write deadline"}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// SetDeadline sets both deadlines; the zero time means none.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.setDeadline(forRead, t), c.setDeadline(forWrite, t))
}

// SetReadDeadline sets the deadline of Read.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadline(forRead, t) }

// SetWriteDeadline sets the deadline of Write.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(forWrite, t) }

func (c *Conn) setDeadline(side int, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadlines[side].at = t
	c.cond.Broadcast() // a blocked operation arms the new one
	return nil
}

// arm plans an event at the deadline of a blocked operation. Deadlines are
// moved far more often than they pass: the event that is planned for an old
// one plans the next when it fires. Deadlines of twins are one event. The
// mutex is held.
func (c *Conn) arm(side int) {
	d := &c.deadlines[side]
	if d.at.IsZero() || !d.armed.IsZero() && !d.armed.After(d.at) {
		return
	}
	at := d.at
	d.armed = at
	w, label, due := c.p.w, c.seam(deadlineNames[side]), int64(at.Sub(c.p.w.time.start))
	w.time.out.post(entry{where: c.p.name, rank: rankTimer, seq: uint64(due), label: label, commit: func() {
		w.time.queue.join(c.p.name, label, max(due, w.time.now()+1), func() { c.expire(side, at) })
	}})
}

func (c *Conn) expire(side int, planned time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := &c.deadlines[side]
	if d.armed.Equal(planned) {
		d.armed = time.Time{}
	}
	c.cond.Broadcast()
}
