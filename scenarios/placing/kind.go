package placing

import (
	"slices"
	"time"

	"locksim/faults"
	"locksim/lock/promise"
	"locksim/scenarios/kinds"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/spaces"
	"locksim/sim/trace"
)

// faultKind is a kind of fault that a sweep places at boundaries.
//
// It is placed just before each boundary at which its target does something that
// the fault would prevent, delay or change. Between two of these the target does
// nothing of the sort, so a fault that strikes anywhere between them finds its
// target in the same state, and one placement represents all of them. In particular
// just after a message is just before the next step of the same target. These
// boundaries are left out as equivalent:
//
//   - A pause and a clock jump of a client: boundaries at which only a node acts.
//   - A crash of a client, or the end of its power: also answers that arrive and to which the client does not
//     react in that instant. Their effect on the client is lost in the crash.
//   - A cut: answers that arrive. Bytes that are under way arrive in any case,
//     so only what is sent matters, on either side. A dial that has begun waits
//     as one that begins.
//   - A lost reply: all but the moments at which the node answers. The fault
//     waits for the next answer, whenever it comes.
//   - A clock jump of a server: all but the moments at which it acts on a command,
//     applies what another server sends, or a key of it expires: only then does it
//     read its clock.
//   - A restart of a server, by a crash or by a loss of power: all but the moments just before it does one of these,
//     and those just after. Before, the command that is
//     under way finds the node down; after, clients learn that their connections
//     have ended before they send again. When a command is sent makes no difference.
//
// Faults with a length strike a little earlier or later within such a gap, and end
// as much earlier or later; placements in one gap differ only in that.
type faultKind struct {
	text          string
	target        func(b boundary) string // the process or link that it strikes at a boundary; "" for none
	distinguishes []boundaryKind          // the boundaries at which it is placed
	action        func(b boundary, ttl time.Duration) faults.Action
	// restarts says that the target, which crashes, comes back.
	restarts bool
	// unasked says that it is placed where no faults are named.
	unasked bool
}

// allKinds are the kinds in the order in which they are placed. Those that are not
// placed unasked come last: a kind that was always placed would change every sweep.
// The boundaries that matter to the others are not known, so they are placed at all
// in which their target takes part.
var allKinds = append([]faultKind{
	{"a client stops for one and a half TTLs", clientOf, clientSteps,
		func(b boundary, ttl time.Duration) faults.Action {
			return faults.Pause{Process: b.client, For: percent(ttl, 150)}
		}, false, true},
	{"a client crashes", clientOf, []boundaryKind{sending, pointing}, crash(clientOf, faults.CrashProcess), false, true},
	{"a client and a node are cut off for one and a half TTLs, and what they send arrives late", linkOf, linkSteps,
		cut(faults.BytesHold), false, true},
	{"the same, and what they send is lost", linkOf, linkSteps, cut(faults.BytesDrop), false, true},
	{"the next reply is lost", linkOf, []boundaryKind{answering},
		func(b boundary, _ time.Duration) faults.Action {
			return faults.LoseReply{Between: []string{b.client}, And: []string{b.node}, Count: 1}
		}, false, true},
	{"a client's wall clock jumps forward by 1.1 TTLs", clientOf, clientSteps, jump(clientOf, 110), false, true},
	{"a client's wall clock jumps back by 1.1 TTLs", clientOf, clientSteps, jump(clientOf, -110), false, true},
	{"a server's clock jumps forward by 1.1 TTLs", serverOf, serverActs, jump(serverOf, 110), false, true},
	{"a server's clock jumps back by 1.1 TTLs", serverOf, serverActs, jump(serverOf, -110), false, true},
	{"a server crashes, and restarts a hundredth of a TTL later with what it has kept", serverOf, serverActs,
		crash(serverOf, faults.CrashProcess), true, true},
	{"a client crashes, and comes back a hundredth of a TTL later", clientOf, []boundaryKind{sending, pointing},
		crash(clientOf, faults.CrashProcess), true, false},
	{"the machine of a client loses its power", clientOf, []boundaryKind{sending, pointing},
		crash(clientOf, faults.CrashPower), false, false},
	{"the machine of a server loses its power, and restarts a hundredth of a TTL later with what was on its disk",
		serverOf, serverActs,
		crash(serverOf, faults.CrashPower), true, false},
	{"a Redis server forgets the scripts that it was sent", redisOf, serverSteps,
		func(b boundary, _ time.Duration) faults.Action {
			return faults.Flush{Node: b.node, What: faults.FlushScripts}
		}, false, false},
}, formKinds()...)

