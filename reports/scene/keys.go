package scene

import (
	"fmt"
	"strings"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/sim/trace"
)

// Key is the kind of a period in which a server has a key of the lock from one client.
const Key PeriodKind = "key"

// The marks of a key on a server.
const (
	MarkRenewed MarkKind = "renewed" // its client sets it, or its time to live, again
	MarkDeleted MarkKind = "deleted" // a client deletes it
)

// KeyLives are the lives of the lock's keys on the servers, from their setting to their
// deletion or expiry, and what happened to them meanwhile. A key is that of the client that
// has set its value, on replicas too. There are none for a lock whose keys are unknown.
func (s *Scene) KeyLives() ([]Period, []Mark) {
	k := s.followKeys()
	return k.lives, k.marks
}

// keyStories bounds the sentences of [Scene.KeyStory], keyEvents the lives that each has.
const keyStories, keyEvents = 3, 4

// KeyStory says, for each key of the lock on a server, who set it, prolonged it and deleted it, and when: a sentence
// for each of the first servers, with the last lives up to the decisive step, and by which other client the last of
// them ended. There is none for a lock whose keys are unknown.
func (s *Scene) KeyStory() []string {
	k, until := s.followKeys(), s.End
	if s.Fatal > 0 {
		until = s.At(checker.Pos(s.Fatal))
	}
	var order []string
	told := map[string][]string{}
	for i, p := range k.lives {
		if p.Start > until {
			continue
		}
		m := k.more[i]
		on := fmt.Sprintf("The key %s on %s", m.key, p.Lane)
		if told[on] == nil {
			order = append(order, on)
		}
		text := fmt.Sprintf("%s set it at %s", p.Client, prose.Seconds(p.Start))
		if n := len(m.renewed); n == 1 {
			text += " and prolonged it at " + prose.Seconds(m.renewed[0])
		} else if n > 1 {
			text += fmt.Sprintf(" and prolonged it %d times, last at %s", n, prose.Seconds(m.renewed[n-1]))
		}
		if n := len(m.others); n > 0 {
			text += ", " + m.others[n-1]
		}
		if m.ended != "" && (p.End <= until || m.foreign) {
			text += fmt.Sprintf(", %s at %s", m.ended, prose.Seconds(p.End))
		}
		told[on] = append(told[on], text)
	}
	var out []string
	for i, on := range order {
		if i == keyStories {
			return append(out, fmt.Sprintf("The diagram has %s more.", prose.Count(len(order)-i, "key")))
		}
		lives, left := told[on], ""
		if n := len(lives) - keyEvents; n > 0 {
			lives, left = lives[n:], fmt.Sprintf("after %s, ", prose.Count(n, "earlier grant"))
		}
		out = append(out, fmt.Sprintf("%s: %s%s.", on, left, strings.Join(lives, "; ")))
	}
	return out
}

func (s *Scene) followKeys() *keyFollower {
	k := &keyFollower{Scene: s, open: map[[2]string]int{}, setters: map[string]string{}}
	for _, c := range s.Run.KeyChanges {
		k.change(c)
	}
	for i := range k.lives {
		if p := &k.lives[i]; p.End == 0 {
			p.End = s.End
			p.Description += ", to the end"
		}
	}
	return k
}

type keyFollower struct {
	*Scene
	open    map[[2]string]int // the lives that have not ended, by server and key
	setters map[string]string // the client that has set a value, by key and value
	lives   []Period
	more    []keyLife // of each of the lives
	marks   []Mark
}

// keyLife is what else is known of the life of a key: its name, why it ended, "" where it did not, and when its client
// prolonged it.
type keyLife struct {
	key, ended string
	foreign    bool // the request of another client ended it
	renewed    []time.Duration
	others     []string // what other clients did to it, and when
}

func (k *keyFollower) change(c trace.KeyChange) {
	if k.LaneKind(c.Server) == "" {
		return
	}
	on, value, owner := [2]string{c.Server, c.Key}, c.Key+"="+c.Value, ""
	if c.Change == trace.KeyProlonged {
		if i, lives := k.open[on]; lives && c.Asked != "" && !k.Hidden(trace.Event{Actor: c.Asked}) {
			k.prolonged(i, c)
		}
		return
	}
	switch {
	case c.Value == "":
	case c.Change == trace.KeySet:
		owner = c.By
		k.setters[value] = owner
	default:
		owner = k.setters[value]
	}
	i, lives := k.open[on]
	if lives && k.lives[i].Client == owner {
		if c.Change == trace.KeySet {
			k.more[i].renewed = append(k.more[i].renewed, c.At)
			k.mark(c, MarkRenewed, owner+" sets "+c.Key+" again")
		}
		return
	}
	if lives {
		p := &k.lives[i]
		p.Until, p.End = c.Step, min(c.At, k.End)
		k.more[i].ended, k.more[i].foreign = k.ended(c), c.By != "" && c.By != p.Client
		p.Description += fmt.Sprintf(" to %s, until %s", prose.Seconds(p.End), k.more[i].ended)
		delete(k.open, on)
	}
	if k.LaneKind(owner) == LaneClient {
		p := Period{Kind: Key, Client: owner, Span: Span{Step: c.Step, Start: min(c.At, k.End), Lane: c.Server}}
		p.Description = fmt.Sprintf("%s has %s of %s, from %s", c.Server, c.Key, owner, prose.Seconds(p.Start))
		k.open[on], k.lives, k.more = len(k.lives), append(k.lives, p), append(k.more, keyLife{key: c.Key})
	}
}

// prolonged adds that a request has prolonged a key, of its own client or of another one.
func (k *keyFollower) prolonged(i int, c trace.KeyChange) {
	if life := &k.more[i]; c.Asked == k.lives[i].Client {
		life.renewed = append(life.renewed, c.At)
	} else {
		life.others = append(life.others, fmt.Sprintf("%s prolonged it at %s", c.Asked, prose.Seconds(c.At)))
	}
	k.mark(c, MarkRenewed, fmt.Sprintf("%s prolongs %s", c.Asked, c.Key))
}

// ended says why the life of a key ended, and marks that, where the trace does not.
func (k *keyFollower) ended(c trace.KeyChange) string {
	switch {
	case c.Change == trace.KeyDeleted && c.By != "":
		k.mark(c, MarkDeleted, c.By+" deletes "+c.Key)
		return c.By + " deleted it"
	case c.Change == trace.KeyExpired:
		if e, ok := k.event(c.Step).What.(trace.Expire); !ok || e.Key != c.Key {
			k.mark(c, MarkExpire, c.Key+" expires")
		}
		if c.ByClients {
			return "it was not renewed for as long as it says"
		}
		return "it expired"
	case c.Change == trace.KeyOperated && c.Value != "":
		return "an operator wrote over it"
	case c.Change == trace.KeyOperated:
		return "an operator took it away"
	case c.Change == trace.KeySet && c.By == "":
		return "other clients shared it"
	case c.Change == trace.KeySet:
		return c.By + " set it"
	}
	return "it was " + c.Change.String()
}

func (k *keyFollower) event(step int) trace.Event {
	if events := k.Run.Trace.Events; step > 0 && step <= len(events) {
		return events[step-1]
	}
	return trace.Event{}
}

func (k *keyFollower) mark(c trace.KeyChange, kind MarkKind, says string) {
	at := min(c.At, k.End)
	k.marks = append(k.marks, Mark{Span{Step: c.Step, Start: at, End: at, Lane: c.Server}, kind,
		fmt.Sprintf("%s: %s, at %s", c.Server, says, prose.Seconds(at))})
}
