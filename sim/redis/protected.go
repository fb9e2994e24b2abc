package redis

import (
	"bytes"

	"locksim/sim/trace"
)

// Protected says how clients keep the protected data of a run in a Redis server, by scripts. The trace has a
// [trace.Decision] for each script about it then, as for the operations of the store.
type Protected struct {
	// Of is the operation that a command is about, of which ok is false for every other command. The arguments are those
	// of EVAL or EVALSHA.
	Of func(args []string) (op trace.Decision, ok bool)
	// Where is the hash and the field of a register.
	Where func(resource, register string) (key, field string)
}

// decided records what a script has decided about an operation: one that answers with a list that begins with 0 has
// refused it, and one that failed has decided nothing.
func (n *Server) decided(s *session, args []string, reply []byte) {
	p := n.family.config.Protected
	if p == nil || len(args) < 4 || !runsScript(args[0]) || bytes.HasPrefix(reply, []byte("-")) {
		return
	}
	op, ok := p.Of(args)
	if !ok {
		return
	}
	if list, first := cutLine(reply); len(list) > 0 && list[0] == '*' && bytes.HasPrefix(first, []byte(":0\r\n")) {
		op.Refused = "the version is another"
	}
	op.Conn = s.conn.Name()
	n.node.Record(s.conn.Client(), op)
}

// Value is the value of a register of the protected data, "" if there is none.
func (n *Server) Value(resource, register string) string {
	p := n.family.config.Protected
	if p == nil || n.repl.leader != nil {
		return ""
	}
	key, field := p.Where(resource, register)
	return n.data.mini.HGet(key, field)
}
