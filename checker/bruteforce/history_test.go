package bruteforce_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/lock/promise"
)

// event is a position that has no number yet: the numbers follow the instants.
type event struct {
	at time.Duration
	p  *checker.Pos
	of any // the grant, the attempt, the operation that it belongs to
}

// maker makes one random history: the sessions of a few clients, with what they did
// to a store.
type maker struct {
	*rand.Rand
	h      checker.History
	events []event
	grants []*checker.Grant
	tries  []*checker.Attempt
	ops    []*checker.Op
	holds  []*checker.Holding
	undone []*checker.Holding // of those, which their clients ended themselves
	// polite says how often a client waits until the lock is free.
	polite   float64
	free     map[checker.Resource]time.Duration
	released []*checker.Grant // of the present client, whose process may crash later
	token    uint64
	again    bool // clients ask again and again, and are away for instants
}

// chance is true with a probability.
func (m *maker) chance(p float64) bool { return m.Float64() < p }

// span is a random time in milliseconds, so that few instants are equal, and some are.
func (m *maker) span(from, to int) time.Duration {
	return time.Duration(from+m.IntN(to-from+1)) * time.Millisecond
}

// mark makes a position an event.
func (m *maker) mark(of any, p *checker.Pos, at time.Duration) time.Duration {
	m.events = append(m.events, event{max(at, 0), p, of})
	return at
}

func oneOf[T any](m *maker, all ...T) T { return all[m.IntN(len(all))] }

// randomHistory makes a history of a seed. It may contradict itself: the caller
// validates it.
func randomHistory(seed uint64) checker.History { return newHistory(seed, false) }

// historyOfAskers is one in which clients ask again and again, few are granted the lock, and absences are short.
func historyOfAskers(seed uint64) checker.History {
	h := newHistory(seed, true)
	dice := maker{Rand: rand.New(rand.NewPCG(seed, 3))}
	switch {
	case h.Timing == nil:
	case dice.chance(0.6):
		dice.lostReplies(&h)
	default:
		dice.answeredAgain(&h)
	}
	return h
}

// answeredAgain lets clients lose a reply shortly before they are granted the lock all the same, and lets the nodes
// keep the key of each after it has released the lock.
func (m *maker) answeredAgain(h *checker.History) {
	h.Timing.Steady, h.Voters, h.Votes, h.Timing.Trips = m.chance(0.95), 1, nil, m.span(0, 3)
	h.Timing.Away, h.Holdings = map[string][]checker.Absence{}, nil
	h.Timing.Within = map[promise.Cause]time.Duration{promise.CauseLostReply: m.span(40, 150),
		promise.CauseExpiry: m.span(0, 20)}
	h.Timing.Grace, h.Timing.Growing = m.span(0, 8), m.chance(0.1)
	for i := range h.Attempts {
		if a := &h.Attempts[i]; a.Returned > 0 && a.Outcome == checker.OutcomeUnknown {
			a.Outcome = checker.OutcomeFailed
		}
	}
	for i := range h.Grants {
		g := &h.Grants[i]
		if g.ReleaseReturned == 0 || g.Granted < 2 || m.chance(0.2) || len(h.Timing.Away[g.Client]) > 0 {
			continue
		}
		g.ReleaseSucceeded, g.ReleaseFailed, g.ReleaseNotHeld = true, false, false
		lost := max(h.Timing.At[g.Granted-1]-m.span(-1, 4), 0)
		h.Timing.Away[g.Client] = []checker.Absence{{Running: true, Span: checker.Span{From: lost, To: lost}}}
		s := checker.Holding{Client: g.Client, Resource: g.Resource, From: g.Granted + checker.Pos(m.IntN(3)) - 1}
		if m.chance(0.3) {
			s.To = min(s.From+checker.Pos(1+m.IntN(30)), checker.Pos(len(h.Timing.At)))
		}
		h.Holdings = append(h.Holdings, s)
	}
}

