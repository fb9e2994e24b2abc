package rediscluster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locksim/sim/redis"
)

// Answers implements [redis.Cluster].
func (s *Server) Answers(args []string) bool {
	return slices.Contains([]string{"asking", "cluster", "command", "migrate", "readonly", "readwrite"},
		strings.ToLower(args[0]))
}

// Command implements [redis.Cluster].
func (s *Server) Command(c *redis.ClusterClient, args []string) []byte {
	name := strings.ToLower(args[0])
	if known := commands()[name]; !known.accepts(len(args)) {
		return problem("ERR wrong number of arguments for '%s' command", name)
	} else if len(args) > 1 && known.subcommands != nil {
		sub := known.subcommands[strings.ToLower(args[1])]
		switch {
		case sub == nil:
			return problem("ERR unknown subcommand '%s'. Try %s HELP.", args[1], strings.ToUpper(name))
		case !sub.accepts(len(args)):
			return problem("ERR wrong number of arguments for '%s' command", sub.name)
		}
	}
	switch name {
	case "asking":
		c.Asking = true
	case "readonly", "readwrite":
		c.ReadOnly = name == "readonly"
	case "command":
		return s.commandCommand(c, args)
	case "migrate":
		return s.migrate(c, args)
	case "cluster":
		return s.cluster(c, strings.ToLower(args[1]), args)
	}
	return okay
}

func problem(format string, args ...any) []byte {
	return fmt.Appendf(nil, "-"+format+"\r\n", args...)
}

func bulk(s string) []byte { return fmt.Appendf(nil, "$%d\r\n%s\r\n", len(s), s) }

func number[T ~int | ~int64 | ~uint64](n T) []byte { return fmt.Appendf(nil, ":%d\r\n", n) }

func array(items ...[]byte) []byte {
	return append(fmt.Appendf(nil, "*%d\r\n", len(items)), slices.Concat(items...)...)
}

// fields are names and values: a map in RESP3.
func fields(resp3 bool, pairs ...[]byte) []byte {
	if resp3 {
		return append(fmt.Appendf(nil, "%%%d\r\n", len(pairs)/2), slices.Concat(pairs...)...)
	}
	return array(pairs...)
}

var okay = []byte("+OK\r\n")

// commandCommand is COMMAND. Without an argument it is what clients ask.
func (s *Server) commandCommand(c *redis.ClusterClient, args []string) []byte {
	if len(args) == 1 {
		if c.RESP3() {
			return commandReplies()[1]
		}
		return commandReplies()[0]
	}
	switch strings.ToLower(args[1]) {
	case "count":
		return number(len(commands()))
	case "getkeys":
		cmd := find(args[2:])
		if cmd == nil {
			return problem("ERR Invalid command specified")
		}
		keys := cmd.keysOf(args[2:])
		if len(keys) == 0 {
			return problem("ERR The command has no key arguments")
		}
		var items [][]byte
		for _, k := range keys {
			items = append(items, bulk(k))
		}
		return array(items...)
	}
	return problem("ERR COMMAND %s is not modelled in the simulated Redis Cluster", strings.ToUpper(args[1]))
}

// cluster is CLUSTER with a subcommand. Those that change which nodes there are, and some others, are not modelled.
func (s *Server) cluster(c *redis.ClusterClient, sub string, args []string) []byte {
	switch sub {
	case "slots":
		return s.slotsReply(c.RESP3())
	case "shards":
		return s.shardsReply(c.RESP3())
	case "nodes":
		return bulk(s.nodesText())
	case "info":
		return bulk(s.infoText())
	case "myid":
		return bulk(s.id)
	case "keyslot":
		return number(Slot(args[2]))
	case "countkeysinslot":
		return s.countKeys(args[2])
	case "getkeysinslot":
		return s.getKeys(args[2], args[3])
	case "replicas", "slaves":
		return s.replicasReply(args[2])
	case "failover":
		return s.failoverReply(args[2:])
	case "setslot":
		return s.setSlot(args[2:])
	}
	return problem("ERR CLUSTER %s is not modelled in the simulated Redis Cluster", strings.ToUpper(sub))
}

func integerIn(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil
}

const notInteger = "ERR value is not an integer or out of range"

func (s *Server) countKeys(slot string) []byte {
	n, ok := integerIn(slot)
	switch {
	case !ok:
		return problem(notInteger)
	case n < 0 || n >= Slots:
		return problem("ERR Invalid slot")
	}
	return number(len(s.keysIn(n)))
}

