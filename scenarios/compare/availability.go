package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// How often each trouble is played with a lock on Redis servers alone, and with any other one, whose runs take longer.
const (
	onRedis   = 200
	elsewhere = 50
)

// timesOf is how often each trouble is played with a lock.
func timesOf(l subject.Lock) int {
	if slices.ContainsFunc(l.Needs(), func(s subject.Servers) bool { return s.Kind.Name != server.Redis.Name }) {
		return elsewhere
	}
	return onRedis
}

// Every run of a trouble has two clients that want the lock for a short section about once a second. The trouble
// strikes within a second after the warm-up, or in the section of c0.
const (
	clientsAsk = "clients: 2, latency: 1ms..5ms"
	sections   = "lock: {ttl: 10s}\nworkload: {rounds: 12, hold: 20ms, think: 1s}\n"
	warmUp     = 2 * time.Second
	within     = time.Second
	hold       = 20 * time.Millisecond
	back       = 3 * time.Second  // after that a server is back
	pause      = 45 * time.Second // of a holder, which ends with it
)

// troubleDraws is the stream of random numbers of the instants at which troubles strike.
const troubleDraws = 67

// Troubled is the scenario of a trouble with a lock, which strikes at an instant that the seed draws. leads is the
// server that leads a group at that instant, "" where none does or it is not known: it is not the member that is lost.
// The scenario is nil for a trouble that cannot strike the servers of the lock, and for the loss of a member of a group
// of which it is not known who leads.
func Troubled(l subject.Lock, t comparisons.Trouble, seed uint64, leads string) (*file.Scenario, error) {
	draw := rand.New(rand.NewPCG(seed, troubleDraws))
	faults := ""
	if t.OfHolder() {
		faults = strikeHolder(t, 2+draw.IntN(2), time.Duration(draw.Int64N(int64(hold))).Truncate(time.Microsecond))
	} else {
		at := warmUp + time.Duration(draw.Int64N(int64(within))).Truncate(time.Microsecond)
		faults = strikeServer(l, t, at, leads, seed)
	}
	if faults == "" {
		return nil, nil
	}
	world := clientsAsk
	for _, s := range l.Needs() {
		world += fmt.Sprintf(", %s: %d", s.Kind.Name, s.Count)
		if s.Kind.Name == server.Redis.Name {
			world += ", persistence: everysec"
		}
	}
	if n := l.LeastReplicas(); n > 0 {
		world += fmt.Sprintf(", replicas: %d", n)
	}
	text := fmt.Sprintf("name: %s\nworld: {%s}\n%sfaults:\n%s", t, world, sections, faults)
	sc, err := file.Parse("", []byte(text), subject.ServerNames(l)...)
	if _, misfit := errors.AsType[*file.InputError](err); misfit {
		return nil, nil
	}
	return sc, err
}

// strikeHolder is a fault in the nth section of c0, so long after its read.
func strikeHolder(t comparisons.Trouble, nth int, after time.Duration) string {
	when := func(after time.Duration) string {
		return fmt.Sprintf("  - {when: {client: %s, event: read, nth: %d}, after: %v, ", client, nth, after)
	}
	switch t {
	case comparisons.HolderCrashes:
		return when(after) + "crash: {process: " + client + "}}\n"
	case comparisons.HolderLost:
		return when(after) + "crash: {process: " + client + ", mode: power}}\n"
	default:
		return when(after) + fmt.Sprintf("pause: {process: %s, for: %v}}\n", client, pause) +
			when(after+pause-time.Second) + "crash: {process: " + client + "}}\n"
	}
}

// strikeServer is a fault of a server of the lock at an instant; "" if the trouble cannot strike them.
func strikeServer(l subject.Lock, t comparisons.Trouble, at time.Duration, leads string, seed uint64) string {
	crash := func(name string) string { return fmt.Sprintf("  - {at: %v, crash: {process: %s}}\n", at, name) }
	names, leader := granting(l)
	watched := slices.ContainsFunc(l.Needs(), func(s subject.Servers) bool { return s.Kind.Watches })
	switch {
	case len(names) == 0:
	case t == comparisons.PrimaryLost && watched:
		return crash(names[0])
	case t == comparisons.ServerCrashes && (leader != "" || len(names) == 1):
		name := cmp.Or(leader, names[0])
		return crash(name) + fmt.Sprintf("  - {at: %v, restart: {process: %s}}\n", at+back, name)
	case t == comparisons.MemberLost && len(names) == 1 && l.LeastReplicas() > 0:
		return crash(names[0] + "a")
	case t == comparisons.MemberLost && len(names) > 1 && (leader == "" || leads != ""):
		others := slices.DeleteFunc(names, func(name string) bool { return name == leads })
		return crash(others[int(seed)%len(others)])
	}
	return ""
}

// granting are the servers that grant a lock, of one kind, and the name of the one that leads them; "" where none does.
func granting(l subject.Lock) (names []string, leader string) {
	for _, s := range l.Needs() {
		if s.Kind.Watches || s.Kind.Behind || s.Kind.Beside {
			continue
		}
		if names != nil {
			return nil, ""
		}
		names, leader = file.Numbered(s.Kind.Prefix, s.Count), s.Kind.Leader
	}
	return names, leader
}

