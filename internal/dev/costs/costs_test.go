package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"locksim/lock"
)

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i) // 100 to 1
	}
	for _, c := range []struct {
		times   []time.Duration
		percent int
		want    time.Duration
	}{
		{hundred, 50, 50}, {hundred, 99, 99}, {hundred, 100, 100}, {hundred, 1, 1},
		{[]time.Duration{7}, 50, 7}, {[]time.Duration{7}, 99, 7},
		{[]time.Duration{9, 7}, 50, 7}, {[]time.Duration{9, 7}, 99, 9},
		{[]time.Duration{3, 1, 2}, 50, 2}, {nil, 50, 0},
		{slices.Concat(hundred, hundred), 99, 99}, {append([]time.Duration{101}, hundred...), 99, 100},
	} {
		if got := percentile(c.percent, slices.Clone(c.times)); got != c.want {
			t.Errorf("P%d of %d times is %d, want %d", c.percent, len(c.times), got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		rounds []float64
		want   spread
		text   string
	}{
		{[]float64{3, 1, 2}, spread{2, 1, 3}, "2.00 [1.00, 3.00]"},
		{[]float64{5}, spread{5, 5, 5}, "5.00 [5.00, 5.00]"},
		{[]float64{4, 1, 2, 8}, spread{3, 1, 8}, "3.00 [1.00, 8.00]"},
		{nil, spread{}, "– [–, –]"},
	} {
		if got := spreadOf(c.rounds); got != c.want || got.String() != c.text {
			t.Errorf("of %v it is %v, want %v", c.rounds, got, c.text)
		}
	}
}

func TestFigure(t *testing.T) {
	for x, want := range map[float64]string{
		0: "–", 1: "1.00", 0.01426: "0.0143", 0.000299: "0.000299", 3.2: "3.20", 9.994: "9.99", 9.996: "10.0", 74.06: "74.1",
		99.94: "99.9", 99.96: "100", 152.4: "152", 12345: "12,300", 0.9996: "1.00",
	} {
		if got := figure(x); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
}

// Messages are frames with data, however the bytes are cut into writes.
func TestMessages(t *testing.T) {
	sent := []byte(http2.ClientPreface)
	frame := func(kind http2.FrameType, length int) {
		sent = append(sent, byte(length>>16), byte(length>>8), byte(length), byte(kind), 0, 0, 0, 0, 1)
		sent = append(sent, make([]byte, length)...)
	}
	frame(http2.FrameSettings, 6)
	frame(http2.FrameHeaders, 300)
	frame(http2.FrameData, 70_000)
	frame(http2.FrameWindowUpdate, 4)
	frame(http2.FrameData, 0) // only the end of a stream
	frame(http2.FrameData, 1)
	frame(http2.FramePing, 8)
	frame(http2.FrameData, 300)
	for _, size := range []int{1, 2, 8, 9, 10, 1000, len(sent)} {
		m, n := messages{skip: len(http2.ClientPreface)}, int64(0)
		for part := range slices.Chunk(sent, size) {
			n += m.in(part)
		}
		if n != 3 {
			t.Errorf("in writes of %d bytes there are %d messages, want 3", size, n)
		}
	}
}

// A tap counts the writes of all its connections as requests, and the bytes each way.
func TestTap(t *testing.T) {
	var counted tap
	for range 2 {
		near, far := net.Pipe()
		c := counted.over(near)
		go func() {
			_, _ = io.ReadFull(far, make([]byte, 7))
			_, _ = far.Write([]byte("ok"))
		}()
		for _, text := range []string{"1234", "567"} {
			if _, err := io.WriteString(c, text); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.ReadFull(c, make([]byte, 2)); err != nil {
			t.Fatal(err)
		}
		_, _ = c.Close(), far.Close()
	}
	got := counted.traffic()
	if want := (traffic{Requests: 4, Sent: 14, Received: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if since := got.since(traffic{Requests: 1, Sent: 2, Received: 3}); since != (traffic{3, 12, 1}) {
		t.Errorf("since then %+v", since)
	}
}

// Grants count in the window in which their releases end, its end excluded.
func TestWithin(t *testing.T) {
	from := time.Unix(100, 0)
	at := func(second int, acquire, handover time.Duration) sample {
		return sample{acquire: acquire, release: 2 * acquire, handover: handover,
			ended: from.Add(time.Duration(second) * time.Second)}
	}
	got := within([]client{
		{samples: []sample{at(-1, 50, 50), at(0, 3, 0), at(1, 1, 30)}, failed: []error{io.EOF}},
		{samples: []sample{at(-1, 60, 60), at(2, 70, 70)}, failed: []error{io.EOF, io.EOF}},
		{samples: []sample{at(1, 2, 10), at(0, 2, 0)}},
	}, from, from.Add(2*time.Second))
	want := cell{Seconds: 2, Grants: 4, Served: 2, Failed: 3, Acquire: latency{2, 3}, Release: latency{4, 6},
		Handover: latency{10, 30}}
	if got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if got.rate() != 2 {
		t.Errorf("%v grants a second", got.rate())
	}
}

// local is a lock in this process. It notes who was granted it.
type local struct {
	place  *place
	name   string
	refuse bool
}

type place struct {
	held chan struct{}

	mu       sync.Mutex
	grants   []string
	releases int
}

func newPlace() *place { return &place{held: make(chan struct{}, 1)} }

func (l local) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	if l.refuse {
		return nil, errRefused
	}
	select {
	case l.place.held <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.place.mu.Lock()
	defer l.place.mu.Unlock()
	l.place.grants = append(l.place.grants, l.name+" "+key)
	return localLease{place: l.place}, nil
}

type localLease struct {
	lock.Lease
	place *place
}

var errRefused = errors.New("refused")

// Release fails every third time, and has effect the next.
func (l localLease) Release(context.Context) error {
	l.place.mu.Lock()
	defer l.place.mu.Unlock()
	if l.place.releases++; l.place.releases%3 == 0 {
		return errRefused
	}
	<-l.place.held
	return nil
}

var brief = times{Warm: time.Millisecond, Window: 300 * time.Millisecond}

// Clients that share a key take turns: none has it twice in a row. A release that fails is tried again.
func TestTurns(t *testing.T) {
	p := newPlace()
	c, err := load{3, 1}.run(t.Context(), []lock.Locker{local{place: p, name: "a"}, local{place: p, name: "b"},
		local{place: p, name: "c"}}, "k", brief, new(tap))
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range p.grants {
		if i > 0 && g == p.grants[i-1] {
			t.Errorf("%s twice in a row, at %d of %d", g, i, len(p.grants))
		}
		if !strings.HasSuffix(g, " k:0") {
			t.Errorf("grant of %q", g)
		}
	}
	if len(p.grants) < 4 || c.Grants == 0 || c.Failed == 0 || c.Handover.P50 == 0 {
		t.Errorf("%d grants, %+v", len(p.grants), c)
	}
}

// A client with a key of its own does not wait for others, and there is no hand-over.
func TestAlone(t *testing.T) {
	a, b := newPlace(), newPlace()
	c, err := load{2, 2}.run(t.Context(), []lock.Locker{local{place: a, name: "a"}, local{place: b, name: "b"}}, "k",
		brief, new(tap))
	if err != nil || c.Handover != (latency{}) {
		t.Errorf("%+v, %v", c, err)
	}
	if twice := slices.Repeat([]string{"a k:0"}, 2); !slices.Equal(a.grants[:2], twice) {
		t.Errorf("%q", a.grants[:2])
	}
	if slices.ContainsFunc(b.grants, func(g string) bool { return g != "b k:1" }) {
		t.Errorf("%q", b.grants)
	}
}

// Without a grant there is no cell, and the error is that of a client.
func TestNoGrant(t *testing.T) {
	_, err := load{1, 1}.run(t.Context(), []lock.Locker{local{refuse: true}}, "k", brief, new(tap))
	if !errors.Is(err, errNone) || !errors.Is(err, errRefused) {
		t.Errorf("the error is %v", err)
	}
	p := newPlace()
	p.held <- struct{}{} // for ever
	if _, err := (load{1, 1}).run(t.Context(), []lock.Locker{local{place: p}}, "k", brief, new(tap)); !errors.Is(err,
		errNone) {
		t.Errorf("the error is %v", err)
	}
}

func TestParseBenchmark(t *testing.T) {
	const head = `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms",` +
		`"max_latency_ms"` + "\n"
	got, err := parseBenchmark(head + `"SET","24570.02","0.030","0.008","0.023","0.063","0.151","4.095"` + "\n")
	want := cell{Seconds: 1, Grants: 24570, Acquire: latency{23 * time.Microsecond, 151 * time.Microsecond}}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, wrong := range []string{"", head, head + `"SET","x","1","1","1","1","1","1"`, `"test","rps"` + "\n" + `"SET","1"`} {
		if _, err := parseBenchmark(wrong); err == nil {
			t.Errorf("no error for %q", wrong)
		}
	}
}

// A measurement goes on where one was interrupted that began alike, and otherwise begins anew.
func TestOpenResults(t *testing.T) {
	began := start{Commit: "abc1234", Rounds: 1, Window: time.Second, Base: time.Second, Work: 1, Processor: "p",
		Files: "ext4", Date: "2026-01-01"}
	with := func(change func(*start)) start {
		s := began
		s.Date = "2026-01-02"
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		now  start
		all  int
		kept bool
	}{
		"the same":        {with(func(*start) {}), 2, true},
		"complete":        {with(func(*start) {}), 1, false},
		"another commit":  {with(func(s *start) { s.Commit = "def5678" }), 2, false},
		"other rounds":    {with(func(s *start) { s.Rounds = 2 }), 2, false},
		"other windows":   {with(func(s *start) { s.Window = 2 }), 2, false},
		"other SETs":      {with(func(s *start) { s.Base = 2 }), 2, false},
		"other warm-up":   {with(func(s *start) { s.Warm = 2 }), 2, false},
		"other work":      {with(func(s *start) { s.Work = 2 }), 2, false},
		"other systems":   {with(func(s *start) { s.Only = "etcd" }), 2, false},
		"another machine": {with(func(s *start) { s.Processor = "q" }), 2, false},
		"another disk":    {with(func(s *start) { s.Files = "tmpfs" }), 2, false},
	} {
		file := filepath.Join(t.TempDir(), "results.jsonl")
		r, err := openResults(file, began, 2)
		if err != nil {
			t.Fatal(err)
		}
		id := cellID("single poll", loads[0], 1)
		if err := errors.Join(r.Add(result{ID: id, Cell: &measured{Row: "single poll"}}), r.Close()); err != nil {
			t.Fatal(err)
		}
		if r, err = openResults(file, c.now, c.all); err != nil {
			t.Fatal(err)
		}
		if _, kept := r.Latest(id); kept != c.kept {
			t.Errorf("%s: the cell is kept: %v", name, kept)
		}
		want := map[bool]string{true: began.Date, false: c.now.Date}[c.kept]
		if err := r.Close(); err != nil || r.start().Date != want {
			t.Errorf("%s: it began on %s, %v", name, r.start().Date, err)
		}
	}
	dirty := with(func(s *start) { s.Commit = "abc1234-dirty" })
	if dirty.sameAs(dirty) {
		t.Error("a measurement goes on with changes that no commit has")
	}
}

// The rows can be told apart, and the simulated world has their locks.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.id] || !slices.Contains([]string{polls, told, queues, ""}, r.waits) {
			t.Errorf("row %q, which waits by %q", r.id, r.waits)
		}
		seen[r.id] = true
		if l, err := simulated(r.lock); !r.hand && (err != nil || l.Name != r.lock) {
			t.Errorf("row %s: %s, %v", r.id, l.Name, err)
		}
	}
	for _, c := range claims {
		for _, p := range c.pairs {
			if !seen[p[0]] || !seen[p[1]] {
				t.Errorf("%q compares %v", c.says, p)
			}
		}
	}
}

// The round trips are those of locksim compare.
func TestTrips(t *testing.T) {
	got, err := trips([]row{{lock: "single"}, {lock: "redlock"}, {hand: true}})
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if one := got["redlock"]; one.Acquire.RoundTrips != 1 || one.Acquire.Messages != 5 || one.Release.RoundTrips != 1 {
		t.Errorf("%+v", one)
	}
}

func TestWhole(t *testing.T) {
	for d, want := range map[time.Duration]string{3 * time.Second: "3 s", 2500 * time.Microsecond: "2.5 ms",
		600 * time.Millisecond: "600 ms"} {
		if got := whole(d); got != want {
			t.Errorf("%v is %q", d, got)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-only", "("}, {"more"}, {"-what"}, {"-window", "0s"},
		{"-base", "0s"}, {"-work", "-1s"}, {"-only", "etcd"}, {"-warm", "-1s"}} {
		if code := command(t.Context(), args, io.Discard, io.Discard); code != exitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
	var told strings.Builder
	missing := filepath.Join(t.TempDir(), "none.jsonl")
	if code := command(t.Context(), []string{"-stored", "-results", missing}, io.Discard, &told); code != exitFailed ||
		!strings.Contains(told.String(), missing) {
		t.Errorf("exit code %d: %s", code, &told)
	}
}

// made are results of two rounds that nothing measured: two SETs a millisecond, each of 100 µs.
func made(t *testing.T) results {
	t.Helper()
	r, err := openResults(filepath.Join(t.TempDir(), "made.jsonl"), start{Commit: "abc1234", Date: "2026-01-01",
		Rounds: 2, Window: 3 * time.Second, Work: 2 * time.Millisecond, Processor: "a processor", Cores: 2, Folder: "/data",
		Files: "ext4", Device: "/dev/a", Missing: map[string]string{"ZooKeeper 1": "there is no java"}}, 99)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	const us = time.Microsecond
	set := func(clients int) cell {
		return cell{Seconds: 1, Grants: 2000, Served: clients, Acquire: latency{100 * us, 300 * us},
			Traffic: traffic{2000, 2000 * 60, 2000 * 5}}
	}
	add := func(row string, l load, round int, c cell) {
		one := &measured{Row: row, load: l, Round: round, Cell: c, Base: set(l.Clients)}
		if err := r.Add(result{ID: cellID(row, l, round), Cell: one}); err != nil {
			t.Fatal(err)
		}
	}
	for round := 1; round <= 2; round++ {
		n := time.Duration(round)
		add("single poll", loads[0], round, cell{Seconds: 3, Grants: 3000 * round, Served: 1, Acquire: latency{n * 50 * us,
			n * 400 * us}, Release: latency{n * 150 * us, n * 800 * us}, Traffic: traffic{6000 * int64(round), 390_000 *
			int64(round), 390_000 * int64(round)}})
		add("single poll", loads[1], round, cell{Seconds: 3, Grants: 99 + round, Served: 8 - round, Failed: round,
			Acquire: latency{20000 * us, 90000 * us}, Release: latency{100 * us, 200 * us}, Handover: latency{5000 * us,
				9000 * us}, Traffic: traffic{300, 650, 650}})
		add("etcd 1", loads[0], round, cell{Seconds: 3, Grants: 300, Served: 1, Acquire: latency{n * 1000 * us, n * 2000 *
			us}, Release: latency{500 * us, 900 * us}, Traffic: traffic{1200, 1, 1}})
		err := r.Add(result{ID: fmt.Sprintf("disk %d", round), Disk: &disk{round, latency{n * 200 * us, n}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	add("single poll", loads[0], 2, r.of("single poll", loads[0])[1].Cell) // a later result of one cell replaces it
	if err := r.Add(result{ID: "server etcd 1", Server: &about{"etcd 1", "etcd 9", "its log"}}); err != nil {
		t.Fatal(err)
	}
	return r
}

// The page has ratios to the SETs of the same cell, the least and the greatest of the rounds, and what was left out.
func TestPage(t *testing.T) {
	text, err := made(t).page()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"As of 2026-01-01, commit abc1234:",
		"the median of 2 rounds",
		"| Redis | `single` | poll | 0.750 [0.500, 1.00] | 0.750 [0.500, 1.00] | 6.00 [4.00, 8.00] | 2.25 [1.50, 3.00] | " +
			"12.0 [8.00, 16.0] | 2.00 [2.00, 2.00] | 4.00 [4.00, 4.00] |\n",
		"| Redis | `single` | poll | 0.0168 [0.0167, 0.0168] | 200 [200, 200] | 900 [900, 900] | 1.00 [1.00, 1.00] | 2.00 " +
			"[2.00, 2.00] | 50.0 [50.0, 50.0] | 90.0 [90.0, 90.0] | 2.99 [2.97, 3.00] | 0.199 [0.198, 0.200] |\n",
		"- Redis, `single`, poll, 8 clients on 1 key: in one round 2 clients had no grant",
		"- Redis, `single`, poll, 8 clients on 1 key: 3 calls failed",
		"| etcd 1 | etcd 9 | its log |",
		"- ZooKeeper 1: there is no java",
		"MariaDB is left out",
		"etcd 1 ÷ Redis: 20.0 [20.0, 20.0]",
		"| 1 | 2,000 [2,000, 2,000] | 100 µs [100 µs, 100 µs] | 300 µs [300 µs, 300 µs] |",
		"ext4 on /dev/a, where a write of 4 KiB with its fsync takes 300 µs [200 µs, 400 µs].",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	for _, none := range []string{"‡ |", "NaN", "| redlock |", "%!"} {
		if strings.Contains(text, none) {
			t.Errorf("the page has %q", none)
		}
	}
}

// The unit of a cell is the median of the SETs of its round by as many clients, of other rows too.
func TestUnit(t *testing.T) {
	r := made(t)
	add := func(row string, l load, round, sets int, p50 time.Duration) {
		c := &measured{Row: row, load: l, Round: round, Cell: cell{Seconds: 1, Grants: 600, Acquire: latency{P50: 600}},
			Base: cell{Seconds: 1, Grants: sets, Acquire: latency{P50: p50}}}
		if err := r.Add(result{ID: cellID(row, l, round), Cell: c}); err != nil {
			t.Fatal(err)
		}
	}
	add("a", loads[2], 1, 100, 30)
	add("b", loads[2], 1, 300, 10)
	add("c", loads[3], 1, 200, 20)
	add("a", loads[2], 2, 1200, 300)
	for round, want := range []float64{3, 0.5} {
		if got := rate(r.of("a", loads[2])[round]); got != want {
			t.Errorf("round %d: the rate is %v, want %v", round+1, got, want)
		}
	}
	for round, want := range []float64{30, 2} {
		if got := acquire50(r.of("a", loads[2])[round]); got != want {
			t.Errorf("round %d: an acquire takes %v, want %v", round+1, got, want)
		}
	}
}

// A P99 of too few grants is marked, one of enough is not.
func TestFewGrants(t *testing.T) {
	r := made(t)
	c := *r.of("single poll", loads[1])[0]
	c.Round, c.Cell.Grants = 3, few-1
	if err := r.Add(result{ID: cellID(c.Row, c.load, 3), Cell: &c}); err != nil {
		t.Fatal(err)
	}
	if table := r.table(loads[1]); strings.Count(table, "‡ |") != 3 {
		t.Errorf("the three P99 are not marked:\n%s", table)
	}
	if table := r.table(loads[0]); strings.Contains(table, "‡") {
		t.Errorf("another table is marked:\n%s", table)
	}
}

// The committed page is that of the committed results, which have each cell in each round.
func TestCommittedPage(t *testing.T) {
	r, err := readResults("results.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.page()
	if err != nil {
		t.Fatal(err)
	}
	if have, err := os.ReadFile("../../../reports/COSTS.md"); err != nil || string(have) != text {
		t.Errorf("reports/COSTS.md is not of the stored results (%v): go -C internal/dev run ./costs -stored "+
			">reports/COSTS.md, in the root", err)
	}
	for _, row := range rows {
		for _, l := range row.loads() {
			if _, missing := r.start().Missing[row.on.name]; len(r.of(row.id, l)) != r.start().Rounds && !missing {
				t.Errorf("%s, %v: %d of %d rounds", row.id, l, len(r.of(row.id, l)), r.start().Rounds)
			}
		}
	}
}

// A short measurement on a real Redis, beside real SETs.
func TestRealCell(t *testing.T) {
	if err := oneRedis.missing(); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
			t.Fatalf("%v, and LOCKSIM_REQUIRE_LIVE=1 asks for it", err)
		}
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
	base, err := newBaseline(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer base.close() //nolint:errcheck // the guard ends it
	r, err := openResults(filepath.Join(t.TempDir(), "results.jsonl"), start{Rounds: 1, Work: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // of a test
	m := &measurement{results: r, rows: rows[:1], rounds: 1, times: times{Window: 200 * time.Millisecond,
		Base: 100 * time.Millisecond}, baseline: base, progress: io.Discard}
	s, err := oneRedis.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.stop() //nolint:errcheck // the guard ends it
	version, err := oneRedis.version(t.Context(), s.groups[0].Servers()[0])
	if err != nil || !strings.HasPrefix(version, "Redis ") || len(version) < len("Redis 7.0") {
		t.Errorf("the version is %q, %v", version, err)
	}
	err = m.once(t.Context(), rows[0].id, loads[0], 1, func(ctx context.Context, l load) (cell, error) {
		return rows[0].measure(ctx, s, l, 1, m.times)
	})
	if err != nil {
		t.Fatal(err)
	}
	c := r.of(rows[0].id, loads[0])[0]
	if c.Cell.Grants == 0 || c.Base.Grants == 0 || c.Cell.Acquire.P50 <= 0 || c.Cell.Failed > 0 {
		text, _ := json.Marshal(c)
		t.Errorf("%s", text)
	}
	// a grant is two requests, but for those that the edges of the window cut
	if n := c.Cell.Traffic.Requests; n < 2*int64(c.Cell.Grants)-4 || n > 2*int64(c.Cell.Grants)+4 {
		t.Errorf("%d grants in %d requests", c.Cell.Grants, n)
	}
	if table := r.table(loads[0]); !strings.Contains(table, "| Redis | `single` | poll | ") {
		t.Errorf("the table is\n%s", table)
	}
}