func (s *Server) getKeys(slot, most string) []byte {
	n, ok := integerIn(slot)
	limit, ok2 := integerIn(most)
	switch {
	case !ok || !ok2:
		return problem(notInteger)
	case n < 0 || n >= Slots || limit < 0:
		return problem("ERR Invalid slot or number of keys")
	}
	var items [][]byte
	for _, k := range s.keysIn(n) {
		if len(items) < limit {
			items = append(items, bulk(k))
		}
	}
	return array(items...)
}

// hostPort is the address of a node, in two.
func (p *peer) hostPort() (host string, port int) {
	host, text := p.of.address()
	port, _ = strconv.Atoi(text)
	return host, port
}

// replicasOf are the nodes that replicate a primary, in the order of their names.
func (s *Server) replicasOf(primary int) (out []*peer) {
	for i := range s.view {
		if p := &s.view[i]; p.slave && p.primary == primary {
			out = append(out, p)
		}
	}
	return out
}

func (s *Server) slotsReply(resp3 bool) []byte {
	var ranges [][]byte
	node := func(p *peer) []byte {
		host, port := p.hostPort()
		return array(bulk(host), number(port), bulk(p.of.id), fields(resp3))
	}
	s.slots.ranges(func(first, last, owner int) {
		if owner == none {
			return
		}
		parts := [][]byte{number(first), number(last), node(&s.view[owner])}
		for _, r := range s.replicasOf(owner) {
			if !r.fail {
				parts = append(parts, node(r))
			}
		}
		ranges = append(ranges, array(parts...))
	})
	return array(ranges...)
}

func (s *Server) shardsReply(resp3 bool) []byte {
	var shards [][]byte
	for i := range s.view {
		p := &s.view[i]
		if p.slave {
			continue
		}
		var bounds, nodes [][]byte
		s.slots.ranges(func(first, last, owner int) {
			if owner == i {
				bounds = append(bounds, number(first), number(last))
			}
		})
		for _, n := range append([]*peer{p}, s.replicasOf(i)...) {
			host, port := n.hostPort()
			role, health, offset := "replica", "online", n.offset
			if !n.slave {
				role = "master"
			}
			if n.of == s {
				offset = s.Offset()
			}
			if n.fail || n.pfail {
				health = "fail"
			}
			nodes = append(nodes, fields(resp3, bulk("id"), bulk(n.of.id), bulk("port"), number(port), bulk("ip"), bulk(host),
				bulk("endpoint"), bulk(host), bulk("role"), bulk(role), bulk("replication-offset"), number(offset),
				bulk("health"), bulk(health)))
		}
		shards = append(shards, fields(resp3, bulk("slots"), array(bounds...), bulk("nodes"), array(nodes...)))
	}
	return array(shards...)
}

// line is a node in CLUSTER NODES.
func (s *Server) line(p *peer) string {
	var flags []string
	add := func(is bool, name string) {
		if is {
			flags = append(flags, name)
		}
	}
	add(p.of == s, "myself")
	add(!p.slave, "master")
	add(p.slave, "slave")
	add(p.pfail, "fail?")
	add(p.fail, "fail")
	primary, link := "-", "disconnected"
	if p.slave && p.primary != none {
		primary = s.view[p.primary].of.id
	}
	if p.of == s || p.linked {
		link = "connected"
	}
	epoch := p.configEpoch
	if x := s.primaryOf(p); x != nil && p.slave {
		epoch = x.configEpoch
	}
	host, clients := p.hostPort()
	pong := p.pong
	if p.of == s {
		pong = s.now() / 1000 * 1000
	}
	text := fmt.Sprintf("%s %s:%d@%d %s %s %d %d %d %s", p.of.id, host, clients, busPort, strings.Join(flags, ","),
		primary, p.pingSent, pong, epoch, link)
	s.slots.ranges(func(first, last, owner int) {
		switch {
		case owner != indexOf(p):
		case first == last:
			text += fmt.Sprintf(" %d", first)
		default:
			text += fmt.Sprintf(" %d-%d", first, last)
		}
	})
	if p.of == s {
		text += s.openSlots()
	}
	return text
}

// openSlots are the slots that are being moved.
func (s *Server) openSlots() (text string) {
	for slot := range Slots {
		if to, ok := s.migrating[slot]; ok {
			text += fmt.Sprintf(" [%d->-%s]", slot, s.view[to].of.id)
		} else if from, ok := s.importing[slot]; ok {
			text += fmt.Sprintf(" [%d-<-%s]", slot, s.view[from].of.id)
		}
	}
	return text
}

func (s *Server) nodesText() string {
	if !s.group.awake {
		s.group.makeUp()
	}
	var b strings.Builder
	for i := range s.view {
		b.WriteString(s.line(&s.view[i]) + "\n")
	}
	return b.String()
}

