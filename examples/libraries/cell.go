package libraries

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/live/server"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/reports/scene"
	"locksim/scenarios"
	"locksim/scenarios/explore"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/play"
	"locksim/scenarios/replay"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// Sheet is what a program says of its library. It has what the table needs and no lock.
type Sheet struct {
	Name, Module, Version, Source string
	Overlay                       bool
	Locks                         []LockSheet
	Findings                      []Finding
}

// LockSheet is what it says of a lock.
type LockSheet struct {
	Name, Is, Options, Fence, Untested, About string
	Says                                      []Sentence
	Tokens, FollowsSpec                       bool
	// Detection says within which time a holder learns that it has lost the lock, for one that is held until then. It is
	// the same in every cell.
	Detection string `json:",omitempty"`
	Runs      int
	// Promise is what the lock is judged by, in words. Faults are the classes of fault of it.
	Promise []scene.PromisePart
	Faults  []lock.Fault
	Why     map[string][]string
	// Misuse is the mistake of the column [Misused].
	Misuse  string                `json:",omitempty"`
	Refuses map[lock.Fault]string `json:",omitempty"`
	// Servers are the kinds of its servers. Live says that there are real ones of each.
	Servers []string
	Live    bool
}

// Cell is a lock in a trouble: a cell of the table. Of each class of fault of the trouble schedules are drawn until it
// was felt in as many runs as each other one; and of those together under which the lock promises something, where they
// are several.
type Cell struct {
	Lock, Trouble string
	Shares        []Share
}

// Share is what some schedules of a cell have shown: those of one class of fault, or of several at once.
type Share struct {
	// Faults are the classes that strike: one, or several at once; none where nothing fails.
	Faults []lock.Fault
	// Promised says that the lock promises something under them.
	Promised bool
	// FirstSeed is the seed of the first schedule, Runs how many there were until Felt was enough, or too many, Evidence
	// in how many of them two clients wanted the lock, Felt in how many of those the fault was felt, or the mistake made;
	// where nothing fails, it is Evidence.
	FirstSeed            uint64
	Runs, Evidence, Felt int
	// Broken counts the runs that break a sentence of the documentation, Wished those that break none of them, but what
	// one would wish of a lock. Each failing run is in one of them.
	Broken, Wished int
	// Labels counts the runs of both kinds by what was broken: a run may have more than one label.
	Labels map[string]int
	// Idle says why such a fault strikes nothing here, or is not felt: "" where it is.
	Idle string
	// NoVerdict says why the runs tell nothing: a defect of locksim or of the adapter.
	NoVerdict string
	// Frozen is how many runs there were before one that did not end, since code of others waited for a mutex while
	// virtual time stood still. The program has to exit then.
	Frozen   int `json:",omitempty"`
	Failures []Failure
}

// Failure is what broke the lock, by its smallest run.
type Failure struct {
	Seed uint64
	Runs int
	// Played is the seed with which the smallest schedule is played, Classes are the classes of its faults. A loss of
	// power may have become the end of a process, which is that of another column.
	Played  uint64
	Classes []lock.Fault `json:",omitempty"`
	// What is what was broken under which faults, Label what was broken.
	What  string
	Label checker.Label
	// Against is the sentence that it breaks; nil for a wish.
	Against *Sentence
	// Mode and Verdict are those of the smallest run, as the command prints them that plays it, and Reasons say it in
	// words, the decisive one first. Modes are those with which it is played.
	Mode    fence.Mode
	Verdict checker.Label
	Modes   []fence.Mode
	Reasons []string
	Story   []failure.Step
	// Source is the smallest schedule as a scenario, Same how many of ten runs of it were equal.
	Source string
	Same   int
	// AsLive has the labels of the smallest run, mode by mode, by what a run on real servers is judged by.
	AsLive map[fence.Mode]checker.Label `json:",omitempty"`
}

