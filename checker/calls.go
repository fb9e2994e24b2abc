package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Calls counts the calls of a run by how they ended. A call during which its process crashed did not end.
type Calls struct {
	// Granted counts the calls of Acquire and TryAcquire that returned a lease.
	Granted int `json:"granted"`
	// Taken counts those that returned that the lock is taken: see [Attempt.Taken] and [Try.Taken].
	Taken int `json:"taken"`
	// GaveUp counts the attempts that returned anything else after the end of their context, or while another client
	// had the lock or asked for it: it had called Acquire, and had neither returned from that without a grant, nor
	// returned from releasing its grant, nor crashed.
	GaveUp int `json:"gave_up"`
	// Failed counts all other attempts that returned.
	Failed int `json:"failed"`
	// Extended counts the calls of Extend that succeeded.
	Extended int `json:"extended"`
	// NotExtended counts those that returned that the lock is not held, or may not be extended any more.
	NotExtended int `json:"not_extended"`
	// FailedExtends counts those that returned any other error.
	FailedExtends int `json:"failed_extends"`
	// Released counts the calls of Release that succeeded.
	Released int `json:"released"`
	// NotHeld counts those that returned that the lock is not held.
	NotHeld int `json:"not_held"`
	// FailedReleases counts those that returned any other error.
	FailedReleases int `json:"failed_releases"`
}

// Plus is the sum of the counts of two runs.
func (c Calls) Plus(d Calls) Calls {
	return Calls{c.Granted + d.Granted, c.Taken + d.Taken, c.GaveUp + d.GaveUp, c.Failed + d.Failed,
		c.Extended + d.Extended, c.NotExtended + d.NotExtended, c.FailedExtends + d.FailedExtends,
		c.Released + d.Released, c.NotHeld + d.NotHeld, c.FailedReleases + d.FailedReleases}
}

// Way is how many calls of Acquire, Extend or Release ended in a way.
type Way struct {
	// Call is the call, and How its end: "Acquire" and "gave up".
	Call, How string
	N         int
}

// Ways are the ways in which calls ended: of each call that any client made the first, and the others in which any did.
func (c Calls) Ways() []Way {
	all := []Way{
		{"Acquire", "granted", c.Granted}, {"Acquire", "taken", c.Taken},
		{"Acquire", "gave up", c.GaveUp}, {"Acquire", "failed", c.Failed},
		{"Extend", "succeeded", c.Extended}, {"Extend", "not held", c.NotExtended}, {"Extend", "failed", c.FailedExtends},
		{"Release", "succeeded", c.Released}, {"Release", "not held", c.NotHeld}, {"Release", "failed", c.FailedReleases},
	}
	total, first := map[string]int{}, ""
	for _, w := range all {
		total[w.Call] += w.N
	}
	return slices.DeleteFunc(all, func(w Way) bool {
		later := w.Call == first
		first = w.Call
		return total[w.Call] == 0 || later && w.N == 0
	})
}

// Texts say how the calls of Acquire, Extend and Release ended, each of them that any client called:
// "Acquire granted 210, gave up 3".
func (c Calls) Texts() []string {
	var texts []string
	call := ""
	for _, w := range c.Ways() {
		way := w.How + " " + strconv.Itoa(w.N)
		if w.Call == call {
			texts[len(texts)-1] += ", " + way
		} else {
			texts = append(texts, w.Call+" "+way)
		}
		call = w.Call
	}
	return texts
}

// CallError is an error with which calls ended.
type CallError struct {
	// Call is the call: Acquire, Extend or Release.
	Call string `json:"call"`
	// Error is the text of the error. Errors that differ only in their numbers count as one, which has the text of
	// the first.
	Error string `json:"error"`
	// Count is how many calls ended with it.
	Count int `json:"count"`
}

// String is "Release 7: EOF".
func (e CallError) String() string {
	return fmt.Sprintf("%s %d: %s", e.Call, e.Count, e.Error)
}

// mostErrors is how many errors are kept of one run, or of several.
const mostErrors = 16

// AddErrors adds the errors of later calls to those of others: the most frequent first, 16 at most.
func AddErrors(errors, later []CallError) []CallError {
	all := slices.Clone(errors)
	for _, e := range later {
		i := slices.IndexFunc(all, func(known CallError) bool {
			return known.Call == e.Call && withoutNumbers(known.Error) == withoutNumbers(e.Error)
		})
		if i < 0 {
			all = append(all, e)
		} else {
			all[i].Count += e.Count
		}
	}
	slices.SortStableFunc(all, func(a, b CallError) int { return cmp.Compare(b.Count, a.Count) })
	return all[:min(len(all), mostErrors)]
}

// withoutNumbers is a text with one digit in place of each number: ports and durations differ from call to call.
func withoutNumbers(text string) string {
	digits := false
	return strings.Map(func(r rune) rune {
		before := digits
		digits = '0' <= r && r <= '9'
		switch {
		case digits && before:
			return -1
		case digits:
			return '0'
		}
		return r
	}, text)
}

func countCalls(h History) Calls {
	c := Calls{Granted: len(h.Grants)}
	for _, t := range h.Tries {
		if t.Taken {
			c.Taken++
		}
	}
	for _, a := range h.Attempts {
		switch {
		case a.Returned == 0:
		case a.Taken:
			c.Taken++
		case a.ContextEnded > 0 || h.othersThere(a, Interval{Start: a.Returned, End: a.Returned + 1}):
			c.GaveUp++
		default:
			c.Failed++
		}
	}
	for _, call := range h.Calls {
		switch call.What + " " + string(call.Result) {
		case "Extend " + string(ResultDone):
			c.Extended++
		case "Extend " + string(ResultNotHeld), "Extend " + string(ResultRefused):
			c.NotExtended++
		case "Extend " + string(ResultFailed):
			c.FailedExtends++
		case "Release " + string(ResultDone):
			c.Released++
		case "Release " + string(ResultNotHeld):
			c.NotHeld++
		case "Release " + string(ResultFailed):
			c.FailedReleases++
		}
	}
	return c
}

// othersThere reports whether another client had the lock that an attempt asked for, or asked for it, at some time of
// an interval.
func (h History) othersThere(a Attempt, i Interval) bool {
	return slices.ContainsFunc(h.Grants, func(g Grant) bool {
		there := Interval{Start: g.Invoked, End: cmp.Or(g.ReleaseReturned, g.Crashed, never)}
		return g.Resource == a.Resource && g.Client != a.Client && there.Overlaps(i)
	}) || slices.ContainsFunc(h.Attempts, func(b Attempt) bool {
		there := Interval{Start: b.Invoked, End: cmp.Or(b.Returned, never)}
		return b.Resource == a.Resource && b.Client != a.Client && there.Overlaps(i)
	})
}

// callErrors are the errors with which the calls of a history ended, in the order of the calls where that is known.
func callErrors(h History) []CallError {
	var all []CallError
	for _, a := range slices.SortedFunc(slices.Values(h.Attempts), byAsking) {
		if a.Error != "" {
			all = AddErrors(all, []CallError{{"Acquire", a.Error, 1}})
		}
	}
	for _, c := range slices.SortedFunc(slices.Values(h.Calls), inTime) {
		if c.Error != "" {
			all = AddErrors(all, []CallError{{c.What, c.Error, 1}})
		}
	}
	return all
}
