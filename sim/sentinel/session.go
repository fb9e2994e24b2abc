package sentinel

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/sim"
	"locksim/sim/redis"
	"locksim/sim/trace"
)

// version is that of Redis with which the Sentinels are compared.
const version = "7.0.15"

// session is one client's connection.
type session struct {
	server   *Server
	conn     *sim.ServerConn
	in       []byte
	resp3    bool
	name     string
	channels map[string]bool
	patterns map[string]bool
	closed   bool
	out      []byte // the answer to the current command
	asked    bool   // for the address of the primary
	held     []string
}

// search is a client's search for the primary: it asks each Sentinel once, all at the same time, and goes on with the
// first that answers.
type search struct {
	first *Server
	asked map[*Server]bool
	over  bool          // it has subscribed to the events of the first
	at    time.Duration // in virtual time: it is no part of what a Sentinel does
}

// searchLasts is how long a search may take.
const searchLasts = 15 * time.Second

// holds reports whether a question for the primary waits. go-redis keeps a mutex from the first answer until it has
// subscribed to events there, and waits for that mutex when it has the next answer: virtual time would stand still. So
// the other Sentinels answer after that. Where the client never subscribes, it has ended their connections before the
// search is over.
func (x *session) holds(args []string) bool {
	if len(args) != 3 || !strings.EqualFold(args[0], "SENTINEL") ||
		!strings.EqualFold(args[1], "GET-MASTER-ADDR-BY-NAME") {
		return false
	}
	searches, client, now := x.server.group.searches, x.conn.Client(), x.server.node.Virtual()
	again := x.asked
	x.asked = true
	s := searches[client]
	switch {
	case s != nil && now-s.at < searchLasts && (!s.asked[x.server] || !s.over && s.first != x.server):
		s.asked[x.server] = true
		if s.over {
			return false
		}
		x.held = args
		return true
	case !again:
		searches[client] = &search{first: x.server, asked: map[*Server]bool{x.server: true}, at: now}
	}
	return false
}

// found ends the search of a client that has subscribed to events: the other Sentinels answer.
func (x *session) found() {
	client := x.conn.Client()
	s := x.server.group.searches[client]
	if s == nil || s.over || s.first != x.server {
		return
	}
	s.over = true
	for _, s := range x.server.group.sentinels {
		for _, y := range slices.Clone(s.clients) {
			if args := y.held; args != nil && y.conn.Client() == client {
				y.held = nil
				y.run(args)
				y.serve()
			}
		}
	}
}

// Accept implements [sim.Server].
func (s *Server) Accept(c *sim.ServerConn) sim.Session {
	x := &session{server: s, conn: c, channels: map[string]bool{}, patterns: map[string]bool{}}
	s.clients = append(s.clients, x)
	return x
}

// Data implements [sim.Session].
func (x *session) Data(b []byte) {
	if x.closed {
		return
	}
	x.in = append(slices.Clip(x.in), b...)
	x.serve()
}

// serve carries out the commands that have arrived.
func (x *session) serve() {
	for !x.closed && x.held == nil {
		args, n, err := redis.ParseCommand(x.in)
		if err != nil {
			x.conn.Send([]byte("-" + err.Error() + "\r\n"))
			x.conn.Finish()
			x.end()
			return
		}
		if n == 0 {
			return
		}
		x.in = x.in[n:]
		if len(args) > 0 && !x.holds(args) {
			x.run(args)
		}
	}
}

// EOF implements [sim.Session].
func (x *session) EOF() {
	x.end()
	x.conn.Finish()
}

// Reset implements [sim.Session].
func (x *session) Reset() { x.end() }

func (x *session) end() {
	x.closed = true
	x.server.clients = slices.DeleteFunc(x.server.clients, func(y *session) bool { return y == x })
}

// run carries a command out, and answers.
func (x *session) run(args []string) {
	x.out = nil
	x.carryOut(args)
	x.server.node.Record(x.conn.Client(), trace.Exec{Conn: x.conn.Name(), Request: redis.NewRequest(args),
		Answer: redis.RESP(x.out)})
	if !greets(args) { // that was answered early
		x.conn.Send(x.out)
	}
}