func (l Library) sheet() (Sheet, error) {
	version, err := l.version()
	s := Sheet{Name: l.Name, Module: l.Module, Version: version, Source: l.Source, Overlay: l.Overlay,
		Findings: l.Findings}
	for _, x := range l.Locks {
		ls := LockSheet{Name: x.Name, Is: x.Is, Options: x.Options, Says: x.Says, Fence: x.Fence, Untested: x.Untested,
			About:  x.About,
			Tokens: x.Tokens, FollowsSpec: x.FollowsSpec, Runs: x.runs(), Detection: x.DetectedWithin(),
			Promise: scene.Promise(x.Promise, x.Tokens), Faults: x.Promise.Exclusion, Why: x.Why, Misuse: x.Misuse,
			Refuses: x.Refuses}
		ls.Live = true
		for _, n := range x.Needs() {
			ls.Live = ls.Live && (n.Kind.Real != nil || server.Starts(server.Kind(n.Kind.Name)))
			ls.Servers = append(ls.Servers, fmt.Sprintf("%d %s", n.Count, n.Kind.Name))
		}
		s.Locks = append(s.Locks, ls)
	}
	return s, err
}

func playCell(x Lock, t Trouble, runs int, seed uint64) (Cell, error) {
	c := Cell{Lock: x.Name, Trouble: t.Name}
	add := func(l scenarios.Lock, faults []lock.Fault, promised bool) error {
		s, err := x.share(l, t, faults, promised, runs, seed)
		c.Shares = append(c.Shares, s)
		return err
	}
	if t.Name == Misused {
		if x.Misuse == "" {
			c.Shares = []Share{{Idle: "no call of this lock that gives it back has a context, or an object that outlives it"}}
			return c, nil
		}
		return c, add(x.careless(), nil, false)
	}
	if len(t.Faults) == 0 {
		return c, add(x.careful(), nil, x.speaks(""))
	}
	var promised, beyond []lock.Fault
	for _, f := range t.Faults {
		if slices.Contains(x.Promise.Exclusion, f) && x.speaks(f) {
			promised = append(promised, f)
		} else {
			beyond = append(beyond, f)
		}
	}
	for _, of := range []struct {
		faults   []lock.Fault
		promised bool
	}{{promised, true}, {beyond, false}} {
		l := x.careful()
		if !of.promised {
			l.Promise = essence(of.faults, l)
		}
		var strike []lock.Fault
		for _, f := range of.faults {
			if err := add(l, []lock.Fault{f}, of.promised); err != nil {
				return c, err
			}
			if last := c.Shares[len(c.Shares)-1]; last.Frozen > 0 {
				return c, nil
			} else if last.Idle == "" {
				strike = append(strike, f)
			}
		}
		if len(strike) > 1 && of.promised {
			if err := add(l, strike, of.promised); err != nil || c.Shares[len(c.Shares)-1].Frozen > 0 {
				return c, err
			}
		}
	}
	return c, nil
}

// essence is what a lock is for, under faults for which it promises nothing: that two clients never have it at once
// and, where it mints tokens, that the data is right behind a fence. When it is free again does not count, nor what its
// calls say.
func essence(faults []lock.Fault, l scenarios.Lock) lock.Promise {
	p := lock.Promise{
		Exclusion: faults, FreeWithin: lock.TermAnyTime,
		FreeAfter:    map[promise.Cause]lock.Term{promise.CauseOther: lock.TermAnyTime},
		SelfExcludes: true, ResendExcludes: true,
	}
	if l.Tokens {
		p.Data, p.TokensUnordered = "seal", l.Promise.TokensUnordered
	}
	return p
}

// speaks reports whether a sentence says of a class of fault that others are kept out; "" is for a run without faults.
func (x Lock) speaks(f lock.Fault) bool {
	return slices.ContainsFunc(x.Says, func(s Sentence) bool { return s.of(checker.Overlap, f) })
}

// against is the sentence that a failing run of a share breaks, by the labels of what was broken; nil if none says it.
func (x Lock) against(s *Share, label checker.Label) *Sentence {
	if !s.Promised {
		return nil
	}
	classes := s.Faults
	if len(classes) == 0 {
		classes = []lock.Fault{""}
	}
	for i := range x.Says {
		if !slices.ContainsFunc(classes, func(f lock.Fault) bool { return !x.Says[i].of(label, f) }) {
			return &x.Says[i]
		}
	}
	return nil
}

// space is what is drawn in a column besides its faults.
func (t Trouble) space() spaces.Space { return spaces.Space{SameClocks: !t.skewed()} }

