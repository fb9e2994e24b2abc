package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Slack is how near a history came to something that must not happen: the smaller, the nearer. In the search by
// robustness, as published, it is the robustness of one requirement. [Verdict.Slack] has the least of each kind.
type Slack struct {
	// Kind is what was measured. Only slacks of one kind can be compared.
	Kind SlackKind `json:"kind"`
	// Value is in nanoseconds or, for a kind that [SlackKind.Counts], a number. Below [SlackKind.Least] it happened.
	Value int64 `json:"value" jsonschema:"minimum=-9223372036854775808"`
	// Client is whose claim, grant or Acquire it is about.
	Client string `json:"client"`
	// Other is the other client, if there is one.
	Other string `json:"other,omitempty"`
	// Resource is what the lock was for.
	Resource Resource `json:"resource"`
	// From is the instant from which it was measured, in nanoseconds; 0 if the instants are not known.
	From time.Duration `json:"from_ns"`
	// To is the instant to which it was measured, in nanoseconds. It may be after the end of the run.
	To time.Duration `json:"to_ns"`
	// At has the positions that [Slack.String] speaks of, in its order.
	At []Pos `json:"at,omitempty"`
}

// SlackKind is what a [Slack] measures.
type SlackKind string

// The kinds. All but the tokens need a [Timing].
const (
	// SlackLease is the time from the end of the last claim before a grant to the grant, if its Acquire was called before
	// that end. It is negative if and only if the claims overlap, and 0 if the second begins in the instant in which the
	// first ends: intervals are half-open. The last claim is the one that ends last, of those on the resource that were
	// granted before and must not overlap that of the grant; if several end at one position, the first that was granted.
	// Empty claims count on neither side. If the claims do not overlap, the first has to have ended by itself: by Until,
	// Lost or a crash. Where its holder released it the time is a [SlackRelease], and where it could not know better
	// ([Grant.Doubted]) it says nothing.
	SlackLease SlackKind = "lease"
	// SlackRelease is the same of claims that do not overlap, of which the holder of the first released it. There the next
	// grant waits for the release, so that a small value is no near miss.
	SlackRelease SlackKind = "release"
	// SlackExpiry is the time from the end of a claim to that of the key or session by which the nodes knew its holder:
	// the end of the last [Holding] of the client that began before or at the grant and ended after the call of Acquire.
	// It is negative if the client claimed what the nodes would have given to others, whether they did or not. Claims that
	// were released or crashed have only negative ones, since a release ends both, and so have those whose client had the
	// key again before they ended: until then they are without it. It is not known of locks with several
	// keys ([History.ManyKeys]), nor judged where a holder has time to learn of a loss ([History.Detection]).
	SlackExpiry SlackKind = "expiry"
	// SlackValidity is how long a lease still lasted by the clock of its holder when Acquire, or an Extend without an
	// error, returned: see [Grant.Left].
	SlackValidity SlackKind = "validity"
	// SlackVotes is the number of nodes beyond a majority that had the key of a client during its claim, where there are
	// several: see [History.Votes]. 0 is a bare majority, -1 leaves one to others.
	SlackVotes SlackKind = "votes"
	// SlackTokens is the difference between the token of a grant and the highest of the grants before it, as
	// [Facts.TokenRegressions] compares them. It is 0 also for a duplicate of [Facts.TokenDuplicates].
	SlackTokens SlackKind = "tokens"
	// SlackWait is the time from the end of an idle time to the instant at which it would have been overdue: see
	// [Facts.Overdue].
	SlackWait SlackKind = "wait"
	// SlackNotice is by how much a holder noticed a loss sooner than it had to: see [Facts.Misconduct].
	SlackNotice SlackKind = "notice"
)

// slackKinds has the kinds in the order in which a verdict lists them.
var slackKinds = [...]SlackKind{
	SlackLease, SlackRelease, SlackExpiry, SlackValidity, SlackVotes, SlackTokens, SlackWait, SlackNotice,
}

// SlackKinds lists the kinds. The caller owns the slice.
func SlackKinds() []SlackKind { return slices.Clone(slackKinds[:]) }

// Counts reports whether the values of a kind are numbers, and not nanoseconds.
func (k SlackKind) Counts() bool { return k == SlackVotes || k == SlackTokens }

// Least is the least value that is right: 1 for the kinds that must be positive, otherwise 0.
func (k SlackKind) Least() int64 {
	if k == SlackTokens || k == SlackValidity {
		return 1
	}
	return 0
}