// message sends an event to a subscriber: once for its channel, and once for each pattern that matches.
func (x *session) message(channel, text string) {
	send := func(words ...string) {
		x.out = nil
		x.push(len(words))
		for _, w := range words {
			x.bulk(w)
		}
		x.conn.Send(x.out)
	}
	if x.channels[channel] {
		send("message", channel, text)
	}
	for _, p := range slices.Sorted(maps.Keys(x.patterns)) {
		if ok, err := path.Match(p, channel); ok && err == nil {
			send("pmessage", p, channel, text)
		}
	}
}

// The parts of an answer.

func (x *session) bulk(s string)   { x.out = fmt.Appendf(x.out, "$%d\r\n%s\r\n", len(s), s) }
func (x *session) array(n int)     { x.out = fmt.Appendf(x.out, "*%d\r\n", n) }
func (x *session) integer(n int)   { x.out = fmt.Appendf(x.out, ":%d\r\n", n) }
func (x *session) status(s string) { x.out = fmt.Appendf(x.out, "+%s\r\n", s) }

func (x *session) fail(format string, args ...any) {
	x.out = append(fmt.Appendf(append(x.out, '-'), format, args...), "\r\n"...)
}

func (x *session) push(n int) {
	if x.resp3 {
		x.out = fmt.Appendf(x.out, ">%d\r\n", n)
		return
	}
	x.array(n)
}

func (x *session) noArray() {
	if x.resp3 {
		x.out = append(x.out, "_\r\n"...)
		return
	}
	x.out = append(x.out, "*-1\r\n"...)
}

func (x *session) noBulk() {
	if x.resp3 {
		x.out = append(x.out, "_\r\n"...)
		return
	}
	x.out = append(x.out, "$-1\r\n"...)
}

// fields are names and values, a map in RESP3.
func (x *session) fields(pairs []string) {
	if x.resp3 {
		x.out = fmt.Appendf(x.out, "%%%d\r\n", len(pairs)/2)
	} else {
		x.array(len(pairs))
	}
	for _, p := range pairs {
		x.bulk(p)
	}
}

// command is a command of a Sentinel, or one of SENTINEL.
type command struct {
	least, most int // arguments, without the name; most is -1 for any number
	do          func(x *session, args []string)
}

var commands, subcommands map[string]command

func init() { // the functions name the maps
	commands = map[string]command{
		"ping":         {0, 1, (*session).ping},
		"hello":        {0, -1, (*session).helloCommand},
		"auth":         {1, 2, (*session).auth},
		"client":       {1, -1, (*session).client},
		"role":         {0, 0, (*session).role},
		"info":         {0, -1, (*session).info},
		"publish":      {2, 2, (*session).publishCommand},
		"subscribe":    {1, -1, func(x *session, args []string) { x.subscribe("subscribe", x.channels, args) }},
		"psubscribe":   {1, -1, func(x *session, args []string) { x.subscribe("psubscribe", x.patterns, args) }},
		"unsubscribe":  {0, -1, func(x *session, args []string) { x.unsubscribe("unsubscribe", x.channels, args) }},
		"punsubscribe": {0, -1, func(x *session, args []string) { x.unsubscribe("punsubscribe", x.patterns, args) }},
		"sentinel":     {1, -1, nil},
	}
	subcommands = map[string]command{
		"masters":                 {0, 0, func(x *session, _ []string) { x.array(1); x.fields(x.server.masterFields()) }},
		"master":                  {1, 1, named(func(x *session) { x.fields(x.server.masterFields()) })},
		"replicas":                {1, 1, named((*session).replicas)},
		"slaves":                  {1, 1, named((*session).replicas)},
		"sentinels":               {1, 1, named((*session).sentinels)},
		"get-master-addr-by-name": {1, 1, (*session).masterAddress},
		"ckquorum":                {1, 1, named((*session).checkQuorum)},
		"failover":                {1, 1, named((*session).failover)},
		"is-master-down-by-addr":  {4, 4, (*session).isDown},
		"myid":                    {0, 0, func(x *session, _ []string) { x.bulk(x.server.id) }},
		"flushconfig":             {0, 0, func(x *session, _ []string) { x.status("OK") }},
		"pending-scripts":         {0, 0, func(x *session, _ []string) { x.array(0) }},
	}
}