var (
	clientSteps = []boundaryKind{sending, receiving, pointing}
	linkSteps   = []boundaryKind{sending, answering}
	serverActs  = []boundaryKind{answering, applying, expiring}
	serverSteps = append([]boundaryKind{sending}, serverActs...)
)

// sample has the faults of the kind as they are at some boundary.
func (k faultKind) sample() []faults.Fault {
	p := placer{ttl: time.Second}
	return p.faults(k, boundary{client: "c0", node: "r0", servers: sampled}, 0)
}

// sampled are the servers of a sample.
var sampled = trace.Servers{{Name: "r0", Kind: server.Redis.Name, Role: trace.RoleSingle},
	{Name: "sen0", Role: trace.RoleWatcher}}

// class is the class of its faults: of a crash with a restart, that of the restart.
func (k faultKind) class() promise.Fault {
	all := k.sample()
	return faults.ClassIn(all, all[len(all)-1].Action)
}

// name is what its faults are called: see [spaces.FaultName].
func (k faultKind) name() string {
	all := k.sample()
	return spaces.FaultName(all, all[len(all)-1].Action)
}

// FaultKind is a kind of fault that a sweep can place.
type FaultKind struct {
	// Name is its name in the command and in the stored sweep, one of
	// [spaces.FaultNames]. Text says in a line what it does.
	Name, Text string
	// Unasked says that it is placed where no faults are named.
	Unasked bool
}

// Kinds lists the kinds in the order in which they are placed; those that share a
// name are one. The caller owns the slice.
func Kinds() []FaultKind {
	var out []FaultKind
	for _, k := range allKinds {
		name := k.name()
		i := slices.IndexFunc(out, func(f FaultKind) bool { return f.Name == name })
		if i < 0 {
			out = append(out, FaultKind{name, k.text, k.unasked})
			continue
		}
		out[i].Text += "; " + k.text
	}
	return out
}

// kindsOf are the kinds of some classes and of some names, in their own order;
// those that are placed unasked if classes is nil.
func kindsOf(classes []promise.Fault, names []string) []faultKind {
	return slices.DeleteFunc(slices.Clone(allKinds), func(k faultKind) bool {
		if classes == nil {
			return !k.unasked
		}
		if isRare(k.name()) { // few worlds have its target
			return !slices.Contains(names, k.name())
		}
		return !slices.Contains(classes, k.class()) && !slices.Contains(names, k.name())
	})
}

// isRare reports whether a kind of fault strikes servers that few worlds have.
func isRare(kind string) bool {
	return slices.ContainsFunc(faults.Kinds(), func(f faults.Form) bool { return f.Name == kind && f.Needs() != 0 })
}

// formKinds are all other kinds of fault, placed by their forms.
func formKinds() []faultKind {
	byHand := []string{"pause", "crash", "restart", "partition", "lose_reply", "clock_jump"}
	var out []faultKind
	for _, form := range faults.Kinds() {
		if slices.Contains(byHand, form.Name) {
			continue
		}
		k := formKind(form)
		out = append(out, k)
		if strikesEither(form) {
			k.target, k.distinguishes = serverOf, serverSteps
			k.action = func(b boundary, ttl time.Duration) faults.Action {
				b.client = ""
				return fillIn(form.Name, b, ttl)
			}
			out = append(out, k)
		}
	}
	return out
}

// strikesEither reports whether a fault strikes a client or a server, whichever it names.
func strikesEither(form faults.Form) bool {
	return slices.ContainsFunc(form.Fields, func(f faults.Field) bool {
		name, ok := f.Holds.(faults.Name)
		return ok && name.Role.Has(faults.Clients) && name.Role.Has(faults.Servers)
	})
}

// formKind places a kind of fault by its form. The role of its target decides
// where: at the client, the node or the link of a boundary.
func formKind(blank faults.Form) faultKind {
	k := faultKind{text: blank.Text, target: func(boundary) string { return everything },
		distinguishes: []boundaryKind{sending, answering, receiving, pointing, expiring, applying}}
	for _, field := range blank.Fields {
		switch h := field.Holds.(type) {
		case faults.Names:
			if h.Side == faults.Near {
				k.target, k.distinguishes = linkOf, []boundaryKind{sending, answering, receiving}
			}
		case faults.Name:
			switch {
			case h.Role.Has(faults.Clients):
				k.target, k.distinguishes = clientOf, clientSteps
			case h.Role.Has(faults.Watchers | faults.ClusterNodes):
				k.target = func(b boundary) string {
					if b.first(h.Role) == "" {
						return ""
					}
					return everything
				}
			case h.Role.Has(faults.Members):
				k.target, k.distinguishes = memberOf, serverSteps
			case h.Role.Has(faults.Store):
				k.target, k.distinguishes = nodeOf, serverSteps
			case h.Role.Has(faults.Servers):
				k.target, k.distinguishes = serverOf, serverSteps
			}
		}
	}
	k.action = func(b boundary, ttl time.Duration) faults.Action { return fillIn(blank.Name, b, ttl) }
	return k
}

