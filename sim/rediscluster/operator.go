package rediscluster

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"locksim/faults"
	"locksim/sim/trace"
)

// This file is what an operator orders by a fault. The orders arrive at once.

// ordered records an order, and the answer.
func (s *Server) ordered(order string, err error) {
	answer := "OK"
	if err != nil {
		answer = err.Error()
	}
	s.node.Strike(trace.ClusterOrder{Order: order, Answer: answer})
}

// ReplacePrimary implements [faults.ReplicaPromoter].
func (s *Server) ReplacePrimary(mode faults.FailoverMode) bool {
	if s.node.Down() {
		return false
	}
	order, word := "REPLACE ITS PRIMARY", ""
	switch mode {
	case faults.FailoverForce:
		order, word = order+" BY FORCE", "FORCE"
	case faults.FailoverTakeover:
		order, word = order+" WITHOUT VOTES", "TAKEOVER"
	}
	problem := s.mayReplace(word)
	s.ordered(order, problem)
	if problem != nil {
		return false
	}
	return s.Failover(word) == nil
}

// errNoSlot says that the cluster was not told whose slot is the lock's.
var errNoSlot = errors.New("the cluster does not know which slot is the lock's: give rediscluster.Servers a Key")

// TakeSlot implements [faults.SlotTaker]: what redis-cli --cluster reshard does with one slot.
func (s *Server) TakeSlot(until faults.MoveStep) (bool, error) {
	g := s.group
	if g.config.Key == "" {
		return false, errNoSlot
	}
	slot := Slot(g.config.Key)
	from := g.owner(slot)
	order := func(err error) (bool, error) {
		s.ordered(fmt.Sprintf("TAKE THE SLOT %d OF %s (%s)", slot, strings.ToUpper(from.Name()), until), err)
		return err == nil, nil
	}
	switch {
	case s.node.Down() || from.node.Down():
		return order(errors.New("one of the two does not run"))
	case from == s:
		return order(errors.New("it has the slot"))
	case s.me().slave:
		return order(errors.New("it is a replica"))
	}
	_, _ = order(nil)
	if _, begun := from.migrating[slot]; !begun {
		if err := errors.Join(s.SetSlot(slot, "IMPORTING", from.index, from.id),
			from.SetSlot(slot, "MIGRATING", s.index, s.id)); err != nil {
			return order(err)
		}
	}
	if until == faults.MoveStarts {
		return true, nil
	}
	s.takeKeys(from, slot, until == faults.MoveEnds)
	return true, nil
}

// takeKeys moves the keys of a slot, and ends the move if it is to.
func (s *Server) takeKeys(from *Server, slot int, ends bool) {
	end := func() {
		if !ends {
			return
		}
		if keys := from.keysIn(slot); len(keys) > 0 { // a client has set one that was on its way back
			s.takeKeys(from, slot, true)
			return
		}
		for _, n := range []*Server{s, from} {
			if err := n.SetSlot(slot, "NODE", s.index, s.id); err != nil {
				n.ordered(fmt.Sprintf("GIVE THE SLOT %d AWAY", slot), err)
			}
		}
	}
	keys := from.keysIn(slot)
	if len(keys) == 0 {
		end()
		return
	}
	from.Transfer(s, keys, true, false, time.Minute, "", func(err error) {
		if err != nil {
			from.ordered("MOVE ITS KEYS TO "+strings.ToUpper(s.Name()), err)
			return
		}
		end()
	})
}