// carryOut carries a command out.
func (x *session) carryOut(args []string) {
	name := strings.ToLower(args[0])
	c, known := commands[name]
	rest := args[1:]
	if !known {
		list := ""
		for _, a := range rest {
			list += "'" + a + "' "
		}
		x.fail("ERR unknown command '%s', with args beginning with: %s", args[0], list)
		return
	}
	if name == "sentinel" && len(rest) > 0 {
		sub, known := subcommands[strings.ToLower(rest[0])]
		if !known {
			x.fail("ERR unknown subcommand '%s'. Try SENTINEL HELP.", rest[0])
			return
		}
		c, name, rest = sub, "sentinel|"+strings.ToLower(rest[0]), rest[1:]
	}
	if len(rest) < c.least || c.most >= 0 && len(rest) > c.most && name != "ping" || c.do == nil {
		x.fail("ERR wrong number of arguments for '%s' command", name)
		return
	}
	if name == "client" && slices.Contains([]string{"getname", "setname", "id"}, strings.ToLower(rest[0])) {
		name += "|" + strings.ToLower(rest[0])
	}
	if !x.resp3 && len(x.channels)+len(x.patterns) > 0 && name != "ping" && !strings.HasSuffix(name, "subscribe") {
		x.fail("ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this "+
			"context", name)
		return
	}
	c.do(x, rest)
}

// named is a command about the primary of a name, of which there is one.
func named(do func(x *session)) func(x *session, args []string) {
	return func(x *session, args []string) {
		if args[0] != MasterName {
			x.fail("ERR No such master with that name")
			return
		}
		do(x)
	}
}

func (x *session) ping(args []string) {
	switch {
	case len(args) > 1:
		x.fail("ERR wrong number of arguments for 'ping' command")
	case !x.resp3 && len(x.channels)+len(x.patterns) > 0:
		x.array(2)
		x.bulk("pong")
		x.bulk(strings.Join(args, ""))
	case len(args) == 1:
		x.bulk(args[0])
	default:
		x.status("PONG")
	}
}

func (x *session) helloCommand(args []string) {
	proto := 2
	if x.resp3 {
		proto = 3
	}
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		switch {
		case err != nil:
			x.fail("ERR Protocol version is not an integer or out of range")
			return
		case n != 2 && n != 3:
			x.fail("NOPROTO unsupported protocol version")
			return
		}
		proto = n
		for rest := args[1:]; len(rest) > 0; {
			switch {
			case strings.EqualFold(rest[0], "AUTH") && len(rest) > 2:
				if rest[1] != "default" {
					x.fail("WRONGPASS invalid username-password pair or user is disabled.")
					return
				}
				rest = rest[3:]
			case strings.EqualFold(rest[0], "SETNAME") && len(rest) > 1:
				x.name, rest = rest[1], rest[2:]
			default:
				x.fail("ERR Syntax error in HELLO option '%s'", rest[0])
				return
			}
		}
	}
	x.resp3 = proto == 3
	if x.resp3 {
		x.out = append(x.out, "%6\r\n"...)
	} else {
		x.array(12)
	}
	for _, w := range []string{"server", "redis", "version", version, "proto"} {
		x.bulk(w)
	}
	x.integer(proto)
	x.bulk("id")
	x.integer(42)
	for _, w := range []string{"mode", "sentinel", "modules"} {
		x.bulk(w)
	}
	x.array(0)
}

func (x *session) auth(args []string) {
	if len(args) == 1 {
		x.fail("ERR AUTH <password> called without any password configured for the default user. Are you sure your " +
			"configuration is correct?")
		return
	}
	if args[0] != "default" {
		x.fail("WRONGPASS invalid username-password pair or user is disabled.")
		return
	}
	x.status("OK")
}

