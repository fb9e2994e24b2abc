package outcome

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// keyLines are what happened to the keys of the lock that no client can see and that decides who has it: a key ends by
// itself or is lost, or a request of another client deletes, overwrites or prolongs it, or its own client sets it anew
// under an earlier grant, sets it without a grant, or deletes it outside of a release. That a client takes the lock and
// releases it, other lines tell. They are by step.
func keyLines(run *ModeRun) map[int][]Line {
	changes := run.KeyChanges
	if run.Record != nil {
		changes = run.Record.OfLock()
	}
	k := keyTeller{run: run, changes: changes, lines: map[int][]Line{},
		prolonged: map[[2]string][]time.Duration{}, last: map[[2]string]string{}}
	for _, c := range changes {
		if run.Record != nil && c.Step > run.Record.Over || slices.Contains([]string{c.By, c.Asked, c.WasOf}, trace.Probe) {
			continue
		}
		k.tell(c)
	}
	k.displaced()
	return k.lines
}

// displaced are the displacements that may have decided a run: one that ended stuck, or with a waiter overtaken.
func displaced(run *ModeRun) []evidence.Displacement {
	label := run.Verdict.Label
	if run.Record == nil || run.Record.Live || label != checker.Stuck && label != checker.Overtaken {
		return nil
	}
	return run.Record.Displaced(run.History)
}

// displaced tells who took a client that still waited out of a queue: of each wait the first time and the last.
func (k keyTeller) displaced() {
	type wait struct {
		client string
		grant  checker.Pos // that ends it; 0 for none
	}
	of := map[wait][]evidence.Displacement{}
	var waits []wait
	for _, d := range displaced(k.run) {
		w := wait{client: d.Of}
		for _, g := range k.run.History.Grants {
			if g.Client == d.Of && g.Granted > checker.Pos(d.Step) && (w.grant == 0 || g.Granted < w.grant) {
				w.grant = g.Granted
			}
		}
		if of[w] == nil {
			waits = append(waits, w)
		}
		of[w] = append(of[w], d)
	}
	for i, w := range waits {
		all := of[w]
		tell := func(d evidence.Displacement, times string) {
			text := fmt.Sprintf("takes the place of %s, which still waits, out of %s on %s%s", d.Of, trace.Name(d.Key), d.Server,
				times)
			k.lines[d.Step] = append(k.lines[d.Step],
				Line{N: d.Step, At: d.At, Actor: d.Asked, What: text, Text: text, Decides: i == 0, Fatal: i == 0 &&
					d.Step == all[0].Step})
		}
		tell(all[0], "")
		if n := len(all); n > 1 {
			tell(all[n-1], fmt.Sprintf(", the last of %d times in this wait", n))
		}
	}
}

// keyTeller goes through the changes of the keys.
type keyTeller struct {
	run       *ModeRun
	changes   []trace.KeyChange
	lines     map[int][]Line
	prolonged map[[2]string][]time.Duration // by the client of a key itself, by server and key
	last      map[[2]string]string          // the other client that prolonged a key last, by server and key
}

func (k keyTeller) tell(c trace.KeyChange) {
	on, key := [2]string{c.Server, c.Key}, trace.Name(c.Key)
	another := c.Asked != "" && c.WasOf != "" && c.Asked != c.WasOf
	actor, text := c.Asked, ""
	switch {
	case c.Change == trace.KeyProlonged && !another:
		if c.Asked != "" {
			k.prolonged[on] = append(k.prolonged[on], c.At)
		}
		return
	case c.Change == trace.KeyProlonged:
		if k.last[on] == c.Asked {
			return
		}
		k.last[on] = c.Asked
		text = fmt.Sprintf("prolongs the key %s on %s, which %s had set%s", key, c.Server, c.WasOf, k.late(c))
	case another && c.Value == "" && evidence.Overwrites(k.changes, c),
		another && c.Change == trace.KeySet && c.Over && c.Was != c.Value:
		text = fmt.Sprintf("writes over the key %s on %s, which %s had set%s", key, c.Server, c.WasOf, k.late(c))
	case c.Change == trace.KeySet && c.By != "" && c.By == c.Asked && k.under(c):
		text = fmt.Sprintf("sets the key %s on %s again%s", key, c.Server, k.late(c))
	case c.Change == trace.KeySet && c.By != "" && c.By == c.Asked && !c.Over && k.run.Terms.Voters < 2 && !k.grants(c):
		text = fmt.Sprintf("sets the key %s on %s, and is not granted the lock by that%s", key, c.Server, k.late(c))
	case c.Change == trace.KeyDeleted && c.Asked != "" && c.Asked == c.WasOf && k.run.Terms.Voters < 2 && !k.releases(c):
		text = fmt.Sprintf("deletes its key %s on %s, %s%s", key, c.Server, k.moment(c), k.late(c))
	case c.Change == trace.KeyDeleted && another:
		text = fmt.Sprintf("deletes the key %s on %s, which %s had set%s", key, c.Server, c.WasOf, k.late(c))
	case (c.Value == "" || c.Change == trace.KeyOperated) && c.Asked == "" && c.WasOf != "" && k.ends(c):
		actor, text = c.Server, k.gone(c, key, k.renewals(on))
	}
	if c.Change == trace.KeySet || c.Change == trace.KeyOperated || c.Value == "" {
		delete(k.prolonged, on)
		delete(k.last, on)
	}
	if text != "" {
		k.lines[c.Step] = append(k.lines[c.Step], Line{N: c.Step, At: c.At, Actor: actor, What: text, Text: text})
	}
}

