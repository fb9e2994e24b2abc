package zookeeper

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
)

// tree is the nodes and the sessions of a server. It is a function of the log.
type tree struct {
	nodes    map[string]*node
	sessions map[int64]int32 // timeouts in milliseconds, by session
	zxid     int64           // of the last transaction

	undo   []func() // of a transaction that is under way
	events []event
}

// node is a node of the tree.
type node struct {
	data                []byte
	acl                 []acl
	czxid, mzxid, pzxid int64
	ctime, mtime        int64 // in milliseconds
	version, aversion   int32
	created             int32 // children that were created
	owner               int64 // the session of an ephemeral node, or container
	children            map[string]bool
}

// container is the owner of a container: a node that the servers delete when it has had children and has none.
const container = math.MinInt64

// event is a change that watches tell of.
type event struct {
	kind eventKind
	path string
}

type eventKind int32

const (
	nodeCreated         eventKind = 1
	nodeDeleted         eventKind = 2
	nodeDataChanged     eventKind = 3
	nodeChildrenChanged eventKind = 4
)

// world is the access control list that lets everybody do everything.
var world = []acl{{perms: 31, scheme: "world", id: "anyone"}}

// special are the nodes that a new tree has, which cannot be deleted.
var special = []string{"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"}

func newTree() *tree {
	t := &tree{nodes: map[string]*node{}, sessions: map[int64]int32{}}
	for _, path := range special {
		t.nodes[path] = &node{children: map[string]bool{}, acl: world}
		if path != "/" {
			parent, name := split(path)
			t.nodes[parent].children[name] = true
		}
	}
	return t
}

// split is the parent's path, and the name.
func split(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '/')
	return cmp.Or(path[:i], "/"), path[i+1:]
}

// stat writes what is known of a node.
func (w *writer) stat(n *node) *writer {
	count := int32(len(n.children))
	owner := n.owner
	if owner == container {
		owner = 0
	}
	return w.int64(n.czxid).int64(n.mzxid).int64(n.ctime).int64(n.mtime).
		int32(n.version).int32(2*n.created - count).int32(n.aversion).
		int64(owner).int32(int32(len(n.data))).int32(count).int64(n.pzxid)
}

// transaction is a write on its way through the log: a request of a session, at a time of the leader, with the error
// with which the leader has refused it.
type transaction struct {
	id      uint64 // of the server that has it from a client
	session int64
	time    int64
	refused code
	packet  []byte
}

func (t transaction) encode() []byte {
	w := &writer{}
	w.int64(int64(t.id)).int64(t.session).int64(t.time).int32(int32(t.refused)).bytes(t.packet)
	return w.b
}

func decode(b []byte) (transaction, error) {
	r := &reader{b: b}
	t := transaction{id: uint64(r.int64()), session: r.int64(), time: r.int64(), refused: code(r.int32()),
		packet: r.bytes()}
	return t, r.err
}

// apply executes a write as the transaction with this id. It gives the answer's body, and the events in their order.
func (t *tree) apply(zxid int64, x transaction, q request) (body []byte, err code, events []event) {
	t.zxid = zxid
	t.undo, t.events = nil, nil
	if x.refused != ok {
		return nil, x.refused, nil
	}
	w := &writer{}
	if q.op == opMulti {
		t.multi(w, x, q)
	} else {
		err = t.execute(w, x, q)
	}
	return w.b, err, t.events
}

// multi executes a transaction of several requests: all of them, or none.
func (t *tree) multi(w *writer, x transaction, q request) {
	failed, why := -1, ok
	results := &writer{}
	for i, one := range q.ops {
		kind := one.op
		if kind == opCreateContainer {
			kind = opCreate2
		}
		results.int32(int32(kind)).bool(false).int32(0)
		if err := t.execute(results, x, one); err != ok {
			failed, why = i, err
			break
		}
	}
	if failed >= 0 {
		for _, undo := range slices.Backward(t.undo) {
			undo()
		}
		t.events = nil
		results = &writer{}
		for i := range q.ops {
			err := errRuntimeInconsistency
			switch {
			case i < failed:
				err = ok
			case i == failed:
				err = why
			}
			results.int32(int32(opError)).bool(false).int32(int32(err)).int32(int32(err))
		}
	}
	w.b = append(w.b, results.b...)
	w.int32(-1).bool(true).int32(-1)
}

func (t *tree) execute(w *writer, x transaction, q request) code {
	switch q.op {
	case opCreate, opCreate2, opCreateContainer:
		return t.create(w, x, q)
	case opCreateTTL:
		return errUnimplemented // as without zookeeper.extendedTypesEnabled
	case opReconfig:
		return errReconfigDisabled
	case opDelete:
		return t.delete(q)
	case opDeleteContainer:
		if n := t.nodes[q.path]; n == nil || len(n.children) > 0 {
			return errNotEmpty
		}
		t.remove(q.path)
	case opSetData, opSetACL, opCheck:
		return t.set(w, x, q)
	case opCreateSession:
		t.sessions[x.session] = q.timeout
	case opCloseSession:
		t.close(x.session)
	}
	return ok
}