func (x *session) client(args []string) {
	switch sub := strings.ToLower(args[0]); {
	case sub == "setname" && len(args) == 2:
		x.name = args[1]
		x.status("OK")
	case sub == "getname" && len(args) == 1:
		if x.name == "" {
			x.noBulk()
		} else {
			x.bulk(x.name)
		}
	case sub == "id" && len(args) == 1:
		x.integer(42)
	case sub == "setname" || sub == "getname" || sub == "id":
		x.fail("ERR wrong number of arguments for 'client|%s' command", sub)
	default:
		x.fail("ERR unknown subcommand '%s'. Try CLIENT HELP.", args[0])
	}
}

func (x *session) role([]string) {
	x.array(2)
	x.bulk("sentinel")
	x.array(1)
	x.bulk(MasterName)
}

// info is INFO: what it says of the primary, and which version it is.
func (x *session) info(args []string) {
	s := x.server
	since := int64(-1)
	tilt := 0
	if s.tiltSince != 0 {
		tilt, since = 1, int64((s.now()-s.tiltSince)/second)
	}
	status := "ok"
	switch {
	case s.master.odown:
		status = "odown"
	case s.master.down:
		status = "sdown"
	}
	host, port := address(s.current().Node())
	sections := []struct{ name, text string }{
		{"server", "# Server\r\nredis_version:" + version + "\r\nredis_mode:sentinel\r\nrun_id:" + s.id + "\r\ntcp_port:" +
			strconv.Itoa(Port) + "\r\n"},
		{"sentinel", fmt.Sprintf("# Sentinel\r\nsentinel_masters:1\r\nsentinel_tilt:%d\r\nsentinel_tilt_since_seconds:%d\r\n"+
			"sentinel_running_scripts:0\r\nsentinel_scripts_queue_length:0\r\nsentinel_simulate_failure_flags:0\r\n"+
			"master0:name=%s,status=%s,address=%s:%s,slaves=%d,sentinels=%d\r\n", tilt, since, MasterName, status, host, port,
			len(s.slaves), len(s.sentinels)+1)},
	}
	var parts []string
	for _, sec := range sections {
		wanted := func(a string) bool {
			return strings.EqualFold(a, sec.name) ||
				slices.Contains([]string{"all", "default", "everything"}, strings.ToLower(a))
		}
		if len(args) == 0 || slices.ContainsFunc(args, wanted) {
			parts = append(parts, sec.text)
		}
	}
	x.bulk(strings.Join(parts, "\r\n"))
}

// publishCommand is PUBLISH, which Sentinels use among each other.
func (x *session) publishCommand(args []string) {
	if args[0] != "__sentinel__:hello" {
		x.fail("ERR Only HELLO messages are accepted by Sentinel instances.")
		return
	}
	x.integer(1)
}

func (x *session) subscribe(word string, to map[string]bool, names []string) {
	defer x.found()
	for _, n := range names {
		to[n] = true
		x.push(3)
		x.bulk(word)
		x.bulk(n)
		x.integer(len(x.channels) + len(x.patterns))
	}
}

func (x *session) unsubscribe(word string, from map[string]bool, names []string) {
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(from))
		if len(names) == 0 {
			x.push(3)
			x.bulk(word)
			x.noBulk()
			x.integer(len(x.channels) + len(x.patterns))
		}
	}
	for _, n := range names {
		delete(from, n)
		x.push(3)
		x.bulk(word)
		x.bulk(n)
		x.integer(len(x.channels) + len(x.patterns))
	}
}

func (x *session) masterAddress(args []string) {
	if args[0] != MasterName {
		x.noArray()
		return
	}
	host, port := address(x.server.current().Node())
	x.array(2)
	x.bulk(host)
	x.bulk(port)
}

func (x *session) replicas() {
	s := x.server
	x.array(len(s.slaves))
	for _, in := range s.slaves {
		x.fields(s.replicaFields(in))
	}
}

func (x *session) sentinels() {
	s := x.server
	x.array(len(s.sentinels))
	for _, in := range s.sentinels {
		x.fields(s.sentinelFields(in))
	}
}

