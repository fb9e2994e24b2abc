package rediscluster

import (
	"fmt"
	"time"

	"locksim/sim/rare"
)

// election is a replica's attempt to replace its primary.
type election struct {
	at    ms // when it may ask for votes
	sent  bool
	votes int
	rank  int
	epoch uint64
}

// manual is a failover by an operator, at the replica or at its primary.
type manual struct {
	end      ms // 0 for none
	canStart bool
	knows    bool // the replica knows the offset of the primary, which holds writes back
	offset   int64
	replica  int // of the primary
	hands    bool
}

const (
	manualTimeout = ms(5000)
	electionDelay = 500
	rankDelay     = ms(1000)
	pingReplicas  = ms(10_000) // repl-ping-replica-period
)

// elect is the next step of a replica's election.
func (s *Server) elect() {
	me, e, now := s.me(), &s.election, s.now()
	byHand := s.manual.end != 0 && s.manual.canStart
	if !me.slave || me.primary == none {
		return
	}
	primary := &s.view[me.primary]
	if !primary.fail && !byHand || primary.count == 0 {
		return
	}
	if age, limit := s.dataAge(primary), pingReplicas+s.timeout()*ms(s.group.config.Validity); age > limit &&
		s.group.config.Validity > 0 && !byHand {
		s.node.Reached(rare.ClusterTooOld)
		return
	}
	valid := max(2*s.timeout(), 2000)
	if now-e.at > 2*valid {
		s.schedule(primary)
		return
	}
	if !e.sent && s.manual.end == 0 {
		if rank := s.rank(primary); rank > e.rank {
			e.at += ms(rank-e.rank) * rankDelay
			e.rank = rank
			s.node.Reached(rare.ClusterRank)
		}
	}
	switch {
	case now < e.at:
		return
	case now-e.at > valid:
		return
	case !e.sent:
		s.epoch++
		e.epoch, e.sent = s.epoch, true
		s.note("asks", fmt.Sprintf("%s in epoch %d", primary.of.Name(), s.epoch))
		for i := range s.view {
			if i != s.index {
				m := s.header(authRequest)
				m.forced = s.manual.end != 0
				s.tell(&s.view[i], m)
			}
		}
		s.todo.state = true
		return
	case e.votes >= s.majority():
		if me.configEpoch < e.epoch {
			me.configEpoch = e.epoch
		}
		s.note("elected", fmt.Sprintf("%s in epoch %d, with %d votes of %d", primary.of.Name(), e.epoch, e.votes, s.size))
		s.replacePrimary()
	}
}

// schedule plans an election.
func (s *Server) schedule(primary *peer) {
	e := &s.election
	*e = election{rank: s.rank(primary), at: s.now() + electionDelay + ms(s.draw("election", 0, 500))}
	e.at += ms(e.rank) * rankDelay
	if s.manual.end != 0 {
		e.at, e.rank, s.todo.failover = s.now(), 0, true
	} else {
		s.note("plans", fmt.Sprintf("%s in %v, as number %d", primary.of.Name(),
			time.Duration(e.at-s.now())*time.Millisecond, e.rank+1))
	}
	s.broadcast(func(p *peer) bool { return p.slave && p.primary == s.me().primary })
}

// rank is the number of replicas of the same primary that have more.
func (s *Server) rank(primary *peer) (n int) {
	for i := range s.view {
		if p := &s.view[i]; i != s.index && p.slave && p.primary == indexOf(primary) && p.offset > s.Offset() {
			n++
		}
	}
	return n
}

// dataAge is for how long the replica has heard nothing of its primary, without the node timeout. The primary pings its
// replicas every ten seconds.
func (s *Server) dataAge(primary *peer) ms {
	r := s.Replication()
	age := max(msOf(r.Down), s.now()-primary.pong) // where the primary's end could not be heard, nothing has told of it
	if r.LinkUp {
		phase := ms(primary.of.phase) % pingReplicas
		last := primary.pong - (primary.pong-phase)%pingReplicas
		age = s.now() - last
	}
	if age > s.timeout() {
		age -= s.timeout()
	}
	return age
}

