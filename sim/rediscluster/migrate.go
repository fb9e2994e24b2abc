package rediscluster

import (
	"errors"
	"strings"
	"time"

	"locksim/sim/redis"
)

// migrated are the keys that MIGRATE names.
func migrated(args []string) []string {
	if args[3] != "" {
		return args[3:4]
	}
	for i, a := range args {
		if i > 5 && strings.EqualFold(a, "KEYS") {
			return args[i+1:]
		}
	}
	return nil
}

// migrate is MIGRATE: the keys go to another node, which does nothing else meanwhile on this one. It answers later.
func (s *Server) migrate(c *redis.ClusterClient, args []string) []byte {
	if _, multi := c.Queued(); multi {
		return problem("ERR MIGRATE in a transaction is not modelled in the simulated Redis Cluster")
	}
	options := args[6:]
	replace, keep := false, false
	for i := 0; i < len(options); i++ {
		switch strings.ToUpper(options[i]) {
		case "REPLACE":
			replace = true
		case "COPY":
			keep = true
		case "KEYS":
			if args[3] != "" {
				return problem("ERR When using MIGRATE KEYS option, the key argument must be set to the empty string")
			}
			i = len(options)
		default:
			return problem("ERR syntax error")
		}
	}
	timeout, ok := integerIn(args[5])
	if db, ok2 := integerIn(args[4]); !ok || !ok2 {
		return problem(notInteger)
	} else if db != 0 {
		return problem("ERR Target instance replied with error: ERR SELECT is not allowed in cluster mode")
	}
	if timeout <= 0 {
		timeout = 1000
	}
	if refused := s.Refuses(c, args); refused != "" {
		return problem("%s", refused)
	}
	to := s.nodeAt(args[1], args[2])
	if to == nil {
		return problem("IOERR error or timeout connecting to the client")
	}
	answered := false
	answer := func(b []byte) {
		if !answered {
			answered = true
			c.Reply(b)
		}
	}
	s.Transfer(to, migrated(args), replace, keep, time.Duration(timeout)*time.Millisecond, c.Client(), func(err error) {
		switch {
		case err == nil:
			answer(okay)
		case errors.Is(err, errNoKey):
			answer([]byte("+NOKEY\r\n"))
		default:
			answer(problem("%v", err))
		}
	})
	return nil
}

// nodeAt is the node with an address, nil for none.
func (s *Server) nodeAt(host, port string) *Server {
	for _, n := range s.group.nodes {
		if h, p := n.address(); h == host && p == port {
			return n
		}
	}
	return nil
}

// The errors of a transfer.
const (
	errNoKey   = replyError("NOKEY")
	errBusy    = replyError("ERR Target instance replied with error: BUSYKEY Target key name already exists.")
	errTimeout = replyError("IOERR error or timeout reading to target instance")
)

// parcel is a key on its way.
type parcel struct {
	key   string
	moved redis.Moved
}

// Transfer moves keys to another node, with the time that they have left, and calls done once, with the error that
// MIGRATE answers. Until then this node carries out nothing else. client is for whom it is done, "" for an operator.
func (s *Server) Transfer(to *Server, keys []string, replace, keep bool, timeout time.Duration, client string,
	done func(error)) {
	var parcels []parcel
	for _, k := range keys {
		if m, ok := s.Dump(k); ok {
			parcels = append(parcels, parcel{k, m})
		}
	}
	life := s.life
	over := false
	finish := func(err error) {
		if over || s.life != life {
			return
		}
		over = true
		s.moving = false
		done(err)
		s.Release()
	}
	if len(parcels) == 0 {
		s.node.After(0, func() { finish(errNoKey) })
		return
	}
	s.moving = true
	s.node.After(timeout, func() { finish(errTimeout) })
	s.send(to, func() {
		var err error
		var taken []string
		for _, p := range parcels {
			problem := to.takes(p.key, replace)
			if problem != nil {
				err = problem
				continue
			}
			to.Restore(p.key, p.moved, s.Name())
			taken = append(taken, p.key)
		}
		to.send(s, func() {
			if over || s.life != life {
				return
			}
			if len(taken) > 0 && !keep {
				s.Drop(client, "moves "+strings.Join(taken, ", ")+" to "+to.Name(), taken...)
			}
			finish(err)
		})
	})
}

// takes is the error with which a node refuses a key that is moved to it, as RESTORE-ASKING has it.
func (s *Server) takes(key string, replace bool) error {
	slot := Slot(key)
	_, importing := s.importing[slot]
	switch owner := int(s.slots[slot]); {
	case !s.ok:
		return replyError("ERR Target instance replied with error: " + down)
	case owner == s.index || importing && !s.me().slave:
	default:
		return replyError("ERR Target instance replied with error: " + s.sendTo("MOVED", slot, owner))
	}
	if !replace && s.Has(key) {
		return errBusy
	}
	return nil
}
