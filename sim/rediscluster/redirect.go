package rediscluster

import (
	"fmt"
	"net"
	"strings"

	"locksim/sim/rare"
	"locksim/sim/redis"
)

// The errors of a cluster, as Redis writes them.
const (
	crossSlot = "CROSSSLOT Keys in request don't hash to the same slot"
	tryAgain  = "TRYAGAIN Multiple keys request during rehashing of slot"
	down      = "CLUSTERDOWN The cluster is down"
	unbound   = "CLUSTERDOWN Hash slot not served"
)

// address is that of a node, in two.
func (s *Server) address() (host, port string) {
	host, port, _ = net.SplitHostPort(s.node.Address())
	return host, port
}

// Refuses implements [redis.Cluster].
func (s *Server) Refuses(c *redis.ClusterClient, args []string) string {
	if problem := s.notAllowed(args); problem != "" {
		return problem
	}
	queued, multi := c.Queued()
	if strings.EqualFold(args[0], "EXEC") {
		if !multi {
			return ""
		}
		return s.redirect(c, queued, true)
	}
	return s.redirect(c, [][]string{args}, false)
}

// notAllowed is the error for a command that no node of a cluster carries out, or that is not modelled.
func (s *Server) notAllowed(args []string) string {
	cmd := find(args)
	if cmd == nil {
		name := strings.ToLower(args[0])
		switch known := commands()[name]; {
		case unmodelled[name]:
			return fmt.Sprintf("ERR %s is not modelled in the simulated Redis Cluster", args[0])
		case known != nil && !known.accepts(len(args)):
			return fmt.Sprintf("ERR wrong number of arguments for '%s' command", name)
		}
		return ""
	}
	switch cmd.name {
	case "select":
		if args[1] != "0" && isInteger(args[1]) {
			return "ERR SELECT is not allowed in cluster mode"
		}
	case "swapdb":
		if s.me().slave {
			return "READONLY You can't write against a read only replica."
		}
		return "ERR SWAPDB is not allowed in cluster mode"
	case "replicaof", "slaveof":
		return "ERR " + strings.ToUpper(cmd.name) + " not allowed in cluster mode."
	}
	return ""
}

func isInteger(s string) bool {
	return s != "" && strings.Trim(strings.TrimPrefix(s, "-"), "0123456789") == ""
}

// unmodelled are commands of a cluster that the servers of the world do not know.
var unmodelled = map[string]bool{"ssubscribe": true, "sunsubscribe": true, "spublish": true, "restore-asking": true}

// redirect is the error with which a client is sent to another node, or refused, "" if this node serves the commands:
// one, or those of a transaction.
func (s *Server) redirect(c *redis.ClusterClient, requests [][]string, exec bool) string {
	var q query
	for _, args := range requests {
		cmd := find(args)
		if cmd == nil {
			continue
		}
		q.writes = q.writes || cmd.writes()
		q.migrate = !exec && cmd.name == "migrate"
		q.asking = !exec && cmd.has("asking")
		if q.migrate {
			q.keys = append(q.keys, migrated(args)...)
			continue
		}
		q.keys = append(q.keys, cmd.keysOf(args)...)
	}
	q.asking = q.asking || c.Asking
	return s.answerTo(c, q)
}

// query is the keys of a request, and what decides whether this node serves it.
type query struct {
	keys                    []string
	writes, migrate, asking bool
}

// answerTo is redirect for keys.
func (s *Server) answerTo(c *redis.ClusterClient, q query) string {
	if len(q.keys) == 0 {
		return ""
	}
	slot := Slot(q.keys[0])
	owner := int(s.slots[slot])
	if owner == none {
		s.node.Reached(rare.ClusterUnbound)
		return unbound
	}
	several := false
	for _, k := range q.keys[1:] {
		if k == q.keys[0] {
			continue
		}
		if Slot(k) != slot {
			return crossSlot
		}
		several = true
	}
	if !s.ok {
		s.node.Reached(rare.ClusterDown)
		return down
	}
	to, migrating := s.migrating[slot]
	migrating = migrating && owner == s.index
	_, importing := s.importing[slot]
	importing = importing && !migrating
	if q.migrate && (migrating || importing) {
		return ""
	}
	here, missing := 0, 0
	if migrating || importing {
		for _, k := range q.keys {
			if s.Has(k) {
				here++
			} else {
				missing++
			}
		}
	}
	switch {
	case migrating && missing > 0 && here > 0:
		s.node.Reached(rare.ClusterTryAgain)
		return tryAgain
	case migrating && missing > 0:
		s.node.Reached(rare.ClusterAsk)
		return s.sendTo("ASK", slot, to)
	case importing && q.asking && several && missing > 0:
		s.node.Reached(rare.ClusterTryAgain)
		return tryAgain
	case importing && q.asking, owner == s.index:
		return ""
	case c.ReadOnly && !q.writes && s.me().slave && s.me().primary == owner:
		return ""
	}
	return s.sendTo("MOVED", slot, owner)
}

func (s *Server) sendTo(word string, slot, to int) string {
	return fmt.Sprintf("%s %d %s", word, slot, s.group.nodes[to].node.Address())
}

// RefusesInScript implements [redis.Cluster].
func (s *Server) RefusesInScript(c *redis.ClusterClient, args []string) string {
	if cmd := find(args); cmd == nil || cmd.writes() && s.Leader() != nil { // the server refuses it
		return ""
	}
	switch problem := s.redirect(c, [][]string{args}, false); problem {
	case "":
		return ""
	case down:
		return "ERR Script attempted to execute a command while the cluster is down"
	default:
		s.node.Reached(rare.ClusterScript)
		return "ERR Script attempted to access a non local key in a cluster node"
	}
}

// Holds implements [redis.Cluster]: writes wait while the primary hands over to a replica, and everything while keys
// are moved.
func (s *Server) Holds(c *redis.ClusterClient, args []string) bool {
	if s.moving {
		return true
	}
	if !s.pauses() {
		return false
	}
	queued, multi := c.Queued()
	requests := [][]string{args}
	if strings.EqualFold(args[0], "EXEC") {
		requests = queued
	} else if multi {
		return false
	}
	for _, r := range requests {
		if cmd := find(r); cmd != nil && (cmd.writes() || cmd.has("may_replicate") || isScript(cmd.name)) {
			return s.Refuses(c, args) == ""
		}
	}
	return false
}

func isScript(name string) bool { return name == "eval" || name == "evalsha" }
