package zookeeper

import (
	"fmt"
)

// op is a kind of request.
type op int32

const (
	opCreate          op = 1
	opDelete          op = 2
	opExists          op = 3
	opGetData         op = 4
	opSetData         op = 5
	opGetACL          op = 6
	opSetACL          op = 7
	opGetChildren     op = 8
	opSync            op = 9
	opPing            op = 11
	opGetChildren2    op = 12
	opCheck           op = 13
	opMulti           op = 14
	opCreate2         op = 15
	opReconfig        op = 16
	opCreateContainer op = 19
	opDeleteContainer op = 20 // between servers
	opCreateTTL       op = 21
	opAuth            op = 100
	opSetWatches      op = 101
	opCreateSession   op = -10 // between servers
	opCloseSession    op = -11
	opError           op = -1 // in the answer to a transaction
)

// code is ZooKeeper's number of an error.
type code int32

const (
	ok                        code = 0
	errRuntimeInconsistency   code = -2
	errMarshalling            code = -5
	errUnimplemented          code = -6
	errBadArguments           code = -8
	errNoNode                 code = -101
	errBadVersion             code = -103
	errNoChildrenForEphemeral code = -108
	errNodeExists             code = -110
	errNotEmpty               code = -111
	errSessionExpired         code = -112
	errInvalidACL             code = -114
	errAuthFailed             code = -115
	errSessionMoved           code = -118
	errReconfigDisabled       code = -123
)

var codeWords = map[code]string{
	ok: "ok", errRuntimeInconsistency: "not executed", errMarshalling: "the message cannot be read",
	errUnimplemented: "unimplemented",
	errBadArguments:  "bad arguments", errNoNode: "no node", errBadVersion: "bad version",
	errNoChildrenForEphemeral: "no children for ephemerals",
	errNodeExists:             "node exists", errNotEmpty: "not empty", errSessionExpired: "session expired",
	errInvalidACL: "invalid ACL",
	errAuthFailed: "authentication failed", errSessionMoved: "session moved",
	errReconfigDisabled: "reconfiguration is disabled",
}

func (c code) String() string {
	if w, ok := codeWords[c]; ok {
		return w
	}
	return fmt.Sprintf("error %d", int32(c))
}

// The flags of a node that is created.
const (
	flagEphemeral  = 1
	flagSequential = 2
	maxFlags       = 6
)

// acl is an entry of an access control list.
type acl struct {
	perms      int32
	scheme, id string
}

// request is a request. Each kind has some of the fields.
type request struct {
	xid     int32
	op      op
	path    string
	data    []byte
	acl     []acl
	flags   int32
	version int32
	watch   bool
	ops     []request // of a transaction
	zxid    int64     // the last one that the client has seen
	watches [3][]string
	timeout int32  // of a session, in milliseconds
	scheme  string // of an authentication
}

// The lists of setWatches.
const (
	dataWatches = iota
	existWatches
	childWatches
)

// isWrite reports whether the servers have to agree on a request.
func (r request) isWrite() bool {
	switch r.op {
	case opCreate, opCreate2, opCreateContainer, opCreateTTL, opDelete, opSetData, opSetACL, opMulti, opReconfig,
		opCreateSession, opCloseSession, opDeleteContainer:
		return true
	}
	return false
}

// parse reads a request. An unknown one has its kind only. An error says that it cannot be read.
func parse(b []byte) (request, error) {
	r := &reader{b: b}
	q := request{xid: r.int32(), op: op(r.int32())}
	q.read(r)
	return q, r.err
}

func (q *request) read(r *reader) {
	switch q.op {
	case opCreate, opCreate2, opCreateContainer, opCreateTTL:
		q.path, q.data = r.string(), r.bytes()
		q.acl = readACL(r)
		q.flags = r.int32()
		if q.op == opCreateTTL {
			r.int64()
		}
	case opDelete, opCheck:
		q.path, q.version = r.string(), r.int32()
	case opDeleteContainer, opGetACL, opSync:
		q.path = r.string()
	case opExists, opGetData, opGetChildren, opGetChildren2:
		q.path, q.watch = r.string(), r.bool()
	case opSetData:
		q.path, q.data, q.version = r.string(), r.bytes(), r.int32()
	case opSetACL:
		q.path, q.acl, q.version = r.string(), readACL(r), r.int32()
	case opMulti:
		for r.err == nil {
			kind, done := op(r.int32()), r.bool()
			r.int32() // an error, in answers
			if done || r.err != nil {
				return
			}
			one := request{op: kind}
			switch kind {
			case opCreate, opCreate2, opCreateContainer, opDelete, opSetData, opCheck:
				one.read(r)
			default:
				r.err = fmt.Errorf("a transaction with a request of kind %d", kind)
			}
			q.ops = append(q.ops, one)
		}
	case opAuth:
		r.int32()
		q.scheme = r.string()
		r.bytes()
	case opSetWatches:
		q.zxid = r.int64()
		for i := range q.watches {
			q.watches[i] = list(r, r.string)
		}
	case opCreateSession:
		q.timeout = r.int32()
	}
}

func readACL(r *reader) []acl {
	return list(r, func() acl { return acl{r.int32(), r.string(), r.string()} })
}

// known reports whether a client may send a request of the kind.
func (o op) known() bool {
	switch o {
	case opCreate, opDelete, opExists, opGetData, opSetData, opGetACL, opSetACL, opGetChildren, opSync, opPing,
		opGetChildren2, opMulti,
		opCreate2, opReconfig, opCreateContainer, opCreateTTL, opAuth, opSetWatches, opCloseSession:
		return true
	}
	return false
}