// lostReplies lets some attempts end by the loss of a reply, and leave a key behind.
func (m *maker) lostReplies(h *checker.History) {
	h.Entry, h.Timing.Steady, h.Timing.InOrder, h.Timing.Sends = checker.EntryExclusive, true, true,
		map[string][]time.Duration{}
	h.Timing.Away, h.Holdings, h.Timing.Trips = map[string][]checker.Absence{}, nil, m.span(1, 5)
	for _, a := range h.Attempts {
		h.Timing.Sends[a.Client] = append(h.Timing.Sends[a.Client], h.Timing.At[a.Invoked-1])
		if a.Returned < a.Invoked+2 {
			continue
		}
		returned := h.Timing.At[a.Returned-1]
		if m.chance(0.3) { // a clean-up
			h.Timing.Sends[a.Client] = append(h.Timing.Sends[a.Client], returned-m.span(0, 2))
		}
		if m.chance(0.5) {
			lost := returned - m.span(0, 3)
			h.Timing.Away[a.Client] = append(h.Timing.Away[a.Client],
				checker.Absence{Running: m.chance(0.9), Span: checker.Span{From: lost - m.span(0, 6), To: lost}})
		}
		if m.chance(0.4) && !slices.ContainsFunc(h.Holdings, func(s checker.Holding) bool { return s.Client == a.Client }) {
			h.Holdings = append(h.Holdings, checker.Holding{Client: a.Client, Resource: a.Resource, From: a.Invoked + 1})
		}
	}
	for _, g := range h.Grants {
		h.Timing.Sends[g.Client] = append(h.Timing.Sends[g.Client], h.Timing.At[g.Invoked-1])
	}
	for _, sends := range h.Timing.Sends {
		slices.Sort(sends)
	}
}

func newHistory(seed uint64, again bool) checker.History {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 0)), free: map[checker.Resource]time.Duration{}, again: again}
	m.h = checker.History{
		Care: oneOf(m, checker.CareNever, checker.CareLost, checker.CareSteps),
		Entry: oneOf(m, checker.EntryExclusive, checker.EntryExclusive, checker.EntryReentrant, checker.EntryReentrant,
			checker.EntryOwnerless),
		Queue:         oneOf(m, checker.QueueNone, checker.QueueFair),
		Calm:          m.chance(0.3),
		SectionWrites: 1 + m.IntN(2),
		Final:         map[checker.Cell]string{},
	}
	if m.h.Entry == checker.EntryReentrant {
		m.h.Queue = checker.QueueNone // a history with both is malformed
	}
	m.h.Ending = (&maker{Rand: rand.New(rand.NewPCG(seed, 1))}).ending()
	if m.chance(0.7) {
		m.h.Timing = &checker.Timing{Away: map[string][]checker.Absence{}, Grace: m.span(0, 20),
			Within: map[promise.Cause]time.Duration{}}
		for _, cause := range promise.Causes() {
			if m.chance(0.6) {
				m.h.Timing.Within[cause] = m.span(0, 60)
			}
		}
	}
	if m.h.Fill = m.chance(0.25); m.h.Fill {
		m.h.SectionWrites = 1
	}
	m.polite = oneOf(m, 0, 0.8, 1, 1)
	resources := []checker.Resource{"a", "b"}[:1+m.IntN(5)/4]
	for i := range 1 + m.IntN(4) {
		m.client(fmt.Sprintf("c%d", i), resources)
	}
	m.number()
	m.store(resources)
	m.extras(resources)
	m.duties()
	if m.chance(0.1) && m.h.Entry == checker.EntryExclusive && m.h.Queue == checker.QueueNone {
		m.h.Entry = checker.EntryShared
	}
	if m.chance(0.05) { // at the end, so that the other draws of a seed stay as they are
		for i := range 1 + m.IntN(2) {
			m.h.Panics = append(m.h.Panics, checker.Panic{Client: fmt.Sprintf("c%d", i), At: 1, Text: "oh"})
		}
	}
	if !m.h.Fill && m.chance(0.3) {
		m.h.Stock = &checker.Stock{Units: m.IntN(8), Each: 1 + m.IntN(5)}
	}
	m.h.ManyKeys, m.h.SessionKeys = m.chance(0.2), m.chance(0.2)
	m.slack()
	if m.h.Timing != nil && m.chance(0.5) {
		m.h.Detection = m.span(1, 20)
		for i := range m.h.Holdings {
			if s := &m.h.Holdings[i]; m.chance(0.3) {
				s.Ended = max(m.h.Timing.At[s.To-1]-m.span(0, 10), 1)
			}
		}
	}
	m.leaders()
	return m.h
}

