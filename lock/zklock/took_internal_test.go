package zklock

import (
	"testing"
	"time"
)

// The session is known to last from the first of three trips on, of which the second is sent a report after the answer
// of the first, and the third after the answer of the second; or from the connection over which the third was answered.
func TestTook(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	sent := func(from, to int, session int64) trip { return trip{at(from), at(to), session} }
	opt := Options{SessionTimeout: 10 * time.Second}.withDefaults() // a report is 1.1 s
	for name, c := range map[string]struct {
		before []trip
		third  trip
		began  int // of the connection, in milliseconds; 0: unknown
		want   int // -1: nothing is known
	}{
		"one trip":                       {nil, sent(5000, 5010, 7), 0, -1},
		"two trips":                      {[]trip{sent(1000, 1010, 7)}, sent(5000, 5010, 7), 0, -1},
		"three":                          {[]trip{sent(1000, 1010, 7), sent(3000, 3010, 7)}, sent(5000, 5010, 7), 0, 1000},
		"the second is too early":        {[]trip{sent(1000, 1010, 7), sent(2105, 2120, 7)}, sent(5000, 5010, 7), 0, -1},
		"the second is just late enough": {[]trip{sent(1000, 1010, 7), sent(2110, 2120, 7)}, sent(5000, 5010, 7), 0, 1000},
		"the third was sent before":      {[]trip{sent(1000, 1010, 7), sent(3000, 5005, 7)}, sent(5000, 5010, 7), 0, -1},
		"the latest three count": {[]trip{sent(1000, 1010, 7), sent(3000, 3010, 7), sent(4500, 4510, 7)},
			sent(6000, 6010, 7), 0, 3000},
		"of another session":             {[]trip{sent(1000, 1010, 6), sent(3000, 3010, 7)}, sent(5000, 5010, 7), 0, -1},
		"long ago":                       {[]trip{sent(1000, 1010, 7), sent(3000, 3010, 7)}, sent(11500, 11510, 7), 0, -1},
		"a new connection":               {nil, sent(5000, 5010, 7), 4000, 4000},
		"a connection after the request": {nil, sent(5000, 5010, 7), 5001, -1},
		"an old connection, and later ones": {[]trip{sent(1000, 1010, 7), sent(3000, 3010, 7)}, sent(5000, 5010, 7), 500,
			1000},
	} {
		l := &Lock{opt: opt, trips: c.before}
		if c.began > 0 {
			l.opt.Dialer = &Dialer{began: at(c.began)}
		}
		want := time.Time{}
		if c.want >= 0 {
			want = at(c.want)
		}
		if got := l.took(c.third); !got.Equal(want) {
			t.Errorf("%s: since %v, want %v", name, got, want)
		}
	}
}
