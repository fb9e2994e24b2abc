// Package trial plays sections whose work and pauses are drawn from the distributions of [locksim/scenarios/tune], with
// a lock of package lock in the simulated world, as a check of the arithmetic.
//
// Each section is a run of two clients. The first one is granted the lock, works, stands still for its pause, and
// writes; the other one waits for the lock from soon after the grant. A lease that is not renewed is that of the lock
// single, whose holder stands still before its write. One that is renewed each third is that of the lock watchdog;
// there the pause comes at an instant of the work that is drawn too.
package trial

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	"locksim/scenarios/tune"
	"locksim/sim/trace"
)

// Options say what is played.
type Options struct {
	// Sections is how many sections are played of each plan. Required.
	Sections int
	// Seed is the seed of the first section; each following one has the next.
	Seed uint64
	// Latency are the ends of the latency of the world, of which the delay of a reply is made.
	Latency [2]time.Duration
	// Step is called after each section. Default: none.
	Step func()
}

// least is the shortest TTL that is played: the other client asks for the lock 40 ms after the holder.
const least = 200 * time.Millisecond

// shown is how many sections a played point should show that outlive their lease, if it can.
const shown = 50

// givesUp is when the lock watchdog renews a lease no more: the default of [lock.WatchdogOptions.Margin].
const givesUp = .1

// locks are the locks of the renewals that are played.
var locks = map[tunings.Renewal]string{tunings.Never: "single", tunings.Third: "watchdog"}

// Play plays the plan without renewal and, if there are pauses, the one with a renewal each third: at the TTL of their
// curve at which about fifty sections, or one in a hundred, should outlive their lease. It returns an error if no TTL
// can be played.
func Play(opt tune.Options, t *tunings.Tuning, o Options) ([]tunings.Played, error) {
	var all []tunings.Played
	for _, plan := range t.Plans {
		name, ok := locks[plan.Renewal]
		if !ok || plan.Renewal != tunings.Never && t.Pauses.LargestSeconds == 0 {
			continue
		}
		ttl := played(plan, o.Sections)
		if ttl < least {
			return nil, fmt.Errorf("a TTL of %v is too short to be played: sections of %v and longer can be", ttl, least)
		}
		p, err := point(opt, o, plan.Renewal, name, ttl)
		if err != nil {
			return nil, err
		}
		all = append(all, *p)
	}
	return all, nil
}

// played is the TTL of the curve whose share is the nearest to that which so many sections show well.
func played(plan tunings.Plan, sections int) time.Duration {
	want := min(max(.01, shown/float64(sections)), .3)
	best, off := 0., math.Inf(1)
	for _, p := range plan.Curve {
		if d := math.Abs(math.Log(max(p.Outlives.Value, 1e-12) / want)); d < off {
			best, off = p.TTLSeconds, d
		}
	}
	return time.Duration(best * float64(time.Second)).Truncate(time.Millisecond)
}

func point(opt tune.Options, o Options, r tunings.Renewal, name string, ttl time.Duration) (*tunings.Played, error) {
	l, err := redislocks.Find(name, nil)
	if err != nil {
		return nil, err
	}
	var all counted
	for i := range o.Sections {
		seed := o.Seed + uint64(i)
		draw := rand.New(rand.NewPCG(seed, uint64(r.Times())))
		s := section{ttl: ttl, work: opt.Work.Draw(draw.Float64()), pause: opt.Pauses.Draw(draw.Float64()),
			latency: o.Latency, backoff: time.Duration(opt.Backoff * float64(time.Second)), lock: name,
			renewed: r != tunings.Never}
		s.before = time.Duration(draw.Float64() * float64(s.work))
		if err := all.add(s, l, seed); err != nil {
			return nil, err
		}
		if o.Step != nil {
			o.Step()
		}
	}
	opt.Contended = 1 // in each section the other client waits
	if r != tunings.Never {
		opt.GivesUp = givesUp
	}
	p := opt.At(r, ttl.Seconds())
	return &tunings.Played{Renewal: r, TTLSeconds: ttl.Seconds(), Lock: name, Seed: o.Seed, Sections: o.Sections,
		GivesUpSeconds: opt.GivesUp * ttl.Seconds(),
		Outlives:       tunings.NewPlayedShare(all.outlived, o.Sections, p.Outlives.Value),
		Lost:           tunings.NewPlayedShare(all.lost, o.Sections, p.LostUnfenced.Value)}, nil
}

// section is one section that is played.
type section struct {
	lock                     string
	renewed                  bool
	ttl, work, pause, before time.Duration // before is the part of the work that comes before the pause
	latency                  [2]time.Duration
	backoff                  time.Duration
}

func (s section) play(l subject.Lock, seed uint64) (*outcome.ModeRun, error) {
	sc, err := file.Parse("section.yaml", []byte(s.yaml()))
	if err != nil {
		return nil, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Alone: true, Bare: true})
	if err != nil {
		return nil, err
	}
	return &o.Modes[0], nil
}

func (s section) yaml() string {
	var b strings.Builder
	work := s.work - 3*(s.latency[0]+s.latency[1])/2 // the read that comes first is work, and the way of the write
	write := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	write("name: section")
	write("world: {clients: 2, redis: 1, latency: %v..%v}", s.latency[0], s.latency[1])
	write("lock: {kind: %s, ttl: %v, backoff: %v..%v}", s.lock, s.ttl, max(s.backoff/4, time.Millisecond),
		max(s.backoff, time.Millisecond))
	paused := s.pause >= time.Millisecond
	if s.renewed && paused {
		before := min(max(s.before, time.Millisecond), work-time.Millisecond)
		write("workload: {stagger: 40ms, section: [{read: balance}, {work: %v}, check, {work: %v}, {write: balance}]}",
			max(before, time.Millisecond), max(work-before, time.Millisecond))
		write("faults: [{when: {client: c0, event: checked}, pause: {process: c0, for: %v}}]", s.pause)
		return b.String()
	}
	write("workload: {stagger: 40ms, hold: %v}", max(work, time.Millisecond))
	if paused {
		write("faults: [{when: {client: c0, event: write}, pause: {process: c0, for: %v}}]", s.pause)
	}
	return b.String()
}

// outlives reports whether the server ended the first client's key before that client's write reached the store.
func outlives(m *outcome.ModeRun) bool {
	var wrote checker.Pos
	for _, op := range m.History.Ops {
		if op.Client == holder && op.Kind == checker.Write {
			wrote = op.Applied
		}
	}
	for _, c := range m.KeyChanges {
		if c.Change == trace.KeyExpired && c.WasOf == holder && checker.Pos(c.Step) <= wrote {
			return true
		}
	}
	return false
}

// holder is the client whose section it is.
const holder = "c0"