// leaders makes some of the holders leaders. It has its own numbers, as slack has.
func (m *maker) leaders() {
	own := maker{Rand: rand.New(rand.NewPCG(uint64(len(m.h.Ops)), uint64(len(m.events))))}
	m.h.Leads = own.chance(0.4)
	if m.h.Timing == nil {
		return
	}
	if own.chance(0.5) {
		m.h.Timing.Leaderless = own.span(0, 60)
	}
	for _, name := range slices.Sorted(maps.Keys(m.h.Timing.Away)) {
		for i := range m.h.Timing.Away[name] {
			s := &m.h.Timing.Away[name][i]
			s.Running = !s.Crash && own.chance(0.5)
		}
	}
	m.h.Timing.Heard = map[string][]time.Duration{}
	for _, client := range []string{"c0", "c1", "c2", "c3"} {
		for range own.IntN(20) {
			m.h.Timing.Heard[client] = append(m.h.Timing.Heard[client], own.span(0, 250))
		}
		slices.Sort(m.h.Timing.Heard[client])
	}
	m.h.Timing.Unlinked = map[string][]checker.Span{}
	for _, client := range []string{"c0", "c1", "c2", "c3"} {
		if own.chance(0.3) {
			from := own.span(0, 200)
			m.h.Timing.Unlinked[client] = []checker.Span{{From: from, To: from + own.span(0, 40)}}
		}
	}
}

// slack is what only the slack of a history, and what concerns several nodes, is computed from. It has its own numbers,
// so that the other draws of a seed stay as they are.
func (m *maker) slack() {
	own := maker{Rand: rand.New(rand.NewPCG(uint64(len(m.events)), uint64(len(m.h.Ops))))}
	for i := range m.h.Grants {
		if left := own.span(-20, 100); own.chance(0.3) {
			m.h.Grants[i].Left = &left
		}
	}
	for i := range m.h.Calls {
		if left := own.span(-20, 200); m.h.Calls[i].Result == checker.ResultDone && own.chance(0.3) {
			m.h.Calls[i].Left = &left
		}
	}
	if m.h.Timing == nil || own.chance(0.5) {
		return
	}
	m.h.Voters = 1 + own.IntN(5)
	m.h.Timing.Majority = oneOf(&own, 0, own.span(0, 300), 1<<62)
	for _, client := range []string{"c0", "c1", "c2", "c3"} {
		for at := own.IntN(8); at < len(m.h.Timing.At); at += 1 + own.IntN(30) {
			m.h.Votes = append(m.h.Votes, checker.Vote{Client: client, Resource: "a", At: checker.Pos(1 + at),
				Nodes: own.IntN(m.h.Voters + 1)})
		}
	}
	own.Shuffle(len(m.h.Votes), func(i, j int) { m.h.Votes[i], m.h.Votes[j] = m.h.Votes[j], m.h.Votes[i] })
}

