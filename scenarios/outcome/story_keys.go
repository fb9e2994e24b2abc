package outcome

import (
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// keyLines are what happened to the keys of the lock that no client can see and that decides who has it: a key ends by itself
// or is lost, or a request of another client deletes, overwrites or prolongs it, or its own client sets it anew under an
// earlier grant, sets it without a grant, or deletes it outside of a release. That a client takes the lock and releases it,
// other lines tell. They are by step.
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
	return k.lines
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
		text = fmt.Sprintf("prolongs the key %s on %s, which %s had set", key, c.Server, c.WasOf)
	case another && c.Value == "" && evidence.Overwrites(k.changes, c),
		another && c.Change == trace.KeySet && c.Over && c.Was != c.Value:
		text = fmt.Sprintf("writes over the key %s on %s, which %s had set", key, c.Server, c.WasOf)
	case c.Change == trace.KeySet && c.By != "" && c.By == c.Asked && k.under(c):
		text = fmt.Sprintf("sets the key %s on %s again", key, c.Server)
	case c.Change == trace.KeySet && c.By != "" && c.By == c.Asked && !c.Over && k.run.Terms.Voters < 2 && !k.grants(c):
		text = fmt.Sprintf("sets the key %s on %s, and is not granted the lock by that", key, c.Server)
	case c.Change == trace.KeyDeleted && c.Asked != "" && c.Asked == c.WasOf && k.run.Terms.Voters < 2 && !k.releases(c):
		text = fmt.Sprintf("deletes its key %s on %s, outside of a release", key, c.Server)
	case c.Change == trace.KeyDeleted && another:
		text = fmt.Sprintf("deletes the key %s on %s, which %s had set", key, c.Server, c.WasOf)
	case c.Value == "" && c.Asked == "" && c.WasOf != "" && k.ends(c):
		actor, text = c.Server, k.gone(c, key, k.renewals(on))
	}
	if c.Change == trace.KeySet || c.Value == "" {
		delete(k.prolonged, on)
		delete(k.last, on)
	}
	if text != "" {
		k.lines[c.Step] = append(k.lines[c.Step], Line{N: c.Step, At: c.At, Actor: actor, What: text, Text: text})
	}
}

// gone says how a key went that no request deleted.
func (keyTeller) gone(c trace.KeyChange, key, renewals string) string {
	if c.Change == trace.KeyExpired {
		return fmt.Sprintf("lets the key %s of %s%s expire", key, c.WasOf, renewals)
	}
	return fmt.Sprintf("loses the key %s of %s%s: it is %s", key, c.WasOf, renewals, c.Change)
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

// releases reports whether a key is deleted in a release, or under a grant.
func (k keyTeller) releases(c trace.KeyChange) bool {
	return slices.ContainsFunc(k.run.History.Grants, func(g checker.Grant) bool {
		ended := g.ReleaseReturned == 0 || checker.Pos(c.Step) <= g.ReleaseReturned
		return g.Client == c.Asked && g.Invoked <= checker.Pos(c.Step) && ended
	})
}