// gone says how a key went that no request deleted.
func (keyTeller) gone(c trace.KeyChange, key, renewals string) string {
	whose := fmt.Sprintf("the key %s of %s%s", key, c.WasOf, renewals)
	ended := strings.TrimSuffix(whose, ",")
	switch {
	case c.Change == trace.KeyExpired && c.ByClients:
		return "sees " + whose + " not renewed for as long as it says: another client may take it"
	case c.Change == trace.KeyExpired:
		return "lets " + whose + " expire"
	case c.Change == trace.KeyMoved:
		return "no longer has " + ended + ": its slot has moved"
	case c.Change == trace.KeyOperated && c.Value != "":
		return "no longer has " + ended + ": an operator has written " + trace.Readable(c.Value) + " over it"
	case c.Change == trace.KeyOperated:
		return "no longer has " + ended + ": an operator has taken it away"
	case c.Change == trace.KeyReplicated:
		return "no longer has " + ended + ", as its primary"
	case c.Change == trace.KeyRestored:
		return "no longer has " + ended
	}
	return "loses " + ended + ": it is " + c.Change.String()
}

// renewals says how often the client of a key prolonged it.
func (k keyTeller) renewals(on [2]string) string {
	at := k.prolonged[on]
	if len(at) == 0 {
		return ""
	}
	return fmt.Sprintf(", prolonged %s, last at %s,", prose.Count(len(at), "time"), prose.Seconds(at[len(at)-1]))
}

// under reports whether a client sets a key under a grant that it has, and not to take the lock.
func (k keyTeller) under(c trace.KeyChange) bool {
	return slices.ContainsFunc(k.run.History.Grants, func(g checker.Grant) bool {
		at := checker.Pos(c.Step)
		return g.Client == c.By && g.Granted < at && g.Belief(checker.CareNever).Contains(at)
	})
}

// ends reports whether a key that goes is all that its client had: on several servers the last of a majority.
func (k keyTeller) ends(c trace.KeyChange) bool {
	return k.run.Terms.Voters < 2 || slices.ContainsFunc(k.run.History.Holdings, func(s checker.Holding) bool {
		return s.Client == c.WasOf && s.To == checker.Pos(c.Step)
	})
}

// grants reports whether a key is set in an Acquire that is granted the lock.
func (k keyTeller) grants(c trace.KeyChange) bool {
	return slices.ContainsFunc(k.run.History.Grants, func(g checker.Grant) bool {
		return g.Client == c.By && g.Invoked <= checker.Pos(c.Step) && checker.Pos(c.Step) <= g.Granted
	})
}

// releases reports whether a key is deleted in a release, or in an Acquire that asks again before it is granted the
// lock.
func (k keyTeller) releases(c trace.KeyChange) bool {
	at := checker.Pos(c.Step)
	return slices.ContainsFunc(k.run.History.Grants, func(g checker.Grant) bool {
		switch {
		case g.Client != c.Asked || at < g.Invoked || g.ReleaseReturned > 0 && at > g.ReleaseReturned:
			return false
		case at <= g.Granted:
			return k.setAgain(c, g.Granted)
		}
		return g.Released > 0 && at >= g.Released
	})
}

// moment says when a client deletes its own key that does not release the lock.
func (k keyTeller) moment(c trace.KeyChange) string {
	at := checker.Pos(c.Step)
	for _, g := range k.run.History.Grants {
		switch {
		case g.Client != c.Asked:
		case g.Invoked <= at && at <= g.Granted:
			return "before its Acquire returns"
		case g.Granted < at && (g.Released == 0 || at < g.Released):
			return "while it has the lock"
		}
	}
	return "outside of a release"
}

// setAgain reports whether the client of a key that it deletes sets it again by a step.
func (k keyTeller) setAgain(c trace.KeyChange, by checker.Pos) bool {
	return slices.ContainsFunc(k.changes, func(other trace.KeyChange) bool {
		return other.Change == trace.KeySet && other.By == c.Asked && other.Server == c.Server && other.Step > c.Step &&
			checker.Pos(other.Step) <= by
	})
}

// late says when the request of a change was sent, if that was longer ago than a message and its answer take; ""
// otherwise.
func (k keyTeller) late(c trace.KeyChange) string {
	t := k.run.History.Timing
	if t == nil || t.Trips == 0 {
		return ""
	}
	sent, ok := k.sent(c)
	if !ok || c.At-sent.At <= t.Trips {
		return ""
	}
	return fmt.Sprintf(", by a request that it sent %s before, at %s (step %d)", prose.Seconds(c.At-sent.At),
		prose.Seconds(sent.At), sent.N)
}

// sent finds the message with the request of a change: the only one that its client had sent on that connection since
// the server carried out the one before. Of several none is known to be the one.
func (k keyTeller) sent(c trace.KeyChange) (trace.Event, bool) {
	events := k.run.Trace.Events
	if c.Step < 1 || c.Step > len(events) {
		return trace.Event{}, false
	}
	exec, ok := events[c.Step-1].What.(trace.Exec)
	if !ok || events[c.Step-1].Peer != c.Asked {
		return trace.Event{}, false
	}
	var found []trace.Event
	for _, e := range slices.Backward(events[:c.Step-1]) {
		if before, ok := e.What.(trace.Exec); ok && e.Actor == c.Server && e.Peer == c.Asked && before.Conn == exec.Conn {
			break
		}
		if send, ok := e.What.(trace.Send); ok && e.Actor == c.Asked && e.Peer == c.Server && send.Conn == exec.Conn {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		return trace.Event{}, false
	}
	return found[0], true
}
