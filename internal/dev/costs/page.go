package main

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"time"
	"unicode"

	"locksim/internal/prose"
	"locksim/scenarios/outcome/comparisons"
)

//go:embed page.md.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"rounds": func(n int) string { return prose.Count(n, "round") },
	"time":   whole,
}).Parse(pageText))

// whole is a time with its unit after a blank: 3 s, 2 ms, 2.5 ms.
func whole(d time.Duration) string {
	text := d.String()
	i := strings.IndexFunc(text, unicode.IsLetter)
	return text[:i] + " " + text[i:]
}

// content is what the page shows.
type content struct {
	Start             *start
	Files, Sync, Disk string
	Servers           []*about
	Missing, SETs     []string
	One, Apart        string
	Eight, Crowd      string
	Most              string
	Few               int
	Notes, Claims     []string
	Benchmark         string
	Hand, Trips       []string
}

// page is the page of the results: of them alone.
func (r results) page() (string, error) {
	s := r.start()
	c := content{Start: s, Files: s.Files + " on " + s.Device, Sync: r.sync(), Disk: onDisk(s.Files), Servers: r.servers(),
		Missing: missing(s), SETs: r.sets(), Most: figure(1 / s.Work.Seconds()), Few: few, Notes: r.notes(),
		Claims:    r.claims(),
		Benchmark: r.benchmark(), Hand: r.byHand(), Trips: r.trips()}
	c.One, c.Apart, c.Eight, c.Crowd = r.table(loads[0]), r.table(loads[3]), r.table(loads[1]), r.table(loads[2])
	var b strings.Builder
	err := pageTemplate.Execute(&b, c)
	return b.String(), err
}

// onDisk says what a file system means for the figures.
func onDisk(files string) string {
	if files == "tmpfs" {
		return "It is memory: a sync costs nothing there, and the locks that sync look cheaper than they are."
	}
	return "It is a disk, as far as the system says: one that lies about its syncs would not be noticed."
}

func missing(s *start) (all []string) {
	for _, system := range slices.Sorted(maps.Keys(s.Missing)) {
		all = append(all, system+": "+s.Missing[system])
	}
	return all
}

// servers are the systems in the order of their rows.
func (r results) servers() (all []*about) {
	for _, s := range systemsOf(rows) {
		if l, ok := r.Latest("server " + s.name); ok {
			all = append(all, l.Server)
		}
	}
	return all
}

// few is the number of grants below which P99 is the longest of all.
const few = 100

// table has a line for each row under a load.
func (r results) table(l load) string {
	head := []string{"servers", "lock", "waits", "grants/s", "acquire P50", "P99", "release P50", "P99"}
	if !l.alone() {
		head = append(head, "hand-over P50", "P99")
	}
	head = append(head, "requests", "bytes")
	lines := []string{tableLine(head...), strings.Repeat("|---", len(head)) + "|"}
	for _, row := range rows {
		cells := r.of(row.id, l)
		if len(cells) == 0 || row.hand {
			continue
		}
		mark := ""
		if slices.ContainsFunc(cells, func(c *measured) bool { return c.Cell.Grants < few }) {
			mark = "‡"
		}
		at := func(of func(*measured) float64) string { return over(cells, of).String() }
		fields := []string{row.on.name, "`" + row.lock + "`", row.waits, at(rate), at(acquire50), at(acquire99) + mark,
			at(release50), at(release99) + mark}
		if !l.alone() {
			fields = append(fields, at(handover50), at(handover99)+mark)
		}
		lines = append(lines, tableLine(append(fields, at(requests), at(bytes))...))
	}
	return strings.Join(lines, "\n") + "\n"
}

// tableLine is a line of a table, without its end.
func tableLine(fields ...string) string { return "| " + strings.Join(fields, " | ") + " |" }

// sync is how long a sync takes, over the rounds.
func (r results) sync() string {
	var all []float64
	for _, l := range r.All() {
		if l.Disk != nil {
			all = append(all, float64(l.Disk.Sync.P50))
		}
	}
	return absolute(spreadOf(all))
}

// absolute is a spread of times in nanoseconds.
func absolute(s spread) string {
	return fmt.Sprintf("%s [%s, %s]", short(s.Median), short(s.Least), short(s.Most))
}

