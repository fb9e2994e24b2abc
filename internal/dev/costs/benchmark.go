package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// benchmarkRow is the row of redis-benchmark, which measures SETs on the same Redis as the baseline.
const benchmarkRow = "redis-benchmark"

// benchmarkLoads are those under which it runs: it gives each client the same key, unless -r is set.
var benchmarkLoads = []load{{1, 1}, {64, 1}}

// benchmarkArgs are its arguments, but for the port.
func benchmarkArgs(l load) []string {
	requests := 20_000
	if l.Clients > 1 {
		requests = 100_000
	}
	return []string{"-t", "set", "-c", strconv.Itoa(l.Clients), "-n", strconv.Itoa(requests), "-d",
		strconv.Itoa(valueBytes), "--csv"}
}

// benchmark lets redis-benchmark measure SETs.
func (m *measurement) benchmark(ctx context.Context, l load) (cell, error) {
	_, port, _ := strings.Cut(m.baseline.addr(), ":")
	args := benchmarkArgs(l)
	args = append([]string{"-h", "127.0.0.1", "-p", port}, args...)
	said, err := exec.CommandContext(ctx, benchmarkRow, args...).Output()
	if errors.Is(err, exec.ErrNotFound) {
		return cell{}, errors.New("there is no redis-benchmark on the PATH (Debian and Ubuntu: apt-get install redis-tools)")
	}
	if err != nil {
		return cell{}, err
	}
	return parseBenchmark(string(said))
}

// parseBenchmark reads the table that redis-benchmark prints with --csv.
func parseBenchmark(text string) (cell, error) {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) != 2 {
		return cell{}, fmt.Errorf("redis-benchmark printed no table of two lines: %q", text)
	}
	said := map[string]float64{}
	for i, name := range lines[0] {
		if said[name], err = strconv.ParseFloat(lines[1][i], 64); err != nil && name != "test" {
			return cell{}, fmt.Errorf("redis-benchmark printed %q for %s", lines[1][i], name)
		}
	}
	const rate, p50, p99 = "rps", "p50_latency_ms", "p99_latency_ms"
	for _, name := range []string{rate, p50, p99} {
		if said[name] <= 0 {
			return cell{}, fmt.Errorf("redis-benchmark printed no %s: %q", name, text)
		}
	}
	millis := func(name string) time.Duration { return time.Duration(said[name] * float64(time.Millisecond)) }
	return cell{Seconds: 1, Grants: int(said[rate]), Acquire: latency{P50: millis(p50), P99: millis(p99)}}, nil
}

// benchmark is the comparison with redis-benchmark, in Markdown.
func (r results) benchmark() string {
	lines := []string{"`redis-benchmark` on the Redis of the SETs, which has the same key for all its clients:", "",
		"| command | its SETs a second ÷ ours | its P50 ÷ ours |", "|---|---|---|"}
	for _, l := range benchmarkLoads {
		if cells := r.of(benchmarkRow, l); len(cells) > 0 {
			lines = append(lines, tableLine("`redis-benchmark "+strings.Join(benchmarkArgs(l), " ")+"`",
				over(cells, rate).String(), over(cells, acquire50).String()))
		}
	}
	return strings.Join(append(lines, "", "It is written in C, with one thread for all its clients; ours are goroutines "+
		"of Go, and take more of the\ncores that they share with the server.", ""), "\n")
}