// Nearer reports whether s is nearer to what must not happen than t, which is of the same kind. It is false if both are
// equally near.
func (s Slack) Nearer(t Slack) bool { return s.Value < t.Value }

// Broken reports whether it happened.
func (s Slack) Broken() bool { return s.Value < s.Kind.Least() }

// SlackOf is the least slack of a kind; ok is false if the history has none.
func (v Verdict) SlackOf(kind SlackKind) (s Slack, ok bool) {
	i := slices.IndexFunc(v.Slack, func(s Slack) bool { return s.Kind == kind })
	if i < 0 {
		return Slack{}, false
	}
	return v.Slack[i], true
}

// NearestMiss is the least time by which two clients have missed having the lock at once: the slack of [SlackLease] or,
// if a client claimed what the nodes had given up, and that is less, of [SlackExpiry]. ok is false if there is neither.
// What a key lasts beyond its claim is no miss: it is how long a request was under way.
func (v Verdict) NearestMiss() (s Slack, ok bool) {
	s, ok = v.SlackOf(SlackLease)
	if gone, has := v.SlackOf(SlackExpiry); has && gone.Broken() && (!ok || gone.Value < s.Value) {
		return gone, true
	}
	return s, ok
}

// leastSlack has the least slack of each kind, by its place in slackKinds.
type leastSlack [len(slackKinds)]Slack

// add keeps a slack, with its positions, if it is the least of its kind so far. Of equal ones the choice does not
// depend on the order.
func (l *leastSlack) add(s Slack, at ...Pos) {
	i := slices.Index(slackKinds[:], s.Kind)
	least := &l[i]
	if least.Kind == "" || s.Value < least.Value || s.Value == least.Value && s.sooner(least, at) {
		*least = s
		least.At = slices.Clone(at)
	}
}

func (s *Slack) sooner(t *Slack, at []Pos) bool {
	return cmp.Or(cmp.Compare(s.From, t.From), cmp.Compare(s.To, t.To), cmp.Compare(s.Resource, t.Resource),
		cmp.Compare(s.Client, t.Client),
		cmp.Compare(s.Other, t.Other), slices.Compare(at, t.At)) < 0
}

// list has those that were found.
func (l *leastSlack) list() []Slack {
	var all []Slack
	for _, s := range l {
		if s.Kind != "" {
			all = append(all, s)
		}
	}
	return all
}

// ofClaims adds the slack of claims: what follows them, what the nodes knew of them, and what was left of them.
func (l *leastSlack) ofClaims(h History, records map[holder]holdings) {
	if h.Timing == nil {
		return
	}
	votes := votesOf(h)
	var before lastClaims
	for i, g := range inGrantingOrder(h) {
		if i == 0 || g.Resource != before.resource {
			before = lastClaims{resource: g.Resource}
		}
		l.ofValidity(h, *g)
		claim := g.Claim()
		if claim.Empty() {
			continue
		}
		l.afterClaims(h, before, g)
		before.add(g, claim)
		if !h.ManyKeys && h.Detection == 0 {
			l.ofExpiry(h, *g, claim, records[holder{g.Client, g.Resource}])
		}
		if h.Voters > 1 {
			l.ofVotes(h, *g, claim, votes[holder{g.Client, g.Resource}])
		}
	}
	for _, c := range h.Calls {
		if c.Left != nil {
			l.add(Slack{Kind: SlackValidity, Value: int64(*c.Left), Client: c.Client, Resource: c.Resource, From: c.Returned,
				To: c.Returned + *c.Left},
				c.About)
		}
	}
}

