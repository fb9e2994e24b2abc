package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// lateness is what [noticed] finds.
type lateness struct {
	longest time.Duration
	untold  *tally // losses that were noticed later than [History.Detection] allows
}

// noticed finds how late clients learned that they had lost the lock: see [Facts.NoticedLateSeconds]. It adds by how
// much that was sooner than it had to be.
func noticed(h History, records map[holder]holdings, slack *leastSlack) lateness {
	found := lateness{untold: &tally{more: "losses of which the holder was told too late"}}
	if h.Timing == nil || h.Entry == EntryShared {
		return found
	}
	for _, grants := range grantsByResource(h) {
		recorded := !h.ManyKeys && h.recorded(grants[0].Resource)
		for _, g := range grants {
			lost, over, instant := lossOf(g, grants), g.over(), time.Duration(0)
			if recorded {
				var s Holding
				s, over = records[holder{g.Client, g.Resource}].lossOf(g)
				lost, instant = s.To, s.Ended
			}
			if lost == 0 || over == 0 || over < lost {
				continue
			}
			late := h.Timing.presence(g.Client, Span{cmp.Or(instant, h.Timing.when(lost)), h.Timing.when(over)})
			found.longest = max(found.longest, late)
			if !recorded || h.Detection == 0 || !h.Timing.Steady || !h.Timing.Prompt {
				continue
			}
			left, told := h.Detection+2*h.Timing.Trips-late, h.Timing.when(over)
			slack.add(Slack{Kind: SlackNotice, Value: int64(left), Client: g.Client, Resource: g.Resource, From: told,
				To: told + left}, lost, over)
			if left < 0 {
				found.untold.add(func() Reason {
					return Reason{Text: fmt.Sprintf("%s was granted %s at step %d and lost it at step %d, and did not know that "+
						"before step %d, although it ran and reached the servers for %v meanwhile: longer than the Detection of the "+
						"lock, %v. Let the lock look more often whether it still has its key or its session, and close Lost if not, or "+
						"state the Detection that it keeps.",
						g.Client, g.Resource, g.Granted, lost, over, late.Round(time.Microsecond), h.Detection),
						At: []Pos{g.Granted, lost, over}}
				})
			}
		}
	}
	return found
}

// recorded says that the record of the nodes has a holding of a resource.
func (h History) recorded(resource Resource) bool {
	return slices.ContainsFunc(h.Holdings, func(s Holding) bool { return s.Resource == resource })
}

// over is where the holder knew that its lease was over, at the latest: whatever others had by then; 0 if it never did.
func (g Grant) over() Pos {
	return until(g.Granted, ending{at: g.Released}, ending{at: g.Lost}, ending{at: g.Until}, ending{at: g.Crashed}).End
}

// lossOf is where a grant had been lost by the first grant to another client with a claim, of those of its resource; 0
// if there is none.
func lossOf(g Grant, grants []Grant) Pos {
	for _, other := range grants { // in the order of granting
		if other.Client != g.Client && other.Granted > g.Granted && !other.Claim().Empty() {
			return other.Granted
		}
	}
	return 0
}

// lossOf is the holding in which a grant was made, the zero one if there is none, and where its holder knew that it was
// over, or had the lock again.
func (r holdings) lossOf(g Grant) (s Holding, over Pos) {
	s, had := r.since(g.Granted, g.Granted)
	if !had {
		return Holding{}, 0
	}
	over = g.over()
	if i := slices.IndexFunc(r, func(next Holding) bool { return next.From > s.From }); i >= 0 {
		over = min(cmp.Or(over, never), r[i].From)
	}
	return s, over
}
