package bruteforce

import (
	"cmp"
	"slices"
	"time"

	"locksim/checker"
)

// Slack has the least slack of each kind that a history has: what checker.Verdict has in Slack.
func Slack(h checker.History) map[checker.SlackKind]int64 {
	least := map[checker.SlackKind]int64{}
	add := func(kind checker.SlackKind, value int64) {
		if before, known := least[kind]; !known || value < before {
			least[kind] = value
		}
	}
	tokens(h, add)
	if h.Timing == nil { // "All but the tokens need a Timing."
		return least
	}
	claimSlack(h, add)
	for _, g := range h.Grants {
		expiry(h, g, add)
		votes(h, g, add)
		if g.Left != nil {
			add(checker.SlackValidity, int64(*g.Left))
		}
	}
	for _, c := range h.Calls {
		if c.Left != nil {
			add(checker.SlackValidity, int64(*c.Left))
		}
	}
	for _, resource := range lockNames(h) {
		for _, a := range acquires(h, resource) {
			for _, s := range idleTimes(h, resource, a) {
				add(checker.SlackWait, int64(max(due(h, a, s.From), allowed(h, resource, a, s))-s.To))
			}
		}
	}
	notice(h, add)
	return least
}

// claimEnd is where a claim ended, 0 if it did not.
func claimEnd(g checker.Grant) checker.Pos {
	return first(g.Released, g.Lost, g.Until, g.Crashed, g.Doubted)
}

// endOf is the instant of an end, that of the last position for one that did not happen.
func endOf(h checker.History, end checker.Pos) time.Duration {
	if end == 0 {
		return h.Timing.At[len(h.Timing.At)-1]
	}
	return at(h, end)
}

// "SlackLease is the time from the end of the last claim before a grant to the grant, if its Acquire was called
// before that end. It is negative if and only if the claims overlap, and 0 if the second begins in the instant in
// which the first ends: intervals are half-open. The last claim is the one that ends last, of those on the resource
// that were granted before and must not overlap that of the grant; if several end at one position, the first that was
// granted. Empty claims count on neither side. If the claims do not overlap, the first has to have ended by itself:
// by Until, Lost or a crash. Where its holder released it the time is a SlackRelease, and where it could not know
// better (Doubted) it says nothing."
func claimSlack(h checker.History, add func(checker.SlackKind, int64)) {
	for _, g := range h.Grants {
		last := slices.DeleteFunc(slices.Clone(h.Grants), func(a checker.Grant) bool {
			later := a.Granted > g.Granted || a.Granted == g.Granted && a.ID >= g.ID
			return a.Resource != g.Resource || later || bothIn(h, a, g) || !hadClaim(a) || !hadClaim(g)
		})
		slices.SortFunc(last, func(a, b checker.Grant) int {
			return cmp.Or(cmp.Compare(claimEnd(b), claimEnd(a)), cmp.Compare(a.Granted, b.Granted), cmp.Compare(a.ID, b.ID))
		})
		if i := slices.IndexFunc(last, func(a checker.Grant) bool { return claimEnd(a) == 0 }); i >= 0 {
			last = last[i:] // it has no end, the latest of all
		}
		if len(last) == 0 || happened(claimEnd(last[0]), g.Invoked) {
			continue
		}
		a, overlap := last[0], false
		for _, p := range named(h) {
			overlap = overlap || claims(a, p) && claims(g, p)
		}
		switch value := int64(at(h, g.Granted) - endOf(h, claimEnd(a))); {
		case overlap:
			add(checker.SlackLease, min(value, -1))
		case claimEnd(a) == a.Released:
			add(checker.SlackRelease, value)
		case claimEnd(a) == first(a.Released, a.Lost, a.Until, a.Crashed):
			add(checker.SlackLease, value)
		}
	}
}

// "SlackExpiry is the time from the end of a claim to that of the key or session by which the nodes knew its holder:
// the end of the last Holding of the client that began before or at the grant and ended after the call of Acquire. It
// is negative if the client claimed what the nodes would have given to others, whether they did or not. Claims that
// were released or crashed have only negative ones, since a release ends both, and so have those whose client had the
// key again before they ended: until then they are without it. It is not known of locks with several
// keys (ManyKeys), nor judged where a holder has time to learn of a loss (Detection)."
func expiry(h checker.History, g checker.Grant, add func(checker.SlackKind, int64)) {
	if h.ManyKeys || h.Detection != 0 || !hadClaim(g) {
		return
	}
	var last checker.Holding
	for _, s := range h.Holdings {
		if s.Client == g.Client && s.Resource == g.Resource && happened(s.From, g.Granted) && !happened(s.To, g.Invoked) &&
			s.From > last.From {
			last = s
		}
	}
	if last.To == 0 { // there is none, or it did not end
		return
	}
	ended := last.Ended
	if ended == 0 {
		ended = at(h, last.To)
	}
	end := claimEnd(g)
	byItself := end != 0 && end != g.Released && (end == g.Until || end == g.Lost)
	for _, s := range h.Holdings {
		if s.Client == g.Client && s.Resource == g.Resource && s.From > g.Granted && (end == 0 || s.From < end) {
			end, byItself = s.From, false
		}
	}
	value := ended - endOf(h, end)
	if value < 0 || byItself {
		add(checker.SlackExpiry, int64(value))
	}
}

// "SlackVotes is the number of nodes beyond a majority that had the key of a client during its claim, where there are
// several."
func votes(h checker.History, g checker.Grant, add func(checker.SlackKind, int64)) {
	if h.Voters < 2 || !hadClaim(g) {
		return
	}
	for p := checker.Pos(1); int(p) <= len(h.Timing.At); p++ {
		var last checker.Vote
		for _, v := range h.Votes {
			if v.Client == g.Client && v.Resource == g.Resource && v.At <= p && v.At > last.At {
				last = v
			}
		}
		known := slices.ContainsFunc(h.Votes, func(v checker.Vote) bool {
			return v.Client == g.Client && v.Resource == g.Resource && v.At <= g.Granted
		})
		if known && claims(g, p) {
			majority := h.Voters/2 + 1
			add(checker.SlackVotes, int64(last.Nodes-majority))
		}
	}
}

// "SlackTokens is the difference between the token of a grant and the highest of the grants before it, as
// TokenRegressions compares them. It is 0 also for a duplicate of TokenDuplicates."
func tokens(h checker.History, add func(checker.SlackKind, int64)) {
	for _, g := range h.Grants {
		if isDuplicate(h, g) {
			add(checker.SlackTokens, 0)
		}
		highest := uint64(0)
		for _, e := range h.Grants {
			if e.Resource == g.Resource && comesBefore(e, g) {
				highest = max(highest, e.Token)
			}
		}
		if g.Token != 0 && highest != 0 && highest != g.Token {
			add(checker.SlackTokens, int64(g.Token-highest))
		}
	}
}

// "SlackNotice is by how much a holder noticed a loss sooner than it had to: see Misconduct."
func notice(h checker.History, add func(checker.SlackKind, int64)) {
	if h.Detection == 0 || !h.Timing.Steady || !h.Timing.Prompt {
		return
	}
	for _, g := range h.Grants {
		if late, recorded, known := noticedAfter(h, g); known && recorded {
			add(checker.SlackNotice, int64(h.Detection+2*h.Timing.Trips-late))
		}
	}
}