func (s *Server) replicasReply(id string) []byte {
	i := s.group.node(id)
	switch {
	case i == none:
		return problem("ERR Unknown node %s", id)
	case s.view[i].slave:
		return problem("ERR The specified node is not a master")
	}
	var lines [][]byte
	for _, r := range s.replicasOf(i) {
		lines = append(lines, bulk(s.line(r)))
	}
	return array(lines...)
}

func (s *Server) infoText() string {
	state, assigned, well, pfail, fail := "ok", 0, 0, 0, 0
	if !s.ok {
		state = "fail"
	}
	for i := range s.view {
		p := &s.view[i]
		assigned += p.count
		switch {
		case p.fail:
			fail += p.count
		case p.pfail:
			pfail += p.count
		default:
			well += p.count
		}
	}
	return fmt.Sprintf("cluster_state:%s\r\ncluster_slots_assigned:%d\r\n"+
		"cluster_slots_ok:%d\r\ncluster_slots_pfail:%d\r\n"+
		"cluster_slots_fail:%d\r\ncluster_known_nodes:%d\r\ncluster_size:%d\r\ncluster_current_epoch:%d\r\n"+
		"cluster_my_epoch:%d\r\ntotal_cluster_links_buffer_limit_exceeded:0\r\n", state, assigned, well, pfail, fail,
		len(s.view), s.size, s.epoch, s.Epoch())
}

// Info implements [redis.Cluster].
func (s *Server) Info() string { return "# Cluster\r\ncluster_enabled:1\r\n" }

func (s *Server) failoverReply(args []string) []byte {
	mode := strings.ToUpper(strings.Join(args, " "))
	if !slices.Contains([]string{"", "FORCE", "TAKEOVER"}, mode) {
		return problem("ERR syntax error")
	}
	if err := s.Failover(mode); err != nil {
		return problem("%v", err)
	}
	return okay
}

// setSlot is CLUSTER SETSLOT.
func (s *Server) setSlot(args []string) []byte {
	slot, ok := integerIn(args[0])
	switch {
	case s.me().slave:
		return problem("ERR Please use SETSLOT only with masters.")
	case !ok || slot < 0 || slot >= Slots:
		return problem("ERR Invalid or out of range slot")
	}
	action, node, id := strings.ToUpper(args[1]), none, ""
	if len(args) == 3 {
		id = args[2]
		node = s.group.node(id)
	}
	if err := s.SetSlot(slot, action, node, id); err != nil {
		return problem("%v", err)
	}
	return okay
}

// SetSlot is CLUSTER SETSLOT with MIGRATING, IMPORTING, NODE or STABLE, and the index of a node, whose id is for the
// errors, which are the answers of Redis.
func (s *Server) SetSlot(slot int, action string, node int, id string) error {
	mine, unknown := int(s.slots[slot]) == s.index, replyError("ERR I don't know about node "+id)
	s.wakeBus()
	switch {
	case action == "STABLE" && id == "":
		delete(s.migrating, slot)
		delete(s.importing, slot)
		s.note("stable", fmt.Sprint(slot))
		return nil
	case id == "" || !slices.Contains([]string{"MIGRATING", "IMPORTING", "NODE"}, action):
		return replyError("ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP")
	case action == "MIGRATING" && !mine:
		return replyError(fmt.Sprintf("ERR I'm not the owner of hash slot %d", slot))
	case action == "IMPORTING" && mine:
		return replyError(fmt.Sprintf("ERR I'm already the owner of hash slot %d", slot))
	case node == none && action == "NODE":
		return replyError("ERR Unknown node " + id)
	case node == none:
		return unknown
	case s.view[node].slave:
		return replyError("ERR Target node is not a master")
	}
	about := fmt.Sprintf("%d, %s", slot, s.view[node].of.Name())
	switch action {
	case "MIGRATING":
		s.migrating[slot] = node
		s.note("migrating", about)
		return nil
	case "IMPORTING":
		s.importing[slot] = node
		s.note("importing", about)
		return nil
	}
	keys := len(s.keysIn(slot))
	if mine && node != s.index && keys > 0 {
		return replyError(fmt.Sprintf("ERR Can't assign hashslot %d to a different node while I still hold keys for this "+
			"hash slot.", slot))
	}
	if keys == 0 {
		delete(s.migrating, slot)
	}
	s.assign(slot, node)
	s.note("slot", about)
	if mine && node != s.index && s.me().count == 0 {
		s.followNode(&s.view[node])
	}
	if _, importing := s.importing[slot]; importing && node == s.index {
		if s.bumpEpoch() {
			s.note("epoch", fmt.Sprint(s.me().configEpoch))
		}
		delete(s.importing, slot)
		s.broadcast(everyone)
	}
	s.updateState()
	return nil
}