// inGrantingOrder has the grants by resource, and then in the order in which they were granted.
func inGrantingOrder(h History) []*Grant {
	all := make([]*Grant, len(h.Grants))
	for i := range h.Grants {
		all[i] = &h.Grants[i]
	}
	slices.SortFunc(all, func(a, b *Grant) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Granted, b.Granted), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// lastClaims has, of the claims on a resource so far, the one that ends last, and the last of another client than that
// one's. Of those that end at one position it is the first that was granted.
type lastClaims struct {
	resource   Resource
	last, next claimEnd
}

type claimEnd struct {
	grant *Grant // nil for none
	end   Pos
}

func (c *lastClaims) add(g *Grant, claim Interval) {
	switch now := (claimEnd{g, claim.end()}); {
	case now.end > c.last.end:
		if c.last.grant != nil && c.last.grant.Client != g.Client {
			c.next = c.last
		}
		c.last = now
	case c.last.grant.Client != g.Client && now.end > c.next.end:
		c.next = now
	}
}

// afterClaims adds the slack between the claims before a grant and its own.
func (l *leastSlack) afterClaims(h History, before lastClaims, g *Grant) {
	if h.Entry == EntryShared {
		return
	}
	last := before.last
	if last.grant != nil && !h.excludes(*last.grant, *g) {
		last = before.next
	}
	if last.end <= g.Invoked { // or there is none
		return
	}
	s := Slack{Kind: SlackLease, Client: last.grant.Client, Other: g.Client, Resource: g.Resource,
		From: h.Timing.when(last.end), To: h.Timing.when(g.Granted)}
	s.Value = int64(s.To - s.From)
	switch last.end {
	case never:
		s.Value = min(s.Value, -1)
		l.add(s, g.Granted)
		return
	case last.grant.Released:
		s.Kind = SlackRelease
	case last.grant.Lost, last.grant.Until, last.grant.Crashed:
	default:
		s.Kind = "" // in doubt
	}
	if last.end > g.Granted { // they overlap, and may have one instant
		s.Kind, s.Value = SlackLease, min(s.Value, -1)
	}
	if s.Kind != "" {
		l.add(s, g.Granted, last.end)
	}
}

// ofExpiry adds the slack between the end of a claim and that of the key by which the nodes knew the holder.
func (l *leastSlack) ofExpiry(h History, g Grant, claim Interval, record holdings) {
	begun, _ := slices.BinarySearchFunc(record, g.Granted+1, func(s Holding, p Pos) int { return cmp.Compare(s.From, p) })
	if begun == 0 || record[begun-1].Span().end() <= g.Invoked || record[begun-1].To == 0 {
		return
	}
	held := record[begun-1]
	s := Slack{Kind: SlackExpiry, Client: g.Client, Resource: g.Resource, From: h.Timing.when(claim.end()),
		To: cmp.Or(held.Ended, h.Timing.when(held.To))}
	if begun < len(record) && record[begun].From < claim.end() { // it had the key again while it still claimed
		s.From = h.Timing.when(record[begun].From)
		if s.Value = int64(s.To - s.From); s.Value < 0 {
			l.add(s, held.To, record[begun].From)
		}
		return
	}
	s.Value = int64(s.To - s.From)
	if end := claim.end(); s.Value >= 0 && (end == g.Released || end != g.Until && end != g.Lost) {
		return
	}
	if claim.End == 0 {
		l.add(s, held.To)
		return
	}
	l.add(s, held.To, claim.End)
}

// ofValidity adds what was left of a lease when it was granted.
func (l *leastSlack) ofValidity(h History, g Grant) {
	if g.Left != nil {
		at := h.Timing.when(g.Granted)
		l.add(Slack{Kind: SlackValidity, Value: int64(*g.Left), Client: g.Client, Resource: g.Resource, From: at,
			To: at + *g.Left}, g.Granted)
	}
}

// votesOf are the votes of each client, in the order of their positions.
func votesOf(h History) map[holder][]Vote {
	if h.Voters < 2 {
		return nil
	}
	all := make(map[holder][]Vote)
	for _, v := range slices.SortedFunc(slices.Values(h.Votes), func(a, b Vote) int { return cmp.Compare(a.At, b.At) }) {
		who := holder{v.Client, v.Resource}
		all[who] = append(all[who], v)
	}
	return all
}

// ofVotes adds the least votes beyond a majority that a client had during its claim.
func (l *leastSlack) ofVotes(h History, g Grant, claim Interval, votes []Vote) {
	next, _ := slices.BinarySearchFunc(votes, g.Granted+1, func(v Vote, p Pos) int { return cmp.Compare(v.At, p) })
	if next == 0 {
		return // it is not known
	}
	for i, v := range votes[next-1:] {
		at := v.At
		if i == 0 {
			at = g.Granted
		}
		if at >= claim.end() {
			break
		}
		when := h.Timing.when(at)
		l.add(Slack{Kind: SlackVotes, Value: int64(v.Nodes - (h.Voters/2 + 1)), Client: g.Client, Resource: g.Resource,
			From: when, To: when}, at)
	}
}

// ofToken adds the difference between the token of a grant and that of one before it.
func (l *leastSlack) ofToken(h History, g, before Grant) {
	s := Slack{Kind: SlackTokens, Client: g.Client, Other: before.Client, Resource: g.Resource,
		Value: difference(g.Token, before.Token)}
	if h.Timing != nil {
		s.From, s.To = h.Timing.when(before.Granted), h.Timing.when(g.Granted)
	}
	l.add(s, g.Granted, before.Granted)
}

// difference is a - b, as far as an int64 can have it.
func difference(a, b uint64) int64 {
	const most = 1<<63 - 1
	if a >= b {
		return int64(min(a-b, most))
	}
	return -int64(min(b-a, most))
}

// Miss is the slack of a [Verdict.NearestMiss] in words, for a reader who knows nothing of kinds: how long it was, and
// what it was.
func (s Slack) Miss() string {
	if s.Broken() {
		return s.String()
	}
	return rounded(time.Duration(s.Value)).String() + ": " + s.String()
}

// rounded is a time as a person reads it.
func rounded(d time.Duration) time.Duration {
	switch {
	case d >= time.Second:
		return d.Round(time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Nanosecond)
}

// String is the slack as a sentence without its end: c1 was granted order 3ms after the claim of c0 had ended.
func (s Slack) String() string {
	after := time.Duration(s.Value)
	before := after < 0
	after = max(after, -after)
	length := rounded(after).String()
	switch s.Kind {
	case SlackLease, SlackRelease:
		if before {
			return fmt.Sprintf("%s was granted %s %s before the claim of %s ended", s.Other, s.Resource, length, s.Client)
		}
		how := "the claim of " + s.Client + " had ended"
		if s.Kind == SlackRelease {
			how = s.Client + " had begun to release it"
		}
		return fmt.Sprintf("%s was granted %s %s after %s", s.Other, s.Resource, length, how)
	case SlackExpiry:
		if before {
			return fmt.Sprintf("%s still claimed %s %s after the servers had given up its key", s.Client, s.Resource, length)
		}
		return fmt.Sprintf("the servers gave up the key of %s on %s %s after its claim had ended", s.Client, s.Resource,
			length)
	case SlackValidity:
		if s.Value <= 0 {
			return fmt.Sprintf("%s had a lease on %s that had ended %s before the call returned", s.Client, s.Resource, length)
		}
		return fmt.Sprintf("%s had a lease on %s that lasted for %s after the call had returned", s.Client, s.Resource,
			length)
	case SlackVotes:
		if before {
			return fmt.Sprintf("%s claimed %s and lacked %d of the servers of a majority", s.Client, s.Resource, -s.Value)
		}
		return fmt.Sprintf("%s claimed %s with %d more servers than a majority", s.Client, s.Resource, s.Value)
	case SlackTokens:
		return fmt.Sprintf("%s was granted %s with a token %d above that of %s before", s.Client, s.Resource, s.Value,
			s.Other)
	case SlackWait:
		if before {
			return fmt.Sprintf("%s waited for %s, which was free, %s longer than the lock promises", s.Client, s.Resource,
				length)
		}
		return fmt.Sprintf("%s waited for %s, which was free, and the lock promises it %s later", s.Client, s.Resource,
			length)
	case SlackNotice:
		if before {
			return fmt.Sprintf("%s noticed the loss of %s %s later than the lock says", s.Client, s.Resource, length)
		}
		return fmt.Sprintf("%s noticed the loss of %s %s sooner than the lock says", s.Client, s.Resource, length)
	}
	return string(s.Kind)
}

// slackMeans has the meanings of the kinds of slack.
var slackMeans = map[SlackKind]string{
	SlackLease: "From the end of the last claim before a grant to the grant, if its client waited for the lock " +
		"by then, and the claim ended by itself: its validity ended, the lock announced the loss, or its holder " +
		"crashed. Negative if and only if two claims overlap.",
	SlackRelease: "The same after a claim that its holder released. The next grant waits for the release, so a " +
		"small value means nothing.",
	SlackExpiry: "From the end of a claim to the end of the key or session on the servers. Negative if a client " +
		"claimed what the servers would have given to others, whether they did or not.",
	SlackValidity: "What was left of a lease when Acquire or Extend returned.",
	SlackVotes: "How many servers more than a majority had a client's key during its claim, for a lock on " +
		"several.",
	SlackTokens: "From the highest token of the grants before to that of a grant.",
	SlackWait:   "From the end of an idle time to the instant at which it would have been overdue.",
	SlackNotice: "By how much a holder learned of a loss sooner than its lock says (`Detection`).",
}

// Means says from what to what a slack of the kind is measured. It is "" for an unknown kind.
func (k SlackKind) Means() string { return slackMeans[k] }