// short is a time in nanoseconds with three digits: 85.3 µs, 1.20 ms.
func short(ns float64) string {
	switch d := time.Duration(ns); {
	case d < time.Millisecond:
		return figure(ns/1e3) + " µs"
	case d < time.Second:
		return figure(ns/1e6) + " ms"
	default:
		return figure(ns/1e9) + " s"
	}
}

// sets are the SETs of all cells, by the number of clients.
func (r results) sets() (lines []string) {
	clients := map[int][]*measured{}
	for _, c := range r.cells() {
		clients[c.Clients] = append(clients[c.Clients], c)
	}
	for _, n := range slices.Sorted(maps.Keys(clients)) {
		at := func(of func(*measured) float64) spread { return over(clients[n], of) }
		lines = append(lines, tableLine(fmt.Sprint(n), at(func(c *measured) float64 { return c.Base.rate() }).String(),
			absolute(at(func(c *measured) float64 { return float64(c.Base.Acquire.P50) })),
			absolute(at(func(c *measured) float64 { return float64(c.Base.Acquire.P99) }))))
	}
	return lines
}

// notes say where clients had no grant, and where calls failed.
func (r results) notes() (all []string) {
	for _, row := range rows {
		for _, l := range row.loads() {
			idle, failed, cells := 0, 0, r.of(row.id, l)
			for _, c := range cells {
				idle, failed = max(idle, l.Clients-c.Cell.Served), failed+c.Cell.Failed
			}
			name := fmt.Sprintf("%s, `%s`, %s, %v", row.on.name, row.lock, row.waits, l)
			if idle > 0 {
				all = append(all, fmt.Sprintf("%s: in one round %s had no grant in the window, and P99 has no wait of theirs.",
					name, prose.Count(idle, "client")))
			}
			if failed > 0 {
				all = append(all, fmt.Sprintf("%s: %s failed in all rounds together, and the client asked again.", name,
					prose.Count(failed, "call")))
			}
		}
	}
	return all
}

// trips are the round trips of each lock.
func (r results) trips() (lines []string) {
	all := r.start().Trips
	seen := map[string]bool{}
	for _, row := range slices.Backward(rows) { // the last row of a lock is that of the largest cluster
		t, ok := all[row.lock]
		if !ok || seen[row.lock] || row.hand {
			continue
		}
		seen[row.lock] = true
		here := "–"
		if cells := r.of(row.id, loads[0]); len(cells) > 0 {
			here = over(cells, acquire50).String()
		}
		lines = append(lines, tableLine(slices.Concat([]string{"`" + row.lock + "`"}, costs(t), []string{here})...))
	}
	slices.Reverse(lines)
	return lines
}

// byHand are the lock on etcd, the least that one does, and their ratio.
func (r results) byHand() (lines []string) {
	const ours, hand = "etcd 1", "etcd 1 by hand"
	figures := []func(*measured) float64{acquire50, release50, requests, bytes}
	for _, id := range []string{ours, hand} {
		cells := r.of(id, loads[0])
		if len(cells) == 0 {
			return nil
		}
		fields := []string{map[string]string{ours: "`etcd`", hand: "by hand"}[id]}
		for _, of := range figures {
			fields = append(fields, over(cells, of).String())
		}
		lines = append(lines, tableLine(fields...))
	}
	fields := []string{"`etcd` ÷ by hand"}
	for _, of := range figures {
		s, _ := r.between(ours, hand, loads[0], of)
		fields = append(fields, s.String())
	}
	return append(lines, tableLine(fields...))
}

// latencies are those of the columns.
var latencies = []time.Duration{500 * time.Microsecond, 5 * time.Millisecond, 50 * time.Millisecond}

// costs are the round trips of a lock, and how long they take.
func costs(t comparisons.Trips) []string {
	both := t.Acquire.RoundTrips + t.Release.RoundTrips
	fields := []string{fmt.Sprint(t.Acquire.RoundTrips), fmt.Sprint(t.Release.RoundTrips)}
	for _, l := range latencies {
		fields = append(fields, whole(time.Duration(both)*l))
	}
	return fields
}
