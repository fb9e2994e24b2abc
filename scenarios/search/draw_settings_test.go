package search_test

import (
	"strings"
	"testing"
	"time"

	"locksim/scenarios/file"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// electing is a lock with settings like those of an election.
func electing(t *testing.T) subject.Lock {
	t.Helper()
	l := ours(t, "single")
	l.Settings = []subject.Setting{
		{Name: "period", Default: func(ttl time.Duration) time.Duration { return ttl / 8 }, Least: time.Millisecond,
			Below: []subject.Bound{{Of: "deadline", Times: 1.2}}},
		{Name: "deadline", Default: func(ttl time.Duration) time.Duration { return ttl / 2 }, Least: time.Millisecond,
			Below: []subject.Bound{{Of: "ttl"}}},
		{Name: "tries", Default: subject.Always(8), Least: 1, Most: 100, Counts: true},
		{Name: "delay", Default: subject.Always(time.Second), Unit: time.Second, Most: time.Minute},
	}
	l.TTLUnit = time.Second
	return l
}

// What is drawn is what the lock can have. A setting brings those with it that it is bound to.
func TestDrawnSettings(t *testing.T) {
	l := electing(t)
	for _, tt := range []struct{ asked, want string }{
		{"period", "deadline period"}, {"deadline=10ms..1h", "deadline period"}, {"tries", "tries"}, {"tries=3..5", "tries"},
		{"delay", "delay"}, {"all", "deadline delay period tries"},
	} {
		r, err := spaces.ParseSetting(tt.asked)
		if err != nil {
			t.Fatal(err)
		}
		space, err := search.Discover(l, spaces.Space{Settings: []spaces.SettingRange{r}})
		if err != nil {
			t.Fatalf("%s: %v", tt.asked, err)
		}
		values := map[string]map[string]bool{}
		for seed := range uint64(300) {
			sc := search.Draw(spaces.Seeded(seed), space)
			var names []string
			of := map[string]time.Duration{"ttl": sc.Lock.TTL}
			for _, s := range sc.Lock.Settings {
				names = append(names, s.Name)
				if values[s.Name] == nil {
					values[s.Name] = map[string]bool{}
				}
				values[s.Name][s.Value] = true
				setting, err := l.Setting(s.Name)
				if err != nil {
					t.Fatal(err)
				}
				of[s.Name] = setting.In(sc.Lock)
			}
			if got := strings.Join(names, " "); got != tt.want || sc.Lock.TTL%time.Second != 0 {
				t.Fatalf("%s, seed %d: settings %s, want %s; ttl %v", tt.asked, seed, got, tt.want, sc.Lock.TTL)
			}
			if d, ok := of["deadline"]; ok && (d >= of["ttl"] || float64(of["period"])*1.2 >= float64(d)) {
				t.Fatalf("%s, seed %d: %v", tt.asked, seed, of)
			}
			if n, ok := of["tries"]; ok && (n < 2 || n > 32) || of["delay"]%time.Second != 0 {
				t.Fatalf("%s, seed %d: %v", tt.asked, seed, of)
			}
			if err := sc.Validate(); err != nil {
				t.Fatalf("%s, seed %d: %v", tt.asked, seed, err)
			}
		}
		for name, of := range values {
			if len(of) < 3 {
				t.Errorf("%s: %s was only %v", tt.asked, name, of)
			}
		}
	}
}

// What a lock does not have is refused. Without settings a seed draws what it drew before there were any.
func TestSettingsThatCannotBeDrawn(t *testing.T) {
	for asked, want := range map[string]string{
		"perod":            "did you mean period?",
		"period=1..3":      "give lengths of time, such as 1s..5s",
		"tries=1s..2s":     "give whole numbers, such as 1..8",
		"tries=1..200":     "goes from 1 to 100: give a range in that",
		"deadline=0s..30s": "goes from 1ms to 24h",
		"delay=59s..1m1s":  "goes from 0s to 1m0s",
	} {
		r, err := spaces.ParseSetting(asked)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = search.Discover(electing(t), spaces.Space{Settings: []spaces.SettingRange{r}}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", asked, err, want)
		}
	}
	all := []spaces.SettingRange{{Name: "all"}}
	if _, err := search.Discover(ours(t, "single"), spaces.Space{Settings: all}); err == nil {
		t.Error("all settings of a lock without any are drawn")
	}
	with, err := search.Discover(electing(t), spaces.Space{Settings: []spaces.SettingRange{{Name: "tries"}}})
	if err != nil {
		t.Fatal(err)
	}
	without := with
	without.Settings, with.TTLUnit = nil, 0
	for seed := range uint64(100) {
		a, b := search.Draw(spaces.Seeded(seed), with), search.Draw(spaces.Seeded(seed), without)
		a.Lock.Settings, a.Lock.TTL = nil, b.Lock.TTL // which is a whole number of seconds with settings
		one, err := file.Format(a)
		other, wrong := file.Format(b)
		if err != nil || wrong != nil || string(one) != string(other) {
			t.Fatalf("seed %d: another schedule with settings (%v, %v)", seed, err, wrong)
		}
	}
}
