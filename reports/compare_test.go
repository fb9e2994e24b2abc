package reports_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/reports"
	sidebyside "locksim/scenarios/compare"
	"locksim/scenarios/search"
)

// comparedLock is a lock of a comparison of four classes, of each of which a word
// says what became of it: as a cell reads, without the brackets.
func comparedLock(name string, servers int, words ...string) sidebyside.Lock {
	trip := sidebyside.Trip{RoundTrips: 1, Messages: servers}
	l := sidebyside.Lock{Name: name, Servers: []sidebyside.Servers{{Kind: "redis", Count: servers}}, Trips: sidebyside.Trips{Acquire: trip, Release: trip}}
	for i, word := range words {
		s := sidebyside.Survival{Class: comparedClasses[i], Promised: i < 3, Scenarios: 2, Runs: 5, Others: []sidebyside.Seen{}}
		seen := func(mode fence.Mode, label checker.Label) sidebyside.Seen {
			return sidebyside.Seen{Mode: mode, Label: label, Scenario: "gc-pause", Seed: 1, Replay: "again"}
		}
		if word, found := strings.CutSuffix(word, "!"); found {
			s.Overlap = new(seen(fence.None, checker.Overlap))
			words[i] = word
		}
		if word, found := strings.CutSuffix(words[i], "*"); found {
			s.Refused = new(seen(fence.Mode(word), checker.FalseReject))
			words[i] = word
		}
		switch words[i] {
		case "?":
			s.Scenarios, s.Runs = 0, 0
		case "ok":
			s.Fence = fence.None
		case "no":
			s.Others = append(s.Others, seen(fence.None, checker.Corrupted), seen(fence.CAS, checker.Stuck), seen(fence.Claim, checker.Stuck))
		case "stuck":
			s.Others = append(s.Others, seen(fence.None, checker.Stuck), seen(fence.Claim, checker.Stuck))
		default:
			s.Fence = fence.Mode(words[i])
			s.Others = append(s.Others, seen(fence.None, checker.Corrupted))
		}
		l.Survives = append(l.Survives, s)
	}
	return l
}

var comparedClasses = append(sidebyside.New(search.Seeds{}, nil).Classes[:0:0], sidebyside.NoFault, "pause", "stall", "flush")

// compared has every word and every sign, and a class that was not played.
func compared() *sidebyside.Comparison {
	single := comparedLock("single", 1, "ok", "claim*", "?", "no!")
	single.ForWhom, single.About = "Work that may be done twice now and then.", "A key on one node."
	fenced := comparedLock("fenced", 1, "ok", "seal", "?", "claim!")
	fenced.ForWhom, fenced.Tokens = "Data that must stay right, in a store that compares tokens.", true
	redlock := comparedLock("redlock-watchdog", 5, "?", "stuck", "?", "ok")
	redlock.Trips.Renew, redlock.Trips.Unasked = &sidebyside.Trip{RoundTrips: 2, Messages: 10}, true
	return &sidebyside.Comparison{Seeds: search.Seeds{First: 1, Last: 1}, Classes: comparedClasses, Locks: []sidebyside.Lock{single, fenced, redlock}}
}

// wide has a lock of somebody with a long name, on servers of two kinds, that wants to
// command the terminal, and more locks than fit side by side.
func wide() *sidebyside.Comparison {
	c := compared()
	theirs := comparedLock("an-extraordinarily-long-name\x1b[2J", 3, "claim", "check!", "?", "strict*!")
	theirs.Servers = append(theirs.Servers, sidebyside.Servers{Kind: "register", Count: 2})
	theirs.ForWhom = "Whoever *wants* to see | what becomes\nof <it>."
	c.Locks = append(c.Locks, theirs)
	for _, name := range []string{"a", "b", "c"} {
		c.Locks = append(c.Locks, comparedLock("lock-"+name, 1, "ok", "ok", "?", "ok"))
	}
	return c
}

func TestComparison(t *testing.T) {
	for name, tt := range map[string]struct {
		shows   string
		value   *sidebyside.Comparison
		options reports.Options
	}{
		"compare":        {"every word and every sign; a class that was not played has no row", compared(), reports.Options{Width: 80}},
		"compare-wide":   {"too wide for one table: a block for each lock, and the survivals in several tables", wide(), reports.Options{Width: reports.MinWidth}},
		"compare-colour": {"colour on the words only, and the columns as straight as without (ESC stands for the escape character)", compared(), reports.Options{Width: 80, Colour: reports.ANSI}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := reports.Comparison(&b, tt.value, tt.options); err != nil {
				t.Fatal(err)
			}
			golden(t, name, tt.shows, b.String())
			for line := range strings.Lines(b.String()) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); tt.options.Colour == reports.Plain && n > tt.options.Width {
					t.Errorf("a line of %d columns: %s", n, line)
				}
			}
		})
	}
}

func TestComparisonMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := reports.ComparisonMarkdown(&b, wide()); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare-markdown", "tables, and a section for each lock with the runs that show harm; what a lock says is no markup", b.String())
}

func TestComparisonErrors(t *testing.T) {
	if err := reports.Comparison(io.Discard, compared(), reports.Options{Width: 10}); err == nil {
		t.Error("10 columns are enough")
	}
	for _, err := range []error{
		reports.Comparison(closed{}, compared(), reports.Options{}), reports.ComparisonMarkdown(closed{}, compared()),
	} {
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%v", err)
		}
	}
	var b bytes.Buffer
	none := compared()
	none.Locks = slices.Clip(none.Locks[:0])
	if err := reports.Comparison(&b, none, reports.Options{}); err != nil || !strings.HasPrefix(b.String(), "0 locks side by side\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