// duties are what the lock promises about its calls, and what is known of them.
func (m *maker) duties() {
	t := m.h.Timing
	if t == nil || m.chance(0.3) {
		return
	}
	for _, d := range promise.Duties() {
		if m.chance(0.7) {
			m.h.Duties = append(m.h.Duties, d)
		}
	}
	t.Growing = m.chance(0.3)
	t.Resends = m.chance(0.3)
	t.Lease, t.Trips, t.Steady, t.Prompt, t.InOrder = m.span(1, 120), m.span(0, 20), m.chance(0.8), m.chance(0.8),
		m.chance(0.5)
	if m.chance(0.8) {
		t.Pace = &checker.Pace{Servers: 1 + m.IntN(2), Pause: m.span(1, 40), Renewal: m.span(1, 20), Extends: m.IntN(2)}
		t.Sends = map[string][]time.Duration{}
		for _, client := range []string{"c0", "c1", "c2", "c3"} {
			for range m.IntN(40) {
				t.Sends[client] = append(t.Sends[client], m.span(0, 200))
			}
			slices.Sort(t.Sends[client])
		}
	}
	m.h.TakenNamed = m.chance(0.2)
	t.Undisturbed, t.Alone = oneOf(m, m.span(0, 300), 1<<62), m.span(0, 20)
	hurried := m.chance(0.5) // contexts end before their calls
	for _, absences := range t.Away {
		for i := range absences {
			absences[i].Running = !absences[i].Crash && m.chance(0.5)
			absences[i].Behind = absences[i].Running && m.chance(0.5)
		}
	}
	for i := range m.h.Grants {
		g := &m.h.Grants[i]
		g.ReleaseNotHeld = g.ReleaseReturned > 0 && !g.ReleaseFailed && m.chance(0.2)
		g.ReleaseContextEnded = g.ReleaseReturned > 0 && m.chance(0.2)
		g.ReleaseContextOver = g.ReleaseContextEnded && m.chance(0.5)
		if called := m.span(0, 200); m.chance(0.3) {
			m.h.Calls = append(m.h.Calls, checker.Call{Client: g.Client, Resource: g.Resource,
				What: oneOf(m, "Release", "Extend"), About: g.Granted,
				Called: called, Due: called + m.span(0, 40), Returned: called + m.span(0, 60),
				ContextEnded: m.chance(0.05),
				Result:       oneOf(m, "", checker.ResultDone, checker.ResultNotHeld, checker.ResultRefused, checker.ResultFailed)})
		}
		g.ReleaseSucceeded = g.ReleaseReturned > 0 && !g.ReleaseFailed && !g.ReleaseNotHeld && m.chance(0.9)
		if hurried {
			g.ContextEnded = m.contextEnd(g.Granted)
		}
		if g.Released > 0 && m.chance(0.9) {
			g.LeaseEnded = t.At[g.Released-1] + max(m.span(-3, 1), 0)
		}
	}
	for i := range m.h.Attempts {
		a := &m.h.Attempts[i]
		if hurried {
			a.ContextEnded = m.contextEnd(a.Returned)
		}
		a.Unexplained = a.Returned > 0 && m.chance(0.2)
		a.Taken = a.Returned > 0 && m.chance(0.1)
		if called := m.span(0, 200); m.chance(0.3) {
			m.h.Tries = append(m.h.Tries, checker.Try{Client: a.Client, Resource: a.Resource, Invoked: a.Invoked, Called: called,
				Returned: called + m.span(0, 60),
				Taken:    m.chance(0.5)})
		}
	}
	for i := range m.h.Grants {
		for range m.IntN(12) / 10 {
			m.h.Grants[i].Unkept = append(m.h.Grants[i].Unkept, "it is not as the lock says")
		}
	}
}

// contextEnd is the end of the context of an Acquire, 0 for one that had not ended when it
// returned.
func (m *maker) contextEnd(returned checker.Pos) time.Duration {
	if returned == 0 || m.chance(0.5) {
		return 0
	}
	return max(m.h.Timing.At[returned-1]-m.span(0, 30), 0)
}

