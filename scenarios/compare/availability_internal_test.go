package compare

import (
	"testing"
	"time"

	"locksim/checker"
)

// made is a history in which position n is at n seconds: a grant is asked for, granted and released, an attempt is
// asked for and given up; 0 is never.
type made struct {
	grants   []checker.Grant
	attempts []checker.Attempt
}

func (m made) had(client string, invoked, granted, released checker.Pos) made {
	m.grants = append(m.grants, checker.Grant{Client: client, Invoked: invoked, Granted: granted, Released: released})
	return m
}

func (m made) asked(client string, invoked, returned checker.Pos) made {
	m.attempts = append(m.attempts, checker.Attempt{Client: client, Invoked: invoked, Returned: returned})
	return m
}

// Each rule of what counts as a time in which a lock is not to be had, after a trouble at 10 s of a run of 100 s.
func TestNotToBeHad(t *testing.T) {
	const s = time.Second
	for name, tt := range map[string]struct {
		whom    string
		history made
		want    Seen
	}{
		"nothing was asked":                      {"r0", made{}, Seen{}},
		"a grant that came before is usual":      {"r0", made{}.had("c0", 2, 5, 6), Seen{Usual: 3 * s}},
		"one in the instant of the trouble too":  {"r0", made{}.had("c0", 8, 10, 11), Seen{Usual: 2 * s}},
		"the longest usual one counts":           {"r0", made{}.had("c0", 1, 4, 5).had("c1", 6, 7, 8), Seen{Usual: 3 * s}},
		"the first ask after the trouble counts": {"r0", made{}.had("c1", 13, 17, 18), Seen{Longest: 4 * s}},
		"of two that ask the first counts": {"r0", made{}.had("c0", 15, 19, 20).had("c1", 12, 16, 17),
			Seen{Longest: 4 * s}},
		"one that asked before asks from the trouble on": {"r0", made{}.had("c1", 7, 17, 18), Seen{Longest: 7 * s}},
		"an answer that was under way is not the end": {"r0", made{}.had("c0", 9, 11, 12).had("c1", 12, 20, 21),
			Seen{Longest: 8 * s}},
		"the longest time counts, not the sum and not the last": {"r0",
			made{}.had("c0", 12, 14, 15).had("c1", 16, 22, 23).had("c0", 24, 25, 26), Seen{Longest: 6 * s}},
		"it is not free while another has it": {"r0", made{}.had("c0", 8, 9, 30).had("c1", 12, 31, 32),
			Seen{Usual: s, Longest: s}},
		"nor while one of two still has it": {"r0", made{}.had("c0", 11, 12, 30).had("c1", 11, 13, 15).had("c1", 16, 31, 32),
			Seen{Longest: s}},
		"a holder that the trouble struck has it no more": {"c0", made{}.had("c0", 8, 9, 0).had("c1", 12, 31, 32),
			Seen{Usual: s, Longest: 19 * s}},
		"what it asks for later does not count": {"c0",
			made{}.had("c0", 8, 9, 0).asked("c0", 11, 90).had("c1", 40, 45, 46).had("c0", 47, 48, 49),
			Seen{Usual: s, Longest: 5 * s}},
		"nor what it is granted later": {"c0", made{}.had("c0", 8, 9, 0).had("c0", 18, 20, 22).asked("c1", 12, 19),
			Seen{Usual: s, Longest: 7 * s, Never: true}},
		"asking again and again is asking": {"r0", made{}.asked("c0", 12, 13).asked("c1", 14, 15).had("c0", 16, 17, 18),
			Seen{Longest: 5 * s}},
		"a time in which none asks does not count": {"r0", made{}.had("c0", 12, 13, 14).had("c1", 80, 82, 83),
			Seen{Longest: 2 * s}},
		"asked for until the end of the run": {"r0", made{}.had("c0", 12, 13, 14).asked("c1", 20, 0),
			Seen{Longest: 80 * s, Never: true}},
		"asked for from before the trouble on": {"r0", made{}.asked("c1", 5, 0), Seen{Longest: 90 * s, Never: true}},
		"asked for in vain, until the last gave up": {"r0", made{}.asked("c0", 12, 20).asked("c1", 15, 40),
			Seen{Longest: 28 * s, Never: true}},
		"a last try that failed sooner than others waited": {"r0", made{}.had("c0", 12, 17, 18).asked("c1", 20, 21),
			Seen{Longest: 5 * s}},
		"a grant of which the holder was told too late is none": {"r0", made{grants: []checker.Grant{
			{Client: "c0", Invoked: 12, Granted: 20, Until: 20}, {Client: "c1", Invoked: 25, Granted: 26, Released: 27}}},
			Seen{Longest: 14 * s}},
		"a lease that ended is not had": {"r0", made{grants: []checker.Grant{
			{Client: "c0", Invoked: 8, Granted: 9, Until: 15, Released: 60}}}.had("c1", 12, 20, 21),
			Seen{Usual: s, Longest: 5 * s}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.want.Whom = tt.whom
			at := func(p checker.Pos) time.Duration { return time.Duration(p) * s }
			h := checker.History{Grants: tt.history.grants, Attempts: tt.history.attempts}
			if got := notToBeHad(h, at, tt.whom, 10*s, 100*s); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
