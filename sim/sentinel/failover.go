package sentinel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"locksim/sim/rare"
	"locksim/sim/trace"
)

// state is how far a failover is.
type state int

const (
	none state = iota
	waitStart
	selectSlave
	sendSlaveofNoOne
	waitPromotion
	reconfSlaves
	updateConfig
)

// failover is the one that this Sentinel carries out, or the last one that it has heard of.
type failover struct {
	state     state
	forced    bool // by an operator
	epoch     uint64
	startedAt ms // also of that of another Sentinel, for which it has voted
	changedAt ms
	chosen    *instance
}

func (s *Server) enter(st state) { s.failover.state, s.failover.changedAt = st, s.now() }

// checkDown looks whether a server does not answer.
func (s *Server) checkDown(in *instance) {
	now, after := s.now(), s.downAfter()
	elapsed := ms(0)
	switch {
	case in.pinged != 0:
		elapsed = now - in.pinged
	case !in.connected:
		elapsed = now - in.lastAvail
	}
	if in.connected && now-in.connectedAt > minReconnectPeriod && in.pinged != 0 && now-in.pinged > after/2 &&
		now-in.lastPong > after/2 {
		in.disconnect()
	}
	down := elapsed > after || in.kind == master && in.reported == replica && now-in.reportedAt > after+2*infoPeriod
	switch {
	case down && !in.down:
		in.down, in.downSince = true, now
		s.event("+sdown", in, "")
	case !down && in.down:
		in.down = false
		s.event("-sdown", in, "")
	}
}

// checkAgreed looks whether enough Sentinels take the primary for down.
func (s *Server) checkAgreed() {
	m, votes := s.master, 0
	if m.down {
		votes = 1
		for _, in := range s.sentinels {
			if in.masterDown {
				votes++
			}
		}
	}
	agreed := m.down && votes >= s.group.config.Quorum
	switch {
	case agreed && !m.odown:
		m.odown, m.odownSince = true, s.now()
		s.event("+odown", m, fmt.Sprintf("#quorum %d/%d", votes, s.group.config.Quorum))
	case !agreed && m.odown:
		m.odown = false
		s.node.Reached(rare.SentinelTakenBack)
		s.event("-odown", m, "")
	}
}

// startNeeded begins a failover, if one is due.
func (s *Server) startNeeded() bool {
	if !s.master.odown || s.failover.state != none || s.now()-s.failover.startedAt < 2*s.timeout() {
		return false
	}
	s.begin()
	return true
}

// begin begins a failover, in an epoch of its own.
func (s *Server) begin() {
	s.newEpoch(s.epoch + 1)
	s.failover = failover{state: waitStart, epoch: s.epoch, startedAt: s.now() + ms(s.draw("desync", int64(maxDesync))),
		changedAt: s.now()}
	s.event("+try-failover", s.master, "")
}

// askOthers asks the other Sentinels whether the primary is down and, in a failover, for their votes.
func (s *Server) askOthers(forced bool) {
	now := s.now()
	for _, in := range s.sentinels {
		if now-in.masterDownAt > 5*askPeriod {
			in.masterDown, in.vote = false, ""
		}
		if !s.master.down || !in.connected || !forced && now-in.masterDownAt < askPeriod {
			continue
		}
		candidate := "*"
		if s.failover.state > none {
			candidate = s.id
		}
		primary, epoch := s.primary, s.epoch
		ask(s, in, func() opinion { return in.peer.opinion(primary.Name(), epoch, candidate) }, func(o opinion) {
			in.masterDownAt, in.masterDown = s.now(), o.down
			if o.leader != "" {
				if in.vote != o.leader {
					in.vote = o.leader
				}
				in.voteEpoch = o.epoch
			}
		})
	}
}

// opinion is the answer to SENTINEL IS-MASTER-DOWN-BY-ADDR.
type opinion struct {
	down   bool
	leader string // "" for no vote
	epoch  uint64
}

// opinion is what this Sentinel says to another one about a node, and its vote if it is asked for one: a candidate
// other than "*".
func (s *Server) opinion(node string, epoch uint64, candidate string) opinion {
	o := opinion{down: s.tiltSince == 0 && s.master.down && s.primary.Name() == node}
	if candidate != "*" && s.primary.Name() == node {
		o.leader, o.epoch = s.voteFor(epoch, candidate)
	}
	return o
}