// client makes a few sessions, one after another.
func (m *maker) client(name string, resources []checker.Resource) {
	now := m.span(0, 60)
	m.released = nil
	sections, calls := 0.75, 1+m.IntN(3)
	if m.again {
		sections, calls = 0.15, 3+m.IntN(5)
	}
	for range calls {
		resource := oneOf(m, resources...)
		var alive bool
		if m.chance(sections) {
			now, alive = m.section(name, resource, now, 0)
		} else {
			now, alive = m.attempt(name, resource, now)
		}
		if !alive {
			from := now
			for _, g := range m.released {
				if m.chance(0.7) {
					m.mark(g, &g.Crashed, from)
				}
			}
			m.released = nil
			now += m.span(0, 30)
			if m.h.Timing != nil && m.chance(0.9) {
				m.h.Timing.Away[name] = append(m.h.Timing.Away[name], checker.Absence{Span: checker.Span{From: from, To: now},
					Crash: true})
			}
			if m.chance(0.5) {
				return
			}
		}
		now += m.span(0, 30)
	}
	if m.h.Timing != nil && !m.h.Calm && m.chance(0.3) {
		from := m.span(0, 150)
		m.h.Timing.Away[name] = append(m.h.Timing.Away[name],
			checker.Absence{Span: checker.Span{From: from, To: from + m.span(0, 40)}})
	}
	for m.again && m.h.Timing != nil && m.chance(0.6) {
		from := m.span(0, 300)
		m.h.Timing.Away[name] = append(m.h.Timing.Away[name],
			checker.Absence{Span: checker.Span{From: from, To: from + m.span(0, 3)}})
	}
}

// attempt is an Acquire without a grant.
func (m *maker) attempt(name string, resource checker.Resource, now time.Duration) (end time.Duration, alive bool) {
	a := &checker.Attempt{Client: name, Resource: resource,
		Outcome: oneOf(m, checker.OutcomeFailed, checker.OutcomeRefused, checker.OutcomeUnknown, checker.OutcomeNotSent)}
	m.tries = append(m.tries, a)
	m.mark(a, &a.Invoked, now)
	end = now + m.span(1, 50)
	if m.h.Queue == checker.QueueFair && m.chance(0.7) {
		joined := m.mark(a, &a.Enqueued, now+m.span(1, 10))
		if m.chance(0.5) {
			m.mark(a, &a.Left, joined+m.span(1, 50))
		}
	}
	m.keptOut(name, resource, now, end)
	if m.chance(0.3) { // it leaves a key behind
		s := &checker.Holding{Client: name, Resource: resource}
		m.holds = append(m.holds, s)
		m.mark(s, &s.To, m.mark(s, &s.From, now+m.span(1, 60))+m.span(1, 150))
	}
	if m.chance(0.15) {
		a.Outcome = checker.OutcomeUnknown
		return end, m.h.Calm || m.chance(0.3)
	}
	m.mark(a, &a.Returned, end)
	return end, true
}

