package checker

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"locksim/lock/fence"
	"locksim/lock/promise"
)

// ErrMalformed is returned when a history contradicts itself: an operation
// returned before it was invoked, an id is unknown or used twice, an outcome
// contradicts the store. The recording of the history is wrong, and nothing can
// be said about the lock.
var ErrMalformed = errors.New("malformed history")

// Validate returns an error that wraps [ErrMalformed] and names the first
// contradiction, or nil. [Judge] and [Corroborate] call it themselves.
//
// An id that was read but never written is no contradiction: clients can see
// one when data is damaged, so the verdict covers it.
func (h History) Validate() error {
	grants := make(map[int]Grant, len(h.Grants))
	for _, g := range h.Grants {
		if _, twice := grants[g.ID]; twice {
			return malformed("grant %d: the id is used twice", g.ID)
		}
		if err := g.validate(); err != nil {
			return err
		}
		grants[g.ID] = g
	}
	for _, a := range h.Attempts {
		if err := a.validate(); err != nil {
			return err
		}
	}
	for _, p := range h.Panics {
		if p.Client == "" || p.At < 1 || p.Text == "" {
			return malformed("a panic lacks its client, position or text: %+v", p)
		}
	}
	if err := h.validateOps(grants); err != nil {
		return err
	}
	if err := h.validateGround(); err != nil {
		return err
	}
	return errors.Join(h.validateWords(), h.validateSpans())
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// validateWords checks the fields with a fixed set of words.
func (h History) validateWords() error {
	if _, err := ParseCare(string(h.Care)); h.Care != "" && err != nil {
		return malformed("%v", err)
	}
	if h.Fill && h.SectionWrites > 1 {
		return malformed("a section fills a value and makes %d writes: want one", h.SectionWrites)
	}
	if h.SectionWrites < 0 {
		return malformed("a section makes %d writes: want 0 or more", h.SectionWrites)
	}
	if err := h.validateStock(); err != nil {
		return err
	}
	return h.validateAdmission()
}

// rule is a condition that must not hold, and the message if it does.
type rule struct {
	broken bool
	text   string
}

// firstBroken returns the text of the first broken rule, or "".
func firstBroken(rules ...rule) string {
	for _, r := range rules {
		if r.broken {
			return r.text
		}
	}
	return ""
}

// before reports whether both happened, b earlier than a.
func before(b, a Pos) bool { return a > 0 && b > 0 && b < a }

func (g Grant) validate() error {
	if text := firstBroken(
		rule{g.ID < 1, "a grant's id is below 1"},
		rule{g.Client == "" || g.Resource == "", "a grant lacks its client or resource"},
		rule{min(g.Invoked, g.Granted) < 1, "a grant lacks the position of its invocation or return"},
		rule{min(g.Released, g.ReleaseReturned, g.Until, g.Lost, g.LostSeen, g.UntilSeen, g.Crashed, g.Revived, g.Doubted,
			g.Known) < 0, "a grant's position is negative"},
		rule{g.Granted < g.Invoked, "a grant returned before it was invoked"},
		rule{before(g.Released, g.Granted), "a grant was released before it was granted"},
		rule{g.ReleaseReturned > 0 && g.Released == 0, "a release returned that was never invoked"},
		rule{before(g.ReleaseReturned, g.Released), "a release returned before it was invoked"},
		rule{g.ReleaseFailed && g.ReleaseReturned == 0, "a release failed that never returned"},
		rule{g.LostSeen > 0 && g.Lost == 0 || before(g.LostSeen, g.Lost), "a loss was seen before it happened"},
		rule{g.LostBefore && (g.Lost == 0 || g.Lost > g.Granted), "a loss was announced before a grant and after it"},
		rule{g.OverBefore && (g.Until == 0 || g.Until > g.Granted), "a validity that was over before a grant ended after it"},
		rule{g.ReleaseSucceeded && (g.ReleaseReturned == 0 || g.ReleaseFailed), "a release succeeded that failed or never " +
			"returned"},
		rule{g.ReleaseNotHeld && (g.ReleaseReturned == 0 || g.ReleaseFailed || g.ReleaseSucceeded),
			"a release of a lock that was not held succeeded, failed or never returned"},
		rule{min(g.ContextEnded, g.LeaseEnded) < 0, "a context of a grant ended before the run"},
		rule{before(g.Doubted, g.Granted), "a claim was doubted before its grant"},
		rule{g.UntilSeen > 0 && g.Until == 0 || before(g.UntilSeen, g.Until), "an end of validity was seen before it came"},
		rule{before(g.LostSeen, g.Granted) || before(g.UntilSeen, g.Granted), "an end was seen before its grant"},
		rule{g.Revived > 0 && (g.Until == 0 || g.Revived < g.Until), "a grant was revived before its validity had ended"},
		rule{before(g.Crashed, g.Granted), "a grant went to a process that had crashed"},
		rule{before(g.Crashed, max(g.Released, g.ReleaseReturned, g.LostSeen, g.UntilSeen)), "a client acted on its grant " +
			"after its crash"},
		rule{g.Enqueued < 0 || before(g.Enqueued, g.Invoked), "a grant joined the queue before it was invoked"},
		rule{g.Enqueued > g.Granted, "a grant joined the queue after it had returned"},
	); text != "" {
		return malformed("%s: %+v", text, g)
	}
	return nil
}

func (a Attempt) validate() error {
	if text := firstBroken(
		rule{a.Client == "" || a.Resource == "", "an attempt lacks its client or resource"},
		rule{a.Invoked < 1 || a.Returned < 0, "an attempt lacks the position of its invocation"},
		rule{before(a.Returned, a.Invoked), "an attempt returned before it was invoked"},
		rule{a.Outcome == OutcomeOK, "an attempt that succeeded is a grant"},
		rule{a.ContextEnded < 0 || a.ContextEnded > 0 && a.Returned == 0, "the context of an attempt ended before the run, " +
			"or of one that never returned"},
		rule{!a.Outcome.known(), "an attempt's outcome is not known"},
		rule{a.Enqueued < 0 || before(a.Enqueued, a.Invoked), "an attempt joined the queue before it was invoked"},
		rule{a.Left < 0 || a.Left > 0 && a.Enqueued == 0 || before(a.Left, a.Enqueued), "an attempt left the queue before " +
			"it joined it"},
	); text != "" {
		return malformed("%s: %+v", text, a)
	}
	return nil
}

func (o Outcome) known() bool {
	switch o {
	case OutcomeOK, OutcomeRefused, OutcomeUnknown, OutcomeNotSent, OutcomeFailed:
		return true
	}
	return false
}

// validateOps checks each operation, then the operations of each section.
func (h History) validateOps(grants map[int]Grant) error {
	seen := make(map[string]bool, len(h.Ops))
	for _, o := range h.Ops {
		g, found := grants[o.Grant]
		if !found {
			return malformed("operation %q: it names grant %d, which is not in the history", o.ID, o.Grant)
		}
		if o.ID == "" || seen[o.ID] {
			return malformed("operation %q: ids are unique and not empty", o.ID)
		}
		seen[o.ID] = true
		if err := o.validate(g, h.Fence != ""); err != nil {
			return err
		}
		if _, read := h.Final[o.cell()]; !read && h.Fence == "" {
			return malformed("operation %q: no epilogue read of %s", o.ID, o.cell())
		}
		if err := o.validateAgain(h, seen); err != nil {
			return err
		}
	}
	if h.Fence != "" {
		return h.validateLast(seen)
	}
	return h.validateSections()
}

// says reports whether the outcome is an answer of the store.
func (o Op) says() bool { return o.Outcome == OutcomeOK || o.Outcome == OutcomeRefused }

// validateAgain checks what an operation says of the write of which it is a retry.
func (o Op) validateAgain(h History, seen map[string]bool) error {
	switch {
	case o.Again == "":
		return nil
	case h.Fence == "" || o.Kind != Write:
		return malformed("operation %q: it is a retry, and only writes to a store under test are sent again", o.ID)
	case !seen[o.Again] || o.Again == o.ID:
		return malformed("operation %q: it is a retry of %q, which is not before it", o.ID, o.Again)
	}
	first := h.Ops[slices.IndexFunc(h.Ops, func(w Op) bool { return w.ID == o.Again })]
	same := first.Grant == o.Grant && first.Token == o.Token && first.cell() == o.cell()
	if first.Kind != Write || first.Again != "" || !same {
		return malformed("operation %q: it is a retry of %q, which is no first write of the same grant on the same cell",
			o.ID, o.Again)
	}
	return nil
}

// validateLast checks the last reads of a store under test, and the name of its rule.
func (h History) validateLast(seen map[string]bool) error {
	switch h.Fence {
	case fence.Check, fence.Seal, fence.Strict:
	default:
		return malformed("the rule %q of a store under test is not known: want check, seal or strict", h.Fence)
	}
	for _, o := range h.Last {
		if o.ID == "" || seen[o.ID] || o.Kind != Read || !o.Outcome.known() || o.Invoked < 1 ||
			before(o.Returned, o.Invoked) || o.says() && o.Returned == 0 {
			return malformed("a last read lacks its id, its positions or its outcome: %+v", o)
		}
		seen[o.ID] = true
	}
	return nil
}

func (o Op) validate(g Grant, fenced bool) error {
	answered := o.says()
	if text := firstBroken(
		rule{o.Kind != Read && o.Kind != Write, "an operation's kind is not known"},
		rule{!o.Outcome.known(), "an operation's outcome is not known"},
		rule{o.Client != g.Client, "an operation's client is not its grant's"},
		rule{o.Resource != g.Resource, "an operation's resource is not its grant's"},
		rule{o.Invoked < 1 || o.Returned < 0 || o.Applied < 0, "an operation lacks the position of its invocation"},
		rule{o.Invoked < g.Granted, "an operation was invoked before its grant"},
		rule{before(o.Returned, o.Invoked), "an operation returned before it was invoked"},
		rule{before(o.Applied, o.Invoked), "the store decided on an operation before it was invoked"},
		rule{before(g.Crashed, max(o.Invoked, o.Returned)), "an operation's client acted after its crash"},
		rule{answered && o.Returned == 0, "an operation was answered and did not return"},
		rule{answered && before(o.Returned, o.Applied), "an operation was answered before the store decided"},
		rule{answered && o.Applied == 0 && !fenced, "an operation was answered and never reached the store"},
		rule{o.Accepted && o.Applied == 0, "an operation was accepted and never reached the store"},
		rule{o.Outcome == OutcomeOK && !o.Accepted && !fenced, "an operation succeeded and the store had refused it"},
		rule{o.Outcome == OutcomeRefused && o.Accepted, "an operation was refused and the store had accepted it"},
		rule{o.Outcome == OutcomeNotSent && o.Applied > 0, "an operation was never sent and reached the store"},
		rule{o.Outcome == OutcomeFailed && o.Accepted, "an operation failed for certain and the store had accepted it"},
	); text != "" {
		return malformed("%s: %+v", text, o)
	}
	return nil
}

// validateSections checks that each write is based on what its section read, and
// that a grant fills a value once.
func (h History) validateSections() error {
	for _, c := range cellHistories(h) {
		filled := make(map[int]bool) // by grant
		for _, s := range cellSections(c.ops) {
			if h.Fill && s.write != nil {
				if filled[s.write.Grant] {
					return malformed("operation %q: grant %d has filled %s before", s.write.ID, s.write.Grant, c.cell)
				}
				filled[s.write.Grant] = true
			}
			if s.read != nil && s.write != nil && s.read.Saw != s.write.Saw {
				return malformed("operation %q: it is based on %s, but its section read %s",
					s.write.ID, value(s.write.Saw), value(s.read.Saw))
			}
		}
	}
	return nil
}

// validateStock checks the amount that each cell has.
func (h History) validateStock() error {
	switch s := h.Stock; {
	case s == nil:
	case h.Fill:
		return malformed("a cell is a value that is computed once, and has no stock")
	case s.Units < 0 || s.Each < 1:
		return malformed("a stock of %d units, of which each write takes %d", s.Units, s.Each)
	}
	return nil
}

// validateAdmission checks the words for the promises of the lock.
func (h History) validateAdmission() error {
	switch h.Entry {
	case "", EntryExclusive, EntryReentrant, EntryOwnerless, EntryShared:
	default:
		return malformed("entry %q is not known: want %s, %s, %s or %s", h.Entry, EntryExclusive, EntryReentrant,
			EntryOwnerless, EntryShared)
	}
	for _, d := range h.Duties {
		if !slices.Contains(promise.Duties(), d) {
			return malformed("duty %q is not known: want one of %q", d, promise.Duties())
		}
	}
	switch {
	case h.Queue != QueueNone && h.Queue != QueueFair:
		return malformed("queue %q is not known: want %s or nothing", h.Queue, QueueFair)
	case h.Queue == QueueFair && (h.Entry == EntryReentrant || h.Entry == EntryShared):
		return malformed("a fair queue and %s entry: it is not defined which entries pass the queue", h.Entry)
	}
	return nil
}

// validateGround checks the nodes' record.
func (h History) validateGround() error {
	for _, d := range h.Deletions {
		if err := d.validate(); err != nil {
			return err
		}
	}
	for _, s := range h.Holdings {
		if err := s.validate(); err != nil {
			return err
		}
	}
	for _, v := range h.Votes {
		if v.Client == "" || v.Resource == "" || v.At < 1 || v.Nodes < 0 || v.Nodes > h.Voters {
			return malformed("a vote lacks its client, resource or position, or has more nodes than there are: %+v", v)
		}
	}
	return validateHoldings(h.Holdings)
}

func (d Deletion) validate() error {
	if text := firstBroken(
		rule{d.At < 1, "a deletion lacks its position"},
		rule{d.Node == "" || d.Resource == "", "a deletion lacks its node or resource"},
		rule{d.Owner == "" || d.By == "", "a deletion lacks the client that had set the key or that deleted it"},
	); text != "" {
		return malformed("%s: %+v", text, d)
	}
	return nil
}

func (s Holding) validate() error {
	if text := firstBroken(
		rule{s.Client == "" || s.Resource == "", "a holding lacks its client or resource"},
		rule{s.From < 1 || s.To < 0, "a holding lacks the position of its beginning"},
		rule{before(s.To, s.From), "a holding ended before it began"},
		rule{s.Again != 0 && (s.Again <= s.From || s.To != 0 && s.Again >= s.To), "a request in a holding is not in it"},
	); text != "" {
		return malformed("%s: %+v", text, s)
	}
	return nil
}

// validateHoldings checks that the spans of one client on one resource do not
// overlap.
func validateHoldings(all []Holding) error {
	sorted := slices.SortedFunc(slices.Values(all), byHolder)
	for i := 1; i < len(sorted); i++ {
		a, b := sorted[i-1], sorted[i]
		if a.Client == b.Client && a.Resource == b.Resource && a.Span().end() > b.From {
			return malformed("two holdings of one client overlap: %+v and %+v", a, b)
		}
	}
	return nil
}

func byHolder(a, b Holding) int {
	return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Client, b.Client),
		cmp.Compare(a.From, b.From), cmp.Compare(a.Span().end(), b.Span().end()))
}