// voteFor votes for a candidate, unless it has voted in this epoch or a later one, and returns its vote.
func (s *Server) voteFor(epoch uint64, candidate string) (leader string, in uint64) {
	if epoch > s.epoch {
		s.newEpoch(epoch)
	}
	if s.voteEpoch < epoch && s.epoch <= epoch {
		s.vote, s.voteEpoch = candidate, s.epoch
		s.publish("+vote-for-leader", fmt.Sprintf("%s %d", candidate, s.voteEpoch),
			fmt.Sprintf("%s in epoch %d", s.nameOf(candidate), s.voteEpoch))
		if candidate != s.id { // it does not try at the same time
			s.failover.startedAt = s.now() + ms(s.draw("desync", int64(maxDesync)))
		}
	}
	if s.voteEpoch == epoch && s.vote != candidate {
		s.node.Reached(rare.SentinelVoted)
	}
	return s.vote, s.voteEpoch
}

// nameOf is the name of the Sentinel with an id.
func (s *Server) nameOf(id string) string {
	if o := s.group.sentinel(id); o != nil {
		return o.node.Name()
	}
	return id
}

// elected is the Sentinel that has the votes for a failover, "" for none. It votes too, for the first of the others or
// for itself.
func (s *Server) elected(epoch uint64) string {
	votes := map[string]int{}
	for _, in := range s.sentinels {
		if in.vote != "" && in.voteEpoch == s.epoch {
			votes[in.vote]++
		}
	}
	winner := leading(votes)
	mine, in := s.voteFor(epoch, cmp.Or(winner, s.id))
	if mine != "" && in == epoch {
		votes[mine]++
		winner = leading(votes)
	}
	if n := votes[winner]; n < (len(s.sentinels)+1)/2+1 || n < s.group.config.Quorum {
		return ""
	}
	return winner
}

// leading is the candidate with most votes, the first by id among several.
func leading(votes map[string]int) string {
	best := ""
	for id, n := range votes {
		if best == "" || n > votes[best] || n == votes[best] && id < best {
			best = id
		}
	}
	return best
}

// advance is the next step of a failover.
func (s *Server) advance() {
	now := s.now()
	f := &s.failover
	switch f.state {
	case waitStart:
		if s.elected(f.epoch) != s.id && !f.forced {
			if now-f.startedAt > min(maxElection, s.timeout()) {
				s.node.Reached(rare.SentinelNotElected)
				s.abort("-failover-abort-not-elected", s.master)
			}
			return
		}
		s.event("+elected-leader", s.master, "")
		s.enter(selectSlave)
		s.event("+failover-state-select-slave", s.master, "")
	case selectSlave:
		in := s.choose()
		if in == nil {
			s.node.Reached(rare.SentinelNoReplica)
			s.abort("-failover-abort-no-good-slave", s.master)
			return
		}
		s.event("+selected-slave", in, "")
		in.promoted, f.chosen = true, in
		s.enter(sendSlaveofNoOne)
		s.event("+failover-state-send-slaveof-noone", in, "")
	case sendSlaveofNoOne:
		if !f.chosen.connected {
			if now-f.changedAt > s.timeout() {
				s.abort("-failover-abort-slave-timeout", f.chosen)
			}
			return
		}
		chosen := f.chosen
		s.node.Peer(chosen.of).Send(func() { chosen.node.FollowNone(s.node.Name()) })
		s.event("+failover-state-wait-promotion", chosen, "")
		s.enter(waitPromotion)
	case waitPromotion: // INFO tells when it is the primary
		if now-f.changedAt > s.timeout() {
			s.abort("-failover-abort-slave-timeout", f.chosen)
		}
	case reconfSlaves:
		s.reconfigureNext()
	}
}

// abort ends a failover without a new primary.
func (s *Server) abort(event string, about *instance) {
	s.event(event, about, "")
	if c := s.failover.chosen; c != nil {
		c.promoted = false
	}
	s.failover = failover{startedAt: s.failover.startedAt, epoch: s.failover.epoch}
}