// fillIn is a fault of a kind that strikes the target of a boundary: for one and a
// half TTLs, with the same delay, and otherwise with the defaults of a file.
func fillIn(kind string, b boundary, ttl time.Duration) faults.Action {
	all := faults.Kinds()
	form := all[slices.IndexFunc(all, func(f faults.Form) bool { return f.Name == kind })]
	for _, field := range form.Fields {
		switch h := field.Holds.(type) {
		case faults.Name:
			switch {
			case h.Role.Has(faults.Clients) && b.client != "":
				*h.To = b.client
			case h.Role.Has(faults.Watchers | faults.ClusterNodes):
				*h.To = b.first(h.Role)
			case !h.Role.Has(faults.Family):
				*h.To = b.node
			}
		case faults.Names:
			switch h.Side {
			case faults.Near:
				*h.To = []string{b.client}
			case faults.Far:
				*h.To = []string{b.node}
			}
		case faults.Count:
			*h.To = max(*h.To, h.Such)
		case faults.Deviation:
			*h.To = h.Such
		case faults.Length:
			*h.To = percent(ttl, 150)
		case faults.Offset:
			*h.To = percent(ttl, 150)
		}
	}
	form, _ = faults.Open(form.Action()) // a default may depend on what is there
	form.Fill()
	return form.Action()
}

func clientOf(b boundary) string { return b.client }

// redisOf is the Redis server of a boundary, "" for none.
func redisOf(b boundary) string {
	if b.server().Kind == server.Redis.Name {
		return b.node
	}
	return ""
}

// nodeOf is the node of a boundary. serverOf is the same except the store, which has no clock that is read, and is no
// part of the lock.
func nodeOf(b boundary) string { return b.node }

func serverOf(b boundary) string {
	if b.server().Role == trace.RoleStore {
		return ""
	}
	return b.node
}

// memberOf is the server of a boundary that is a member of a cluster, "" for none.
func memberOf(b boundary) string {
	if b.server().Role == trace.RoleMember {
		return b.node
	}
	return ""
}

// everything is the target of a fault that strikes no client, server or link by its name.
const everything = "all"

// first is the first server that watches others, or the last one of a Redis Cluster, which is a replica; "" for none.
func (b boundary) first(role faults.Role) string {
	name := ""
	for _, s := range b.servers {
		switch {
		case role.Has(faults.Watchers) && s.Role == trace.RoleWatcher:
			return s.Name
		case role.Has(faults.ClusterNodes) && inCluster(s):
			name = s.Name
		}
	}
	return name
}

// inCluster reports whether a server is a node of a Redis Cluster.
func inCluster(s trace.Server) bool {
	return slices.ContainsFunc(kinds.Servers(), func(k server.Kind) bool { return k.Name == s.Kind && k.Cluster })
}

func linkOf(b boundary) string {
	if b.client == "" || b.node == "" {
		return ""
	}
	return b.client + "-" + b.node
}

func cut(bytes faults.Bytes) func(boundary, time.Duration) faults.Action {
	return func(b boundary, ttl time.Duration) faults.Action {
		return faults.Partition{Between: []string{b.client}, And: []string{b.node}, For: percent(ttl, 150), Bytes: bytes,
			Direction: faults.DirectionBoth}
	}
}

func crash(whose func(boundary) string, mode faults.CrashMode) func(boundary, time.Duration) faults.Action {
	return func(b boundary, _ time.Duration) faults.Action {
		return faults.Crash{Process: whose(b), Mode: mode}
	}
}

func jump(whose func(boundary) string, by int) func(boundary, time.Duration) faults.Action {
	return func(b boundary, ttl time.Duration) faults.Action {
		return faults.ClockJump{Clock: whose(b), By: percent(ttl, by)}
	}
}

// percent is a percentage of a TTL, in whole milliseconds, 1 ms at least.
func percent(ttl time.Duration, n int) time.Duration {
	d := (ttl * time.Duration(n) / 100).Truncate(time.Millisecond)
	if d == 0 {
		return time.Millisecond
	}
	return d
}