// skewed reports whether the clocks of servers may be wrong from the start: where the column is about clocks alone.
func (t Trouble) skewed() bool {
	return slices.Contains(t.Faults, lock.FaultWallClock) || slices.Contains(t.Faults, lock.FaultNodeClock)
}

// share plays a part of a cell.
func (x Lock) share(l scenarios.Lock, t Trouble, faults []lock.Fault, promised bool, runs int,
	seed uint64) (Share, error) {
	s := Share{Faults: faults, Promised: promised, FirstSeed: seed}
	if !promised {
		runs = min(runs, fewest)
	}
	most := runs * tries
	if t.Name == Misused { // mistakes are seldom
		most *= tries
	}
	strikes := drawn(faults)
	if len(strikes) > len(faults) { // and in few of these the other one is felt
		most *= 3
	}
	for _, f := range faults {
		if why := cmp.Or(x.Refuses[f], lacks(l, f)); why != "" {
			s.Idle = why
			return s, nil
		}
	}
	l = l.Cached()
	plan, err := explore.NewPlan(l, explore.Options{
		Runs: most, FirstSeed: seed, Faults: strikes, Space: t.space(),
		Judge: explorations.JudgePromise, Collect: explorations.CollectAll,
	})
	if errors.Is(err, search.ErrNoFailover) {
		s.Idle = "its servers have no replica that could take over"
		return s, nil
	}
	if err != nil {
		return s, err
	}
	plan.Block = plan.Runs        // one block: a few failures of all are made minimal, and not of each hundred
	played, wrong := 0, int64(-1) // not known before the first run, since others come before it
	job := explore.NewJob(plan, 0)
	job.Minimal = 1
	if promised {
		job.Minimal = 2
	}
	block, err := job.Watch([]scenarios.Lock{l}, func() { played++ }, func(trial *search.Trial) bool {
		now := mistakes.Load()
		s.count(x, trial, t.Name != Misused || wrong >= 0 && now > wrong)
		wrong = now
		return s.Felt >= runs
	})
	if err != nil {
		s.NoVerdict = err.Error()
		if _, ok := errors.AsType[*play.Frozen](err); ok {
			s.Frozen = played
		}
		return s, nil //nolint:nilerr // that is what the runs show
	}
	e := explorations.Assemble(plan, map[int]explorations.Block{0: block})
	s.Runs, s.Evidence = e.Summary.Runs, e.Summary.Evidence
	if s.Felt == 0 && s.Broken+s.Wished == 0 && len(faults) == 1 {
		s.Idle = "no such fault strikes its servers or clients"
		if e.Summary.Classes[faults[0]].Struck > 0 {
			s.Idle = faults[0].Unfelt()
		}
	}
	if problems := e.Problems(); len(problems) > 0 {
		s.NoVerdict = problems[0]
	}
	return s, s.examined(x, l, e.Summary.Failures)
}

// drawn are the classes that are drawn so that some are felt: a client is started again only after its crash.
func drawn(felt []lock.Fault) []lock.Fault {
	if slices.Equal(felt, []lock.Fault{lock.FaultRestart}) {
		return []lock.Fault{lock.FaultCrash, lock.FaultRestart}
	}
	return append([]lock.Fault{}, felt...)
}

// tries is how many schedules are drawn at most for a run that counts. fewest is how many runs count where a lock
// promises nothing, and how many a sign needs.
const (
	tries  = 4
	fewest = 30
)

// count counts a run. A run without faults is felt if it may be: where the caller is to make a mistake, it has made
// one.
func (s *Share) count(x Lock, t *search.Trial, may bool) {
	n := t.Tally()
	felt := n.Evidence > 0 && may
	if len(s.Faults) > 0 {
		felt = felt && slices.ContainsFunc(s.Faults, func(f lock.Fault) bool { return n.Classes[f].Evidence > 0 })
	}
	if felt {
		s.Felt++
	}
	violations := slices.DeleteFunc(slices.Clone(t.Violations),
		func(v outcome.Violation) bool { return !s.counts(v.Label) })
	if len(violations) == 0 {
		return
	}
	broken := false
	counted := map[checker.Label]bool{}
	for _, v := range violations {
		broken = broken || x.against(s, v.Label) != nil
		if !counted[v.Label] {
			counted[v.Label] = true
			if s.Labels == nil {
				s.Labels = map[string]int{}
			}
			s.Labels[string(v.Label)]++
		}
	}
	if broken {
		s.Broken++
	} else {
		s.Wished++
	}
}