// section is an Acquire with a grant, what is done under it, and its end.
func (m *maker) section(name string, resource checker.Resource, now time.Duration,
	depth int) (end time.Duration, alive bool) {
	g := &checker.Grant{ID: len(m.grants) + 1, Client: name, Resource: resource}
	m.grants = append(m.grants, g)
	m.mark(g, &g.Invoked, now)
	granted := now + m.span(1, 20)
	m.keptOut(name, resource, now, granted)
	if depth == 0 && m.chance(m.polite) {
		granted = max(granted, m.free[resource]+m.span(1, 10))
	}
	if m.h.Queue == checker.QueueFair && m.chance(0.6) {
		m.mark(g, &g.Enqueued, min(now+m.span(1, 10), granted-1))
	}
	m.mark(g, &g.Granted, granted)
	switch {
	case m.chance(0.1):
		g.Token = m.token
	case m.chance(0.1):
		g.Token = uint64(m.IntN(4))
	case depth > 0 && m.chance(0.8):
		g.Token = m.grants[len(m.grants)-2].Token
	default:
		m.token++
		g.Token = m.token
	}

	at := granted
	registers := []string{"x", "y"}[:m.h.SectionWrites]
	if oneByOne := m.chance(0.3); oneByOne { // then two sections can have one order in x, and another in y
		for _, register := range registers {
			at = m.op(g, register, checker.Write, m.op(g, register, checker.Read, at)) + m.span(0, 50)
		}
		registers = nil
	}
	for _, register := range registers {
		if m.h.Fill && m.chance(0.2) {
			continue // it does not look
		}
		at = m.op(g, register, checker.Read, at)
	}
	if depth == 0 && m.h.Entry != checker.EntryExclusive && m.chance(0.4) {
		at, alive = m.section(name, resource, at+m.span(0, 5), 1)
		if !alive {
			m.mark(g, &g.Crashed, at)
			return at, false
		}
	}
	at += m.span(0, 10)
	if m.chance(0.9) {
		for _, register := range registers {
			if m.h.Fill && m.chance(0.3) {
				continue // it found the value
			}
			at = m.op(g, register, checker.Write, at)
			if m.chance(0.03) {
				break
			}
		}
	}
	end = at + m.span(1, 10)

	if m.chance(0.3) {
		until := m.mark(g, &g.Until, granted+m.span(-10, 60))
		if until < now {
			g.ExpiredAtCall = true
		}
		g.OverBefore = until <= granted && m.chance(0.7)
		if m.chance(0.4) {
			m.mark(g, &g.UntilSeen, max(until, granted)+m.span(1, 20))
		}
		if m.chance(0.2) {
			m.mark(g, &g.Revived, until+m.span(1, 60))
		}
	}
	g.ExpiredAtCall = g.ExpiredAtCall || m.chance(0.01)
	if m.chance(0.1) {
		lost := m.mark(g, &g.Lost, granted+m.span(0, 40))
		if m.chance(0.6) {
			m.mark(g, &g.LostSeen, lost+m.span(1, 10))
		}
	}
	if m.chance(0.2) {
		m.mark(g, &g.Known, granted+m.span(0, 40))
	}
	if m.chance(0.01) { // at the grant, and not after it
		g.Lost, g.LostSeen, g.LostBefore = 0, 0, true
		m.mark(g, &g.Lost, granted-1)
	}
	if m.chance(0.04) {
		m.mark(g, &g.Doubted, granted+m.span(1, 40))
	}
	m.holding(g, granted, end)
	if !m.h.Calm && m.chance(0.08) {
		m.mark(g, &g.Crashed, end)
		return end, false
	}
	if m.chance(0.95) {
		m.mark(g, &g.Released, end)
		m.free[resource] = max(m.free[resource], end)
		if m.chance(0.9) {
			end = m.mark(g, &g.ReleaseReturned, end+m.span(1, 10))
			m.released = append(m.released, g)
			g.ReleaseFailed = m.chance(0.15)
		} else if !m.h.Calm && m.chance(0.5) {
			m.mark(g, &g.Crashed, end+m.span(1, 10))
			return end + 10*time.Millisecond, false
		}
	}
	m.free[resource] = max(m.free[resource], end)
	return end, true
}

// keptOut is what the nodes may have recorded of an Acquire before it ended.
func (m *maker) keptOut(name string, resource checker.Resource, now, end time.Duration) {
	if !m.chance(0.15) || end-now < 8*time.Millisecond {
		return
	}
	s := &checker.Holding{Client: name, Resource: resource}
	m.holds = append(m.holds, s)
	m.mark(s, &s.From, now+m.span(1, 3))
	if m.chance(0.8) {
		m.mark(s, &s.Again, now+m.span(4, 6))
	}
	m.mark(s, &s.To, end-m.span(-1, 2))
	if m.chance(0.2) {
		m.undone = append(m.undone, s)
	}
}

// holding is what the nodes recorded of a grant.
func (m *maker) holding(g *checker.Grant, granted, end time.Duration) {
	if g.ID != len(m.grants) || !m.chance(0.5) {
		return // one within another would overlap it
	}
	s := &checker.Holding{Client: g.Client, Resource: g.Resource}
	m.holds = append(m.holds, s)
	m.mark(s, &s.From, granted+m.span(-1, 2))
	m.mark(s, &s.To, end+m.span(-20, 0))
}

