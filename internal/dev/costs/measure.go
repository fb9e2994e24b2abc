package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"locksim/internal/live/server"
	"locksim/internal/prose"
	"locksim/lock"
)

// patience is how long servers may take to start, and a client to have its first lock.
const patience = time.Minute

// measurement measures what is missing of the results.
type measurement struct {
	results  results
	rows     []row // of the systems that are there
	rounds   int
	times    times
	folder   string
	baseline *baseline
	progress io.Writer
	began    time.Time
	done     int // cells of this run
}

// all counts the cells of a measurement.
func (m *measurement) all() (n int) {
	for _, r := range m.rows {
		n += m.rounds * len(r.loads())
	}
	return n + m.rounds*len(benchmarkLoads)
}

// run measures all rounds.
func (m *measurement) run(ctx context.Context) error {
	m.began = time.Now()
	for round := 1; round <= m.rounds; round++ {
		if err := m.disk(round); err != nil {
			return fmt.Errorf("write to the folder of the data: %w", err)
		}
		for _, l := range benchmarkLoads {
			if err := m.once(ctx, benchmarkRow, l, round, m.benchmark); err != nil {
				return err
			}
		}
		for _, s := range systemsOf(m.rows) {
			if err := m.system(ctx, s, round); err != nil {
				return fmt.Errorf("%s, round %d: %w", s.name, round, err)
			}
		}
	}
	return nil
}

// systemsOf are the systems of some rows, each once.
func systemsOf(rows []row) (all []*system) {
	for i, r := range rows {
		if i == 0 || rows[i-1].on != r.on {
			all = append(all, r.on)
		}
	}
	return all
}

// system measures the rows on a system in one round, with servers that are started for that.
func (m *measurement) system(ctx context.Context, on *system, round int) (err error) {
	if m.has(on, round) {
		return nil
	}
	starting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := on.run(starting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	version, err := on.version(starting, s.groups[0].Servers()[0])
	if err != nil {
		return fmt.Errorf("ask for the version: %w", err)
	}
	if err := m.results.Add(result{ID: "server " + on.name, Server: &about{on.name, version, on.keeps}}); err != nil {
		return err
	}
	if err := m.warmUp(ctx, on, s); err != nil {
		return fmt.Errorf("warm the servers up: %w", err)
	}
	for _, r := range m.rows {
		if r.on != on {
			continue
		}
		for _, l := range r.loads() {
			err := m.once(ctx, r.id, l, round, func(ctx context.Context, l load) (cell, error) {
				return r.measure(ctx, s, l, round, m.times)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// warmUp lets servers that compile what they run often do so: all clients have locks for the time of a cell.
func (m *measurement) warmUp(ctx context.Context, on *system, s *servers) error {
	if !on.compiles {
		return nil
	}
	i := slices.IndexFunc(m.rows, func(r row) bool { return r.on == on })
	_, err := m.rows[i].measure(ctx, s, loads[len(loads)-1], 0, m.times)
	if errors.Is(err, errNone) { // they are as slow as that
		return nil
	}
	return err
}

// has says that a system has all cells of a round.
func (m *measurement) has(on *system, round int) bool {
	for _, r := range m.rows {
		for _, l := range r.loads() {
			if _, ok := m.results.Latest(cellID(r.id, l, round)); r.on == on && !ok {
				return false
			}
		}
	}
	return true
}

// once measures a cell that is missing, right after as many clients with SETs.
func (m *measurement) once(ctx context.Context, row string, l load, round int,
	measure func(context.Context, load) (cell, error)) error {
	id := cellID(row, l, round)
	if _, ok := m.results.Latest(id); ok {
		return nil
	}
	base, err := m.baseline.measure(ctx, l.Clients, m.times)
	if err != nil {
		return err
	}
	c, err := measure(ctx, l)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return fmt.Errorf("%s, %v: %w", row, l, err)
	}
	m.done++
	_, _ = fmt.Fprintf(m.progress, "%s round %d: %s, %v: %s a second, and %s\n",
		time.Since(m.began).Round(time.Second), round, row, l, prose.Count(int(c.rate()), "grant"),
		prose.Count(int(base.rate()), "SET"))
	return m.results.Add(result{ID: id, Cell: &measured{Row: row, load: l, Round: round, Cell: c, Base: base}})
}

// measure measures a row under a load. Each client has had a lock on a key of its own before, so that it is connected.
func (r row) measure(ctx context.Context, s *servers, l load, round int, t times) (_ cell, err error) {
	tap := tap{http2: r.on.kind == server.Etcd}
	lockers, closeAll, err := r.clients(ctx, s, l, &tap)
	defer closeAll()
	if err != nil {
		return cell{}, err
	}
	name := strings.ReplaceAll(fmt.Sprintf("costs-%s-%d-%d-%d", r.id, round, l.Clients, l.Keys), " ", "-")
	return l.run(ctx, lockers, name, t, &tap)
}

// clients makes the clients of a row.
func (r row) clients(ctx context.Context, s *servers, l load, tap *tap) (lockers []lock.Locker, closeAll func(),
	err error) {
	var all sync.WaitGroup
	lockers = make([]lock.Locker, l.Clients)
	closes, failed := make([]func(), l.Clients), make([]error, l.Clients)
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	atOnce := make(chan struct{}, 8) // more would time each other out
	for i := range lockers {
		if lockers[i], closes[i], failed[i] = r.new(ctx, s, tap); failed[i] != nil {
			break
		}
		all.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			lease, err := lockers[i].Acquire(limited, fmt.Sprintf("first-%d", i))
			if err == nil {
				err = lease.Release(limited)
			}
			failed[i] = err
		})
	}
	all.Wait()
	if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); i >= 0 {
		return nil, closer(closes), fmt.Errorf("the first lock of client %d: %w", i, failed[i])
	}
	return lockers, closer(closes), nil
}

// closer closes all, at the same time.
func closer(closes []func()) func() {
	return func() {
		var all sync.WaitGroup
		for _, f := range closes {
			if f != nil {
				all.Go(f)
			}
		}
		all.Wait()
	}
}

// syncs is how often the disk is asked to sync.
const syncs = 200

// disk measures what a sync costs in the folder of the data.
func (m *measurement) disk(round int) error {
	id := fmt.Sprintf("disk round %d", round)
	if _, ok := m.results.Latest(id); ok {
		return nil
	}
	f, err := os.Create(filepath.Join(m.folder, fmt.Sprintf("locksim-costs-%d", os.Getpid())))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // a file without use
	defer f.Close()           //nolint:errcheck // as above
	var all []time.Duration
	page := make([]byte, 4096)
	for range syncs {
		began := time.Now()
		if _, err := f.Write(page); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		all = append(all, time.Since(began))
	}
	return m.results.Add(result{ID: id, Disk: &disk{Round: round, Sync: latencyOf(all)}})
}
