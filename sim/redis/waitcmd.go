package redis

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/sim/rare"
)

// ackWait is a client's WAIT for replicas that have all its writes.
type ackWait struct {
	session *session
	args    []string
	need    int   // replicas
	offset  int64 // that they have to acknowledge
}

const waitOnReplica = "-ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a " +
	"replica is configured to be writable (which is not the default) writes to replicas are just local and are not " +
	"propagated.\r\n"

// runWait runs WAIT: it asks the replicas for their offsets, which takes a
// round trip over their links, and replies when enough of them have
// acknowledged, or at the timeout. That a replica has the write does not mean
// that it is the one to be promoted (F41).
func (s *session) runWait(args []string) {
	n := s.server
	need, timeout, problem := parseWait(args)
	if n.repl.leader != nil {
		problem = waitOnReplica
	}
	count := n.repl.acknowledged(s.written)
	switch {
	case problem != "":
		s.answer(args, []byte(problem))
	case count >= need:
		s.answer(args, integer(count))
	default:
		n.record(s, n.request(args), nil)
		s.acks = &ackWait{session: s, args: args, need: need, offset: s.written}
		n.waits.all = append(n.waits.all, s.acks)
		n.repl.askOffsets()
		n.waits.limit(s.acks, timeout)
	}
}

// parseWait reads the arguments of WAIT. A problem is an error reply.
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

// ackWaits are the pending WAITs of a server.
type ackWaits struct {
	server *Server
	all    []*ackWait
}

// limit ends a WAIT after a timeout; 0 means none.
func (w *ackWaits) limit(a *ackWait, timeout time.Duration) {
	if timeout == 0 {
		return
	}
	node := w.server.node
	node.After(timeout, func() {
		node.WhenServing(func() {
			if slices.Contains(w.all, a) {
				node.Reached(rare.RedisShortWait)
				w.end(a)
			}
		})
	})
}

// end replies to a WAIT with the number of replicas that have acknowledged, and
// serves its client's next commands.
func (w *ackWaits) end(a *ackWait) {
	w.drop(a)
	a.session.answer(a.args, integer(w.server.repl.acknowledged(a.offset)))
	a.session.serve()
}

func (w *ackWaits) drop(a *ackWait) {
	w.all = slices.DeleteFunc(w.all, func(x *ackWait) bool { return x == a })
	if a != nil {
		a.session.acks = nil
	}
}

func (r *role) acknowledged(offset int64) int {
	count := 0
	for _, f := range r.followers {
		if f.live && f.acked >= offset {
			count++
		}
	}
	return count
}

func (r *role) askOffsets() {
	for _, f := range r.followers {
		if f.live {
			f.send(f.acknowledge)
		}
	}
}

// acknowledge sends the replica's offset to the primary.
func (r *replication) acknowledge() {
	session, offset := r.session, r.to.ledger.offset
	r.back.Send(func() { r.confirm(session, offset) })
}

// confirm records the replica's offset, and replies to the WAITs that it
// completes.
func (r *replication) confirm(session int, offset int64) {
	if r.void(session) {
		return
	}
	r.acked, r.heard = max(r.acked, offset), r.from.node.Wall()
	waits := &r.from.waits
	for _, a := range slices.Clone(waits.all) {
		if r.from.repl.acknowledged(a.offset) >= a.need {
			waits.end(a)
		}
	}
}

func isWait(args []string) bool { return strings.EqualFold(args[0], "WAIT") }
