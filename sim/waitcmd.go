package sim

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// ackWait is a client's WAIT for replicas that have all it has written.
type ackWait struct {
	session *redisSession
	args    []string
	need    int   // replicas
	offset  int64 // that they are to have
}

const waitOnReplica = "-ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated.\r\n"

// runWait runs WAIT: it asks the replicas how far they are, which takes a round
// trip over their links, and answers when enough of them are there, or when the
// time is up. That a replica has the write does not mean that it is the one to
// be promoted (F41).
func (s *redisSession) runWait(args []string) {
	n := s.node
	need, timeout, problem := parseWait(args)
	if n.leader != nil {
		problem = waitOnReplica
	}
	count := n.acknowledged(s.written)
	switch {
	case problem != "":
		s.answer(args, []byte(problem))
	case count >= need:
		s.answer(args, integer(count))
	default:
		n.record(s.conn.link.p.name, args, "(waits)")
		s.acks = &ackWait{session: s, args: args, need: need, offset: s.written}
		n.waits = append(n.waits, s.acks)
		n.askOffsets()
		n.limitWait(s.acks, timeout)
	}
}

// parseWait reads the arguments of WAIT. A problem is an answer.
func parseWait(args []string) (replicas int, timeout time.Duration, problem string) {
	if len(args) != 3 {
		return 0, 0, "-ERR wrong number of arguments for 'wait' command\r\n"
	}
	replicas, err := strconv.Atoi(args[1])
	if err != nil {
		return 0, 0, "-ERR value is not an integer or out of range\r\n"
	}
	ms, err := strconv.ParseInt(args[2], 10, 64)
	switch {
	case err != nil || ms > int64(never/time.Millisecond):
		problem = "-ERR timeout is not an integer or out of range\r\n"
	case ms < 0:
		problem = "-ERR timeout is negative\r\n"
	}
	return replicas, time.Duration(ms) * time.Millisecond, problem
}

func integer(n int) []byte { return []byte(":" + strconv.Itoa(n) + "\r\n") }

// limitWait ends a WAIT after a while; 0 is never.
func (n *RedisNode) limitWait(a *ackWait, timeout time.Duration) {
	if timeout == 0 {
		return
	}
	n.w.queue.add(n.w.now()+int64(n.clock.worldDuration(timeout)), func() {
		n.w.whenServed(n, func() {
			if slices.Contains(n.waits, a) {
				n.endWait(a)
			}
		})
	})
}

// endWait answers a WAIT with the number of replicas that are there by now, and
// lets its client go on.
func (n *RedisNode) endWait(a *ackWait) {
	n.dropWait(a)
	a.session.answer(a.args, integer(n.acknowledged(a.offset)))
	a.session.serve()
}

func (n *RedisNode) dropWait(a *ackWait) {
	n.waits = slices.DeleteFunc(n.waits, func(x *ackWait) bool { return x == a })
	if a != nil {
		a.session.acks = nil
	}
}

// acknowledged is how many replicas are known to have all effects up to one.
func (n *RedisNode) acknowledged(offset int64) int {
	count := 0
	for _, r := range n.followers {
		if r.live && r.acked >= offset {
			count++
		}
	}
	return count
}

// askOffsets asks every replica how far it is.
func (n *RedisNode) askOffsets() {
	for _, r := range n.followers {
		if r.live {
			r.send(r.acknowledge)
		}
	}
}

// acknowledge tells the primary how far the replica is.
func (r *replication) acknowledge() {
	session, offset := r.session, r.to.ledger.offset
	r.link.send(r.back(), func() {
		if !r.void(session) && !r.from.Down() {
			r.from.w.whenServed(r.from, func() { r.confirm(session, offset) })
		}
	})
}

// confirm notes how far the replica is, and answers who waits for that.
func (r *replication) confirm(session int, offset int64) {
	if r.void(session) || r.from.Down() {
		return
	}
	r.acked = max(r.acked, offset)
	for _, a := range slices.Clone(r.from.waits) {
		if r.from.acknowledged(a.offset) >= a.need {
			r.from.endWait(a)
		}
	}
}

func isWait(args []string) bool { return strings.EqualFold(args[0], "WAIT") }
