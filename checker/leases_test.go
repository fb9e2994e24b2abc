package checker

import (
	"strings"
	"testing"
)

func TestVoidGrants(t *testing.T) {
	expired := func(g Grant) Grant { g.ExpiredAtCall = true; return g }
	calm := func(h History) History { h.Calm = true; return h }
	late := held(1, "c0", 6, 30).until(4, 0)
	for _, c := range []struct {
		name       string
		h          History
		late, void int
		says       string
	}{
		{name: "right", h: calm(story("", []Grant{held(1, "c0", 2, 12).until(30, 0)}))},
		{name: "held until told", h: calm(story("", []Grant{held(1, "c0", 2, 12)}))},
		{name: "an answer that was late under a fault", h: story("", []Grant{late}), late: 1},
		{name: "an answer that was late without one", h: calm(story("", []Grant{late})), late: 1, void: 1,
			says: "was over by then, since its validity ended"},
		{name: "lost at once", h: calm(story("", []Grant{held(1, "c0", 6, 30).lost(6, 0)})), late: 1, void: 1,
			says: "was over by then, since the lock announced the loss"},
		{name: "expired at the call, under a fault", h: story("", []Grant{expired(late)}), late: 1, void: 1,
			says: "had ended before it called Acquire at step 5"},
		{name: "a lease that is too short", h: calm(story("", []Grant{held(1, "c0", 2, 12).until(3, 0)})), void: 1,
			says: "ended at step 3, when its validity ended, although nothing had gone wrong"},
		{name: "a lease that is too short, under a fault", h: story("", []Grant{held(1, "c0", 2, 12).until(3, 0)})},
		{name: "lost early", h: calm(story("", []Grant{held(1, "c0", 2, 12).lost(5, 6)})), void: 1,
			says: "ended at step 5, when the lock announced the loss"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, c.h, nil)
			if v.Facts.LateGrants != c.late || v.Facts.VoidGrants != c.void {
				t.Errorf("late %d, void %d, want %d and %d", v.Facts.LateGrants, v.Facts.VoidGrants, c.late, c.void)
			}
			if want := c.void > 0; (v.Label == Void) != want || !strings.Contains(v.Reasons[0].Text, c.says) {
				t.Errorf("label %s: %s", v.Label, v.Reasons[0].Text)
			}
		})
	}
}

func TestRevivedClaims(t *testing.T) {
	revived := func(g Grant, at Pos) Grant { g.Revived = at; return g }
	first := held(1, "c0", 2, 50).until(10, 0)
	for _, c := range []struct {
		name   string
		grants []Grant
		want   int
	}{
		{"after another grant", []Grant{revived(first, 30), held(2, "c1", 20, 25)}, 1},
		{"after two other grants", []Grant{revived(first, 40), held(2, "c1", 20, 25), held(3, "c2", 30, 35)}, 1},
		{"before another grant", []Grant{revived(first, 15), held(2, "c1", 60, 65)}, 0},
		{"after another grant that had begun before the end", []Grant{revived(first, 30), held(2, "c1", 5, 8)}, 0},
		{"without another grant", []Grant{revived(first, 30)}, 0},
		{"another grant that was late", []Grant{revived(first, 30), held(2, "c1", 20, 25).until(18, 0)}, 0},
		{"another resource", []Grant{revived(first, 30), held(2, "c1", 20, 25).of("stock")}, 0},
		{"never revived", []Grant{first, held(2, "c1", 20, 25)}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, story("", c.grants), nil)
			if v.Facts.RevivedClaims != c.want || (v.Label == Revived) != (c.want > 0) {
				t.Errorf("%d revived, label %s, want %d", v.Facts.RevivedClaims, v.Label, c.want)
			}
		})
	}
}