// counts reports whether what was broken counts in the share: where the lock promises nothing, what its calls say does
// not, such as that a lease which it was seen to renew is renewed until it is released.
func (s *Share) counts(label checker.Label) bool {
	return s.Promised || len(s.Faults) == 0 || label != checker.Misconduct && label != checker.Overtaken
}

// examined has the smallest run of each failure.
func (s *Share) examined(x Lock, l scenarios.Lock, all failure.Failures) error {
	for _, f := range all {
		out := Failure{Seed: f.Seed, Runs: f.Runs, What: f.Shape, Reasons: f.Reasons, Story: f.Story, Same: f.Same}
		for _, v := range f.Violations {
			if !s.counts(v.Label) {
				continue
			}
			if out.Label == "" {
				out.Label, out.Mode = v.Label, v.Mode
			}
			if out.Against == nil {
				out.Against = x.against(s, v.Label)
			}
		}
		if out.Label == "" {
			continue
		}
		if f.Run != nil {
			out.Source, out.Played = f.Run.Source, f.Run.Seed
			sc, _, err := replay.Setup(f.Run, []scenarios.Lock{l})
			if err != nil {
				return err
			}
			for _, one := range sc.Faults {
				if class := faults.ClassIn(sc.Faults, one.Action); !slices.Contains(out.Classes, class) {
					out.Classes = append(out.Classes, class)
				}
			}
			for _, mode := range fence.Modes() {
				if m, ok := f.Run.Modes[mode]; ok {
					out.Modes = append(out.Modes, mode)
					if mode == out.Mode {
						out.Verdict = m.Verdict
					}
				}
			}
		}
		if f.Run != nil && f.Same == failure.Replays {
			again, err := replay.Run(f.Run, []scenarios.Lock{l}, outcome.Once)
			if err != nil {
				return err
			}
			if out.AsLive, err = again.JudgedAsLive(); err != nil {
				return err
			}
		}
		s.Failures = append(s.Failures, out)
	}
	return nil
}

// lacks says why a class of fault is nothing for the servers of a lock; "" if it is.
func lacks(l scenarios.Lock, f lock.Fault) string {
	for _, n := range l.Needs() {
		if why, ok := without[n.Kind.Name][f]; ok {
			return why
		}
	}
	return ""
}

const (
	elects = "its servers elect another leader by themselves, which has all that was acknowledged: server-crash " +
		"has that"
	monotonic = "its servers count leases by a monotonic clock"
	ofRedis   = "a fault of Redis"
	alone     = "the world has one such server, without a replica"
)

// without are the faults that are nothing for servers of a kind, with the reason.
var without = map[string]map[lock.Fault]string{
	"etcd": {
		lock.FaultFailover: elects, lock.FaultNodeClock: monotonic, lock.FaultEviction: ofRedis, lock.FaultFlush: ofRedis,
		lock.FaultScripts: ofRedis, lock.FaultReadOnly: ofRedis,
	},
	"zookeeper": {
		lock.FaultFailover: elects, lock.FaultNodeClock: monotonic, lock.FaultEviction: ofRedis, lock.FaultFlush: ofRedis,
		lock.FaultScripts: ofRedis, lock.FaultReadOnly: ofRedis,
	},
	"consul": {
		lock.FaultFailover: elects, lock.FaultNodeClock: monotonic, lock.FaultEviction: ofRedis, lock.FaultFlush: ofRedis,
		lock.FaultScripts: ofRedis, lock.FaultReadOnly: ofRedis,
	},
	"kube": {
		lock.FaultFailover: "the API servers share one store, without a replica", lock.FaultEviction: ofRedis,
		lock.FaultFlush:   ofRedis,
		lock.FaultScripts: ofRedis, lock.FaultReadOnly: ofRedis,
	},
	"nats": {lock.FaultFailover: alone, lock.FaultEviction: ofRedis, lock.FaultFlush: ofRedis,
		lock.FaultScripts: ofRedis, lock.FaultReadOnly: ofRedis},
	"postgres": {lock.FaultFailover: alone, lock.FaultEviction: ofRedis, lock.FaultFlush: ofRedis,
		lock.FaultScripts: ofRedis},
}
