package redis

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
)

// blockedCommand is a command such as BLPOP that waits for data. miniredis
// would start a goroutine for it, and which of several goroutines gets an
// element is a race. So the node itself keeps a queue: after every command it
// tries the blocked ones, the longest waiting first, as Redis does.
type blockedCommand struct {
	session *session
	args    []string
	db      int
	done    bool
}

// blocks reports whether a command may wait for data.
func blocks(args []string) bool {
	if args[0] == "" || !strings.ContainsRune("bBxX", rune(args[0][0])) {
		return false
	}
	switch strings.ToUpper(args[0]) {
	case "BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP":
		return true
	case "XREAD", "XREADGROUP":
		return blockOption(args) >= 0
	}
	return false
}

// blockOption is the index of an XREAD's option BLOCK, or -1.
func blockOption(args []string) int {
	for i, a := range args {
		switch {
		case strings.EqualFold(a, "STREAMS"):
			return -1
		case strings.EqualFold(a, "BLOCK"):
			return i
		}
	}
	return -1
}

// runBlocking runs a command that may block. Until it is done the client's next
// commands wait too.
func (s *session) runBlocking(args []string, db int) {
	n := s.server
	if n.guard.refuses() && n.guard.writes(strings.ToUpper(args[0])) {
		s.answer(args, []byte("-"+readOnlyError+"\r\n"))
		return
	}
	b := &blockedCommand{session: s, args: n.data.resolveLast(args, db), db: db}
	reply, ready := n.data.try(b)
	if ready {
		n.touch(db, args)
		s.answer(args, reply)
		return
	}
	nothing := bytes.Clone(reply)
	n.record(s, n.request(args), nil)
	s.waiting = b
	n.blocked.queue = append(n.blocked.queue, b)
	if d := blockingTimeout(args); d > 0 {
		n.node.After(d, func() {
			n.node.WhenServing(func() { n.blocked.timeout(b, nothing) })
		})
	}
}

// try runs a blocking command in MULTI and EXEC, where it does not block. ready
// is false if the reply says that there was no data.
func (d *dataset) try(b *blockedCommand) (reply []byte, ready bool) {
	d.ask(b.db, "MULTI")
	d.own.Resp3 = b.session.peer.Resp3
	defer func() { d.own.Resp3 = false }()
	if queued := d.ask(b.db, b.args...); !bytes.Equal(queued, []byte("+QUEUED\r\n")) {
		refused := bytes.Clone(queued)
		d.ask(b.db, "DISCARD")
		return refused, true
	}
	reply = bytes.TrimPrefix(d.ask(b.db, "EXEC"), []byte("*1\r\n"))
	switch string(reply) {
	case "*-1\r\n", "$-1\r\n", "_\r\n":
		return reply, false
	}
	return reply, true
}

// blockedCommands are the blocked commands of a server.
type blockedCommands struct {
	server *Server
	queue  []*blockedCommand // longest waiting first
}

// wake tries the blocked commands until none is ready. One that completes may
// make another ready.
func (c *blockedCommands) wake() {
	for i := 0; i < len(c.queue); i++ {
		b := c.queue[i]
		if reply, ready := c.server.data.try(b); ready {
			c.finish(b, bytes.Clone(reply))
			i = -1
		}
	}
}

// finish replies to a blocked command, and serves its client's next commands.
func (c *blockedCommands) finish(b *blockedCommand, reply []byte) {
	c.drop(b)
	c.server.touch(b.db, b.args)
	b.session.answer(b.args, reply)
	b.session.serve()
}

func (c *blockedCommands) timeout(b *blockedCommand, reply []byte) {
	if !b.done {
		c.server.tick()
		c.finish(b, reply)
	}
}

// drop removes a command from the queue, if it is in it.
func (c *blockedCommands) drop(b *blockedCommand) {
	if b == nil || b.done {
		return
	}
	b.done, b.session.waiting = true, nil
	c.queue = slices.DeleteFunc(c.queue, func(x *blockedCommand) bool { return x == b })
}

// blockingTimeout is the timeout of a command; 0 means none. It is measured by
// the node's monotonic clock. miniredis has checked the number.
func blockingTimeout(args []string) time.Duration {
	unit, at := time.Second, len(args)-1
	switch strings.ToUpper(args[0]) {
	case "BLMPOP", "BZMPOP":
		at = 1
	case "XREAD", "XREADGROUP":
		unit, at = time.Millisecond, blockOption(args)+1
	}
	f, err := strconv.ParseFloat(args[at], 64)
	if err != nil || f <= 0 {
		return 0
	}
	return max(time.Duration(min(f*float64(unit), float64(never))), 1)
}

// resolveLast replaces the ID $ of an XREAD, which means the last entry at the
// time of the command, not of a later try.
func (d *dataset) resolveLast(args []string, db int) []string {
	streams := slices.IndexFunc(args, func(a string) bool { return strings.EqualFold(a, "STREAMS") })
	if !strings.EqualFold(args[0], "XREAD") || streams < 0 {
		return args
	}
	args = slices.Clone(args)
	names := args[streams+1:]
	for i := len(names) / 2; i < len(names); i++ {
		if names[i] == "$" {
			names[i] = d.lastID(db, names[i-len(names)/2])
		}
	}
	return args
}

func (d *dataset) lastID(db int, stream string) string {
	reply := d.ask(db, "XREVRANGE", stream, "+", "-", "COUNT", "1")
	if f := strings.Fields(string(reply)); len(f) > 3 && f[0] == "*1" { // *1 *2 $n ID …
		return f[3]
	}
	return "0-0"
}