func (t *tree) create(w *writer, x transaction, q request) code {
	ephemeral, sequential := q.flags&flagEphemeral != 0 && q.flags < 4, q.flags&flagSequential != 0 && q.flags < 4
	switch {
	case q.flags < 0 || q.flags > maxFlags:
		return errBadArguments
	case q.flags > 4:
		return errUnimplemented
	case !strings.Contains(q.path, "/") || strings.Contains(q.path, "\x00"):
		return errBadArguments
	case !validACL(q.acl):
		return errInvalidACL
	}
	above, _ := split(q.path)
	parent := t.nodes[above]
	if parent == nil {
		return errNoNode
	}
	path := q.path
	if sequential {
		path += fmt.Sprintf("%010d", parent.created)
	}
	switch {
	case !validPath(path):
		return errBadArguments
	case t.nodes[path] != nil:
		return errNodeExists
	case parent.owner != 0 && parent.owner != container:
		return errNoChildrenForEphemeral
	case ephemeral && t.sessions[x.session] == 0:
		return errSessionExpired
	}
	n := &node{
		data: slices.Clone(q.data), acl: q.acl, czxid: t.zxid, mzxid: t.zxid, pzxid: t.zxid, ctime: x.time, mtime: x.time,
		children: map[string]bool{},
	}
	switch {
	case ephemeral:
		n.owner = x.session
	case q.op == opCreateContainer:
		n.owner = container
	}
	_, name := split(path)
	pzxid := parent.pzxid
	t.undo = append(t.undo, func() {
		delete(t.nodes, path)
		delete(parent.children, name)
		parent.created, parent.pzxid = parent.created-1, pzxid
	})
	t.nodes[path] = n
	parent.children[name] = true
	parent.created, parent.pzxid = parent.created+1, t.zxid
	t.events = append(t.events, event{nodeCreated, path}, event{nodeChildrenChanged, above})
	w.string(path)
	if q.op != opCreate {
		w.stat(n)
	}
	return ok
}

func (t *tree) delete(q request) code {
	if !strings.Contains(q.path, "/") || slices.Contains(special, q.path) {
		return errBadArguments
	}
	n := t.nodes[q.path]
	switch {
	case n == nil:
		return errNoNode
	case q.version != -1 && q.version != n.version:
		return errBadVersion
	case len(n.children) > 0:
		return errNotEmpty
	}
	t.remove(q.path)
	return ok
}

func (t *tree) remove(path string) {
	above, name := split(path)
	n, parent := t.nodes[path], t.nodes[above]
	pzxid := parent.pzxid
	t.undo = append(t.undo, func() {
		t.nodes[path] = n
		parent.children[name] = true
		parent.pzxid = pzxid
	})
	delete(t.nodes, path)
	delete(parent.children, name)
	parent.pzxid = t.zxid
	t.events = append(t.events, event{nodeDeleted, path}, event{nodeChildrenChanged, above})
}

func (t *tree) set(w *writer, x transaction, q request) code {
	if !validPath(q.path) {
		return errBadArguments
	}
	if q.op == opSetACL && !validACL(q.acl) {
		return errInvalidACL
	}
	n := t.nodes[q.path]
	if n == nil {
		return errNoNode
	}
	version := &n.version
	if q.op == opSetACL {
		version = &n.aversion
	}
	if q.version != -1 && q.version != *version {
		return errBadVersion
	}
	before := *n
	t.undo = append(t.undo, func() { *n = before })
	switch q.op {
	case opSetData:
		n.data, n.mzxid, n.mtime = slices.Clone(q.data), t.zxid, x.time
		t.events = append(t.events, event{nodeDataChanged, q.path})
	case opSetACL:
		n.acl = q.acl
	default:
		return ok
	}
	*version++
	w.stat(n)
	return ok
}

// close ends a session: its ephemeral nodes go with it.
func (t *tree) close(session int64) {
	delete(t.sessions, session)
	for _, path := range t.ephemerals(session) {
		t.remove(path)
	}
}

func (t *tree) ephemerals(session int64) []string {
	var own []string
	for path, n := range t.nodes {
		if n.owner == session {
			own = append(own, path)
		}
	}
	slices.Sort(own)
	return own
}

func (t *tree) read(q request) (body []byte, err code) {
	w := &writer{}
	if !validPath(q.path) {
		return nil, errBadArguments
	}
	n := t.nodes[q.path]
	switch {
	case q.op == opSync:
		w.string(q.path)
		return w.b, ok
	case n == nil:
		return nil, errNoNode
	}
	switch q.op {
	case opGetData:
		w.bytes(n.data)
	case opGetACL:
		w.int32(int32(len(n.acl)))
		for _, a := range n.acl {
			w.int32(a.perms).string(a.scheme).string(a.id)
		}
	case opGetChildren, opGetChildren2:
		w.int32(int32(len(n.children)))
		for _, name := range slices.Sorted(maps.Keys(n.children)) {
			w.string(name)
		}
		if q.op == opGetChildren {
			return w.b, ok
		}
	}
	return w.stat(n).b, ok
}

// validACL reports whether a list says who may do what: an empty one, or one with an unknown scheme, is none.
func validACL(list []acl) bool {
	for _, a := range list {
		switch a.scheme {
		case "world":
			if a.id != "anyone" {
				return false
			}
		case "auth", "digest", "ip":
		default:
			return false
		}
	}
	return len(list) > 0
}

// validPath is the rule of ZooKeeper's PathUtils: absolute, without an empty name, without "." and "..", and without
// characters that cannot be printed.
func validPath(path string) bool {
	if path == "/" {
		return true
	}
	if path == "" || path[0] != '/' {
		return false
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		if name == "" || name == "." || name == ".." {
			return false
		}
	}
	for _, c := range utf16.Encode([]rune(path)) {
		if c == 0 || c <= 0x1f || c >= 0x7f && c <= 0x9f || c >= 0xd800 && c <= 0xf8ff || c >= 0xfff0 {
			return false
		}
	}
	return true
}