// Seen is what one run of a trouble shows.
type Seen struct {
	// Whom is the client or the server that the trouble struck; "" if it did not strike, and then nothing else is set.
	Whom string
	// Usual is the longest time before the trouble in which the lock was not to be had, Longest that after it.
	Usual, Longest time.Duration
	// Never says that no client was granted the lock after that.
	Never bool
}

// NotToBeHad is for how long the lock was not to be had in a run of [Troubled], simulated or live, before and after the
// trouble: see [comparisons.NotToBeHad].
func NotToBeHad(run *outcome.ModeRun) Seen {
	events := run.Trace.Events
	i := slices.IndexFunc(events, func(e trace.Event) bool {
		switch e.What.(type) {
		case trace.Crash, trace.Pause:
			return e.Actor == trace.World
		}
		return false
	})
	if i < 0 {
		return Seen{}
	}
	at := func(p checker.Pos) time.Duration { return events[p-1].At }
	return notToBeHad(run.History, at, events[i].Peer, events[i].At, events[len(events)-1].At)
}

// notToBeHad is what a history shows, in which at is the instant of a position, of a trouble that strikes a client or
// a server at an instant. The run is over at another one.
func notToBeHad(h checker.History, at func(checker.Pos) time.Duration, whom string, strikes, over time.Duration) Seen {
	var had, asked []checker.Span
	ask := func(client string, invoked, returned checker.Pos) {
		s := checker.Span{From: at(invoked), To: over}
		if returned > 0 {
			s.To = at(returned)
		}
		if client == whom {
			s.To = min(s.To, strikes)
		}
		asked = append(asked, s)
	}
	for _, g := range h.Grants {
		ask(g.Client, g.Invoked, g.Granted)
		claim := g.Claim()
		if claim.Empty() {
			continue
		}
		s := checker.Span{From: at(claim.Start), To: over}
		if claim.End > 0 {
			s.To = at(claim.End)
		}
		if g.Client == whom {
			s.To = min(s.To, strikes)
		}
		if s.From <= s.To {
			had = append(had, s)
		}
	}
	for _, a := range h.Attempts {
		ask(a.Client, a.Invoked, a.Returned)
	}
	slices.SortFunc(had, func(a, b checker.Span) int { return cmp.Compare(a.From, b.From) })
	// asking is when, in a time without a holder, one asked for the lock, first and last.
	asking := func(from, to time.Duration) (first, last time.Duration) {
		first, last = to, from
		for _, a := range asked {
			if a.To > from {
				first, last = min(first, max(a.From, from)), max(last, a.To)
			}
		}
		return first, last
	}
	s := Seen{Whom: whom}
	free := time.Duration(0) // from then on no client has it
	for _, one := range had {
		since, longest := free, &s.Usual
		if one.From > strikes {
			since, longest = max(free, strikes), &s.Longest
		}
		first, _ := asking(since, one.From)
		*longest = max(*longest, one.From-first)
		free = max(free, one.To)
	}
	if first, last := asking(max(free, strikes), over); last-first > s.Longest {
		s.Longest, s.Never = last-first, true
	}
	return s
}

// availabilityOf plays each trouble so many times; nil if there is no lock.
func availabilityOf(l subject.Lock, times int, step func()) (*comparisons.Availability, error) {
	if l.Promise.Unlocked {
		return nil, nil
	}
	l = l.Cached()
	found := &comparisons.Availability{Troubles: []comparisons.NotToBeHad{}}
	leads := map[uint64]string{} // at the instant of the trouble, by the seed
	_, leader := granting(l)
	for _, t := range comparisons.Troubles() {
		var seen []Seen
		for seed := uint64(1); seed <= uint64(times); seed++ {
			one, err := troubled(l, t, seed, leads[seed])
			if err != nil {
				return nil, err
			}
			if one.Whom == "" {
				continue
			}
			if t == comparisons.ServerCrashes && leader != "" {
				leads[seed] = one.Whom
			}
			found.UsualSeconds = max(found.UsualSeconds, one.Usual.Seconds())
			seen = append(seen, one)
			if step != nil {
				step()
			}
		}
		if len(seen) > 0 {
			found.Troubles = append(found.Troubles, Summary(t, seen))
		}
	}
	return found, nil
}

// troubled is one run of a trouble.
func troubled(l subject.Lock, t comparisons.Trouble, seed uint64, leads string) (Seen, error) {
	sc, err := Troubled(l, t, seed, leads)
	if err != nil || sc == nil {
		return Seen{}, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Alone: true, Bare: true})
	if _, misfit := errors.AsType[*file.InputError](err); misfit {
		return Seen{}, nil
	}
	if err != nil {
		return Seen{}, err
	}
	return NotToBeHad(&o.Modes[0]), nil
}

// Summary is what runs of a trouble show, one at least.
func Summary(t comparisons.Trouble, seen []Seen) comparisons.NotToBeHad {
	seen = slices.Clone(seen)
	rank := func(s Seen) int {
		if s.Never {
			return 1
		}
		return 0
	}
	slices.SortFunc(seen, func(a, b Seen) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Longest, b.Longest))
	})
	n := comparisons.NotToBeHad{Trouble: t, Runs: len(seen), MedianSeconds: seen[len(seen)/2].Longest.Seconds(),
		LongestSeconds: seen[len(seen)-1].Longest.Seconds()}
	for _, s := range seen {
		n.Never += rank(s)
	}
	return n
}