// choose is the replica that is to take over, nil if none can: by its priority, then by how much it has, then by its
// run id.
func (s *Server) choose() *instance {
	now, m := s.now(), s.master
	longest, valid := 10*s.downAfter(), 3*infoPeriod
	if m.down {
		longest += now - m.downSince
		valid = 5 * pingPeriod
	}
	var good []*instance
	for _, in := range s.slaves {
		switch {
		case in.down || in.odown || !in.connected, now-in.lastAvail > 5*pingPeriod, in.priority == 0,
			now-in.infoAt > valid, in.linkDown > longest:
		default:
			good = append(good, in)
		}
	}
	if len(good) == 0 {
		return nil
	}
	return slices.MinFunc(good, func(a, b *instance) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.offset, a.offset), strings.Compare(a.runID, b.runID))
	})
}

// reconfigured notes how far a replica follows the new primary.
func (s *Server) reconfigured(in *instance) {
	if s.failover.chosen == nil || in.reported != replica {
		return
	}
	if in.reconf == reconfSent && in.leader == s.failover.chosen.node {
		in.reconf = reconfInProgress
		s.event("+slave-reconf-inprog", in, "")
	}
	if in.reconf == reconfInProgress && in.linkUp {
		in.reconf = reconfDone
		s.event("+slave-reconf-done", in, "")
	}
}

// reconfigureNext lets the other replicas follow the new primary, one after another.
func (s *Server) reconfigureNext() {
	now, f := s.now(), &s.failover
	under := 0
	for _, in := range s.slaves {
		if in.reconf == reconfSent || in.reconf == reconfInProgress {
			under++
		}
	}
	for _, in := range s.slaves {
		if under > 0 {
			break
		}
		if in.promoted || in.reconf == reconfDone || !in.connected {
			continue
		}
		s.makeReplica(in, f.chosen.node)
		in.reconf, in.reconfSentAt = reconfSent, now
		s.event("+slave-reconf-sent", in, "")
		under++
	}
	for _, in := range s.slaves {
		if in.reconf == reconfSent && now-in.reconfSentAt > reconfTimeout {
			s.event("-slave-reconf-sent-timeout", in, "")
			in.reconf = reconfDone
		}
	}
	s.detectEnd()
}

// detectEnd looks whether the failover is over: every replica that is up follows the new primary, or time is up.
func (s *Server) detectEnd() {
	now, f := s.now(), &s.failover
	if f.chosen.down {
		return
	}
	left := 0
	for _, in := range s.slaves {
		if !in.promoted && in.reconf != reconfDone && !in.down {
			left++
		}
	}
	late := now-f.changedAt > s.timeout()
	if late {
		s.event("+failover-end-for-timeout", s.master, "")
	}
	if left > 0 && !late {
		return
	}
	s.event("+failover-end", s.master, "")
	s.enter(updateConfig)
	if !late {
		return
	}
	for _, in := range s.slaves {
		if !in.promoted && in.reconf == reconfNone && in.connected {
			s.makeReplica(in, f.chosen.node)
			in.reconf = reconfSent
			s.event("+slave-reconf-sent-be", in, "")
		}
	}
}

// Failover starts a failover at once, without the agreement of others: SENTINEL FAILOVER. The error is the answer then.
func (s *Server) Failover() error {
	switch {
	case s.failover.state != none:
		return inProgressError
	case s.choose() == nil:
		return noGoodSlaveError
	}
	s.begin()
	s.failover.forced = true
	return nil
}

// StartFailover implements [faults.FailoverStarter].
func (s *Server) StartFailover() bool {
	if s.node.Down() {
		return false
	}
	err := s.Failover()
	answer := "OK"
	if err != nil {
		answer = err.Error()
	}
	s.node.Strike(trace.FailoverOrder{Answer: answer})
	return err == nil
}

// replyError is an error as a Sentinel answers it.
type replyError string

func (e replyError) Error() string { return string(e) }

const (
	inProgressError  replyError = "INPROG Failover already in progress"
	noGoodSlaveError replyError = "NOGOODSLAVE No suitable replica to promote"
)
