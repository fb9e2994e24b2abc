package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/lock/locktest/redisserver"
)

// TestRun makes a short measurement on real servers.
func TestRun(t *testing.T) {
	redisserver.Start(t).Stop() // skips the test without one
	var out bytes.Buffer
	if err := run(t.Context(), &out, options{Rounds: 3, Sections: 2, Handovers: 1}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## One node", "## Redlock over five nodes", "## Hand-over", "Redis 7", "3 rounds of 2 acquires",
		"`lock.Single`, notify", "`bsm/redislock`", "`go-redsync/redsync`, five nodes",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, out.String())
		}
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && strings.Contains(out.String(), host) {
		t.Error("the report names the host")
	}
}

func TestRunStopsAtTheEndOfItsContext(t *testing.T) {
	redisserver.Start(t).Stop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := run(ctx, &out, options{Rounds: 1, Sections: 1, Handovers: 1}); !errors.Is(err, context.Canceled) ||
		out.Len() > 0 {
		t.Errorf("error %v and %d bytes, want context.Canceled and nothing", err, out.Len())
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []options{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}} {
		if err := run(t.Context(), nil, o); err == nil || !strings.Contains(err.Error(), "at least 1") {
			t.Errorf("%+v: error %v", o, err)
		}
	}
}

// TestHold: every contender has a turn in each round, a different one begins each round, and the first round does not
// count.
func TestHold(t *testing.T) {
	var turns []string
	team := func(name string) contender {
		return contender{name: name, turn: func(context.Context) (time.Duration, error) {
			turns = append(turns, name)
			return time.Duration(len(turns)), nil
		}}
	}
	times, err := contest{rounds: 2, teams: []contender{team("a"), team("b"), team("c")}}.hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(turns, ""), "abc"+"bca"+"cab"; got != want {
		t.Errorf("turns %s, want %s", got, want)
	}
	if diff := cmp.Diff([][]time.Duration{{6, 8}, {4, 9}, {5, 7}}, times); diff != "" {
		t.Errorf("times, wanted and got:\n%s", diff)
	}
}

func TestHoldNamesTheFailedContender(t *testing.T) {
	errBroken := errors.New("broken")
	c := contest{rounds: 1,
		teams: []contender{{name: "a", turn: func(context.Context) (time.Duration, error) { return 0, errBroken }}}}
	if _, err := c.hold(t.Context()); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "a, round 0") {
		t.Errorf("error %v", err)
	}
}

func TestQuantile(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for _, c := range []struct{ q, want float64 }{{0, 1}, {0.1, 1}, {0.25, 2}, {0.5, 3}, {0.9, 5}, {1, 5}} {
		if got := quantile(values, c.q); got != c.want {
			t.Errorf("quantile %v = %v, want %v", c.q, got, c.want)
		}
	}
	if diff := cmp.Diff([]float64{5, 1, 4, 2, 3}, values); diff != "" {
		t.Error("quantile sorted its argument")
	}
}

// TestTable: the ratios are those of single rounds, so that a slow phase of the machine cancels out.
func TestTable(t *testing.T) {
	c := contest{title: "Race", about: "Who is first.", teams: []contender{
		{name: "ours"}, {name: "theirs", peer: "x"}, {name: "others", peer: "y"},
	}}
	us := time.Microsecond
	got := c.table([][]time.Duration{
		{10 * us, 10 * us, 1000 * us}, {20 * us, 20 * us, 2000 * us}, {40 * us, 5 * us, 8000 * us},
	}).markdown()
	want := `## Race

Who is first.

| lock | median time | times that of ours | spread |
|---|---|---|---|
| ours | 10 µs | 1 | |
| theirs | 20 µs | 2.00 | 2.00 to 2.00 |
| others | 40 µs | 4.00 | 0.50 to 8.00 |

The fastest peer is theirs: ours takes 0.50 of its time.
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table, wanted and got:\n%s", diff)
	}
}

func TestFigures(t *testing.T) {
	for d, want := range map[time.Duration]string{
		56400 * time.Nanosecond: "56 µs", 1200 * time.Microsecond: "1.2 ms", 120 * time.Millisecond: "120 ms",
	} {
		if got := short(d); got != want {
			t.Errorf("%v is written as %s, want %s", d, got, want)
		}
	}
	for ratio, want := range map[float64]string{0.00421: "0.0042", 0.994: "0.99", 12.34: "12.3", 237.4: "237"} {
		if got := figure(ratio); got != want {
			t.Errorf("%v is written as %s, want %s", ratio, got, want)
		}
	}
}