func (x *session) checkQuorum() {
	s := x.server
	usable := 1
	for _, in := range s.sentinels {
		if !in.down && in.connected {
			usable++
		}
	}
	short := usable < s.group.config.Quorum
	minority := usable < (len(s.sentinels)+1)/2+1
	if !short && !minority {
		x.status(fmt.Sprintf("OK %d usable Sentinels. Quorum and failover authorization can be reached", usable))
		return
	}
	text := fmt.Sprintf("NOQUORUM %d usable Sentinels. ", usable)
	if short {
		text += "Not enough available Sentinels to reach the specified quorum for this master"
	}
	if minority {
		if short {
			text += ". "
		}
		text += "Not enough available Sentinels to reach the majority and authorize a failover"
	}
	x.fail("%s", text)
}

func (x *session) failover() {
	if err := x.server.Failover(); err != nil {
		x.fail("%v", err)
		return
	}
	x.status("OK")
}

func (x *session) isDown(args []string) {
	_, err := strconv.ParseInt(args[1], 10, 64)
	epoch, err2 := strconv.ParseUint(args[2], 10, 64)
	if err != nil || err2 != nil {
		x.fail("ERR value is not an integer or out of range")
		return
	}
	s := x.server
	name := ""
	if n := s.group.node(args[0], args[1]); n != nil {
		name = n.Name()
	}
	o := s.opinion(name, epoch, args[3])
	x.array(3)
	down := 0
	if o.down {
		down = 1
	}
	x.integer(down)
	if o.leader == "" {
		o.leader = "*"
	}
	x.bulk(o.leader)
	x.integer(int(o.epoch))
}

// common are the fields that all instances have.
func (s *Server) common(in *instance, id string) []string {
	host, port := address(in.of)
	now := s.now()
	sent := ms(0)
	if in.pinged != 0 {
		sent = now - in.pinged
	}
	f := []string{
		"name", in.name(), "ip", host, "port", port, "runid", id, "flags", s.flags(in), "link-pending-commands", "0",
		"link-refcount", "1",
	}
	if in.kind == master && s.failover.state != none {
		f = append(f, "failover-state", []string{"none", "wait_start", "select_slave", "send_slaveof_noone", "wait_promotion",
			"reconf_slaves", "update_config"}[s.failover.state])
	}
	f = append(f, "last-ping-sent", text(sent), "last-ok-ping-reply", text(now-in.lastAvail), "last-ping-reply",
		text(now-in.lastPong))
	if in.down {
		f = append(f, "s-down-time", text(now-in.downSince))
	}
	if in.odown {
		f = append(f, "o-down-time", text(now-in.odownSince))
	}
	f = append(f, "down-after-milliseconds", text(s.downAfter()))
	if in.kind != sentinel {
		refresh := ms(0)
		if in.infoAt != 0 {
			refresh = now - in.infoAt
		}
		f = append(f, "info-refresh", text(refresh), "role-reported", string(in.reported), "role-reported-time",
			text(now-in.reportedAt))
	}
	return f
}

func text[T ~int | ~int64 | ~uint64](n T) string { return fmt.Sprint(n) }

func (s *Server) masterFields() []string {
	return append(s.common(s.master, s.master.runID), "config-epoch", text(s.configEpoch), "num-slaves",
		text(len(s.slaves)),
		"num-other-sentinels", text(len(s.sentinels)), "quorum", text(s.group.config.Quorum), "failover-timeout",
		text(s.timeout()),
		"parallel-syncs", "1")
}

func (s *Server) replicaFields(in *instance) []string {
	host, port, status := "?", "0", "err"
	if in.leader != nil {
		host, port = address(in.leader.Node())
	}
	if in.linkUp {
		status = "ok"
	}
	return append(s.common(in, in.runID), "master-link-down-time", text(in.linkDown), "master-link-status", status,
		"master-host", host,
		"master-port", port, "slave-priority", text(in.priority), "slave-repl-offset", text(in.offset), "replica-announced",
		"1")
}

func (s *Server) sentinelFields(in *instance) []string {
	vote := in.vote
	if vote == "" {
		vote = "?"
	}
	return append(s.common(in, in.peer.id), "last-hello-message", text(s.now()-in.heardHello), "voted-leader", vote,
		"voted-leader-epoch", text(in.voteEpoch))
}