// vote votes for a replica, unless something is against it.
func (s *Server) vote(p *peer, m *message) {
	me, now := s.me(), s.now()
	refuses := func(why string) {
		s.node.Reached(rare.ClusterNoVote)
		s.note("no-vote", p.of.Name()+": "+why)
	}
	if me.slave || me.count == 0 {
		return
	}
	primary := s.primaryOf(p)
	switch {
	case m.epoch < s.epoch:
		refuses("its epoch is over")
		return
	case s.voteEpoch == s.epoch:
		refuses("it has voted in this epoch")
		return
	case !p.slave || primary == nil:
		refuses("it takes it for a primary")
		return
	case !primary.fail && !m.forced:
		refuses(primary.of.Name() + " has not failed")
		return
	case now-primary.votedAt < 2*s.timeout():
		refuses("it has voted for a replica of " + primary.of.Name() + " lately")
		return
	}
	for slot, owner := range s.slots {
		if m.slots.has(slot) && owner != none && s.view[owner].configEpoch > m.configEpoch {
			refuses("another one has its slots in a later epoch")
			return
		}
	}
	s.voteEpoch, primary.votedAt = s.epoch, now
	s.note("votes", fmt.Sprintf("%s in epoch %d", p.of.Name(), s.epoch))
	s.tell(p, s.header(authAck))
}

// replacePrimary makes the node a primary, with the slots of the one that it has followed.
func (s *Server) replacePrimary() {
	me := s.me()
	if !me.slave || me.primary == none {
		return
	}
	old := me.primary
	s.setPrimary(me)
	s.Lead()
	for slot, owner := range s.slots {
		if int(owner) == old {
			s.assign(slot, s.index)
		}
	}
	s.todo.state = false
	s.updateState()
	s.broadcast(everyone)
	s.resetManual()
}

// pauses reports whether the node, a primary, holds writes back until a replica has taken over.
func (s *Server) pauses() bool { return s.manual.hands }

// handOver begins a failover that an operator has ordered at a replica.
func (s *Server) handOver(p *peer) {
	s.resetManual()
	s.manual = manual{end: s.now() + manualTimeout, replica: indexOf(p), hands: true}
	s.note("holds", p.of.Name())
	s.ping(p)
}

// manualStep starts an operator's failover once the replica has all that the primary had when it stopped.
func (s *Server) manualStep() {
	m := &s.manual
	if m.end == 0 || m.canStart || !m.knows {
		return
	}
	if m.offset == s.Offset() {
		m.canStart, s.todo.failover = true, true
	}
}

func (s *Server) manualTimeout() {
	if s.manual.end != 0 && s.manual.end < s.now() {
		s.node.Reached(rare.ClusterManualOver)
		s.note("gives-up", "")
		s.resetManual()
	}
}

// resetManual ends an operator's failover. Writes that were held back go on.
func (s *Server) resetManual() {
	held := s.manual.hands
	s.manual = manual{}
	if held {
		s.Release()
	}
}

// Failover is CLUSTER FAILOVER, with mode "", "FORCE" or "TAKEOVER". The error is the answer then.
func (s *Server) Failover(mode string) error {
	s.wakeBus()
	if err := s.mayReplace(mode); err != nil {
		return err
	}
	me := s.me()
	s.resetManual()
	s.manual = manual{end: s.now() + manualTimeout}
	switch mode {
	case "TAKEOVER":
		s.bumpEpoch()
		s.note("takes-over", fmt.Sprintf("%s in epoch %d", s.view[me.primary].of.Name(), me.configEpoch))
		s.replacePrimary()
	case "FORCE":
		s.manual.canStart = true
	default:
		s.tell(&s.view[me.primary], s.header(failoverStart))
	}
	return nil
}

// mayReplace is the error of CLUSTER FAILOVER at this node at present.
func (s *Server) mayReplace(mode string) error {
	me := s.me()
	switch {
	case !me.slave:
		return replyError("ERR You should send CLUSTER FAILOVER to a replica")
	case mode == "" && (s.view[me.primary].fail || !s.view[me.primary].linked):
		return replyError("ERR Master is down or failed, please use CLUSTER FAILOVER FORCE")
	}
	return nil
}

// bumpEpoch takes the next epoch without the votes of others, unless the node has the greatest.
func (s *Server) bumpEpoch() bool {
	greatest := uint64(0)
	for i := range s.view {
		greatest = max(greatest, s.view[i].configEpoch)
	}
	me := s.me()
	if me.configEpoch != 0 && me.configEpoch == greatest && !me.slave {
		return false
	}
	s.epoch = max(s.epoch, greatest) + 1
	me.configEpoch = s.epoch
	return true
}

// replyError is an error as a node answers it.
type replyError string

func (e replyError) Error() string { return string(e) }