// op is an operation on the store. What the store answers is decided when all
// operations are known.
func (m *maker) op(g *checker.Grant, register string, kind checker.OpKind, at time.Duration) time.Duration {
	o := &checker.Op{ID: fmt.Sprintf("%s.%d", g.Client, len(m.ops)+1), Client: g.Client, Grant: g.ID, Resource: g.Resource,
		Register: register, Kind: kind, Token: g.Token}
	m.ops = append(m.ops, o)
	at = m.mark(o, &o.Invoked, at+m.span(1, 3))
	if m.chance(0.03) {
		o.Outcome = checker.OutcomeNotSent
		return m.mark(o, &o.Returned, at+m.span(1, 2))
	}
	late := m.chance(0.05)
	if late {
		m.mark(o, &o.Applied, at+m.span(1, 80))
	} else {
		m.mark(o, &o.Applied, at+m.span(1, 3))
	}
	if late || m.chance(0.05) {
		o.Outcome = checker.OutcomeUnknown
		return at + m.span(1, 10)
	}
	return m.mark(o, &o.Returned, at+m.span(4, 8))
}

// number gives the events their positions, in the order of their instants.
func (m *maker) number() {
	m.Shuffle(len(m.events), func(i, j int) { m.events[i], m.events[j] = m.events[j], m.events[i] })
	slices.SortStableFunc(m.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	tied := m.chance(0.3) // a claim can be over at the position at which it, or another one, begins
	n, solid := checker.Pos(0), false
	for i, e := range m.events {
		if i == 0 || !tied || m.events[i-1].at != e.at || solid && !e.isEnd() {
			n, solid = n+1, false
			if m.h.Timing != nil {
				m.h.Timing.At = append(m.h.Timing.At, e.at)
			}
		}
		solid = solid || !e.isEnd()
		*e.p = n
	}
	for _, g := range m.grants {
		if g.Crashed > 0 && g.Crashed < max(g.LostSeen, g.UntilSeen) {
			g.LostSeen, g.UntilSeen = 0, 0
		}
		m.h.Grants = append(m.h.Grants, *g)
	}
	for _, a := range m.tries {
		m.h.Attempts = append(m.h.Attempts, *a)
	}
	for _, s := range m.holds {
		if s.From < s.To {
			if s.Again <= s.From || s.Again >= s.To {
				s.Again = 0
			}
			m.h.Holdings = append(m.h.Holdings, *s)
			if slices.Contains(m.undone, s) {
				m.h.Deletions = append(m.h.Deletions, checker.Deletion{At: s.To, Node: "r0", Resource: s.Resource, Owner: s.Client,
					By: s.Client})
			}
		}
	}
}

// isEnd says that an event ends a claim: its position need not be that of an event of
// its own.
func (e event) isEnd() bool {
	g, ok := e.of.(*checker.Grant)
	return ok && slices.Contains([]*checker.Pos{&g.Until, &g.Lost, &g.Doubted, &g.Crashed}, e.p)
}

// store decides on the operations in the order in which they arrived.
func (m *maker) store(resources []checker.Resource) {
	value := map[checker.Cell]string{}
	refuses := oneOf(m, 0, 0.02, 0.3)
	// In some histories the data contradicts real time.
	place, disorder := map[string]int{}, 0
	if m.chance(0.2) {
		disorder = 12
	}
	for _, o := range m.ops {
		place[o.ID] = int(o.Applied) + m.IntN(disorder+1)
	}
	slices.SortStableFunc(m.ops, func(a, b *checker.Op) int { return cmp.Compare(place[a.ID], place[b.ID]) })
	latest := map[checker.Resource]checker.Pos{} // the grant that the store knows of each resource
	read := map[string]string{}                  // what a section has read
	for _, o := range m.ops {
		c := checker.Cell{Resource: o.Resource, Register: o.Register}
		section := fmt.Sprint(o.Grant, o.Register)
		m.h.Final[c] = ""
		if o.Kind == checker.Write {
			o.Saw = read[section]
		}
		if o.Applied == 0 {
			continue
		}
		granted := m.grants[o.Grant-1].Granted
		p := refuses / 10
		if granted < latest[o.Resource] {
			p = refuses * 3
		}
		o.Accepted = !m.chance(p)
		switch {
		case o.Accepted && o.Kind == checker.Read:
			if o.Outcome == "" {
				o.Saw = value[c]
				read[section] = o.Saw
			}
		case o.Accepted:
			value[c] = o.ID
		}
		if o.Accepted {
			latest[o.Resource] = max(latest[o.Resource], granted)
		}
		if o.Outcome == "" {
			o.Outcome = checker.OutcomeRefused
			if o.Accepted {
				o.Outcome = checker.OutcomeOK
			}
		}
	}
	for c := range m.h.Final {
		m.h.Final[c] = value[c]
	}
	m.Shuffle(len(m.ops), func(i, j int) { m.ops[i], m.ops[j] = m.ops[j], m.ops[i] })
	for _, o := range m.ops {
		m.h.Ops = append(m.h.Ops, *o)
	}
	if len(m.h.Ops) == 0 || !m.chance(0.15) {
		return
	}
	// Something is wrong with the data.
	o := &m.h.Ops[m.IntN(len(m.h.Ops))]
	other := oneOf(m, m.h.Ops...)
	switch m.IntN(3) {
	case 0:
		saw := oneOf(m, "", "unwritten", other.ID, other.Saw)
		for i := range m.h.Ops {
			if p := &m.h.Ops[i]; p.Grant == o.Grant && p.Register == o.Register {
				p.Saw = saw
			}
		}
	case 1:
		m.h.Final[checker.Cell{Resource: o.Resource, Register: o.Register}] = oneOf(m, "", "unwritten", other.ID)
	case 2:
		o.Outcome = checker.OutcomeUnknown
	}
}

// extras are deletions, and damage to single fields.
func (m *maker) extras(resources []checker.Resource) {
	last := checker.Pos(len(m.events))
	for range m.IntN(3) {
		d := checker.Deletion{At: 1 + checker.Pos(m.IntN(int(last))), Node: "r0", Resource: oneOf(m, resources...),
			Owner: fmt.Sprint("c", m.IntN(3)), By: fmt.Sprint("c", m.IntN(3))}
		if m.h.Timing == nil || int(d.At) <= len(m.h.Timing.At) {
			m.h.Deletions = append(m.h.Deletions, d)
		}
	}
	m.Shuffle(len(m.h.Grants), func(i, j int) { m.h.Grants[i], m.h.Grants[j] = m.h.Grants[j], m.h.Grants[i] })
}

// text writes a value as compact Go: without fields that are zero.
func text(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return "&" + text(v.Elem())
	case reflect.Struct:
		var fields []string
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				fields = append(fields, v.Type().Field(i).Name+": "+text(v.Field(i)))
			}
		}
		return v.Type().String() + "{" + strings.Join(fields, ", ") + "}"
	case reflect.Slice:
		var items []string
		for i := range v.Len() {
			items = append(items, text(v.Index(i)))
		}
		if v.Len() > 0 && v.Index(0).Kind() == reflect.Struct {
			return v.Type().String() + "{\n\t" + strings.Join(items, ",\n\t") + "\n}"
		}
		return v.Type().String() + "{" + strings.Join(items, ", ") + "}"
	case reflect.Map:
		var items []string
		for _, k := range v.MapKeys() {
			items = append(items, text(k)+": "+text(v.MapIndex(k)))
		}
		slices.Sort(items)
		return v.Type().String() + "{" + strings.Join(items, ", ") + "}"
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	case reflect.Int64:
		return fmt.Sprint(v.Int())
	}
	return fmt.Sprint(v)
}
