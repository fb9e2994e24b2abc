package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/cmd/locksim/internal/works"
	"locksim/internal/prose"
	"locksim/internal/worlds"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// checkLive refuses flags that only one of the two matrices has.
func (f *matrixFlags) checkLive(flags *pflag.FlagSet) error {
	for _, other := range []string{"csv", "junit", "keep", "no-runs", "shard", "shards", "from-seed"} {
		if f.live && flags.Changed(other) {
			return fmt.Errorf("--%s and --live: a matrix of both worlds has no such form: leave one of them out", other)
		}
	}
	return f.liveFlag.check(flags)
}

// The files of a matrix of both worlds in its folder.
const (
	worldsJournal = "live.jsonl"
	worldsPage    = "LIVE.md"
	worldsJSON    = "live.json"
)

// runLive is the matrix command with --live.
func (f matrixFlags) runLive(s *shell, byLock bool) error {
	if err := errors.Join(f.oneForm(), f.crewFlags.check()); err != nil {
		return err
	}
	plan, err := f.plan(s)
	if err != nil {
		return err
	}
	if f.resume && f.out == "" {
		return errors.New("--resume: name the folder of the results, with --out")
	}
	o := worlds.Options{Plan: plan, Seeds: outcome.Seeds{First: f.from, Last: f.from + uint64(f.seeds) - 1},
		ByLock: byLock, Extra: s.Extra,
		Times: f.times, Together: f.workers, Scale: f.scale, Replay: liveAgain(s)}
	if o.Together == 0 {
		o.Together = works.LiveTogether
	}
	if f.out != "" {
		if err := outfile.PrepareFolder("out", f.out); err != nil {
			return err
		}
		o.Journal = filepath.Join(f.out, worldsJournal)
		if _, err := os.Stat(o.Journal); err == nil && !f.resume {
			return fmt.Errorf("--out %s: %s: there are results of an earlier run: continue with --resume, or give another "+
				"folder", f.out, o.Journal)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := console.NewProgress(s.Console, f.quiet)
	o.Step = func(what string, done, of int) { p.Show(fmt.Sprintf("%d of %d %s", done, of, what)) }
	t, err := worlds.Compare(ctx, o)
	p.End()
	if ctx.Err() != nil {
		err = errors.New("the matrix was interrupted; with --out it continues with --resume")
	}
	if _, ok := errors.AsType[*file.InputError](err); ok || t == nil {
		return err
	}
	if f.out != "" {
		err = errors.Join(err, storeWorlds(f.out, t))
	}
	if shown := showWorlds(s, t, f.form()); shown != nil {
		return shown
	}
	if err != nil {
		return &console.BrokenError{Cause: err}
	}
	if t.Sums().Played == 0 {
		return &console.BrokenError{Cause: errors.New("no pair was played in both worlds: the table says why")}
	}
	if open := t.Open(); len(open) > 0 {
		for _, line := range open {
			s.Note(line)
		}
		s.Note(prose.Count(len(open), "difference") + " without an explanation: give a larger --scale, or the machine less " +
			"to do; what stays so is a mistake of one of the two worlds: report it")
		return console.ErrUnexpected
	}
	return nil
}

// storeWorlds writes the table into a folder.
func storeWorlds(dir string, t *worlds.Table) error {
	b, err := t.JSON()
	if err != nil {
		return err
	}
	var page strings.Builder
	if err := t.Markdown(&page); err != nil {
		return err
	}
	return outfile.WriteAll(dir, []outfile.Document{{Name: worldsPage, Data: []byte(page.String())},
		{Name: worldsJSON, Data: b}})
}

func showWorlds(s *shell, t *worlds.Table, form publish.Form) error {
	switch form {
	case publish.AsJSON:
		b, err := t.JSON()
		if err != nil {
			return &console.BrokenError{Cause: err}
		}
		_, err = s.Out.Write(b)
		return s.Print(err)
	case publish.AsMarkdown:
		return s.Print(t.Markdown(s.Out))
	}
	return s.Print(t.Text(s.Out))
}

// liveAgain makes the commands that play a pair live.
func liveAgain(s *shell) func(scenario, lock string, scale float64, modes []fence.Mode) string {
	again := runfiles.Again(s.Console)
	return func(scenario, lock string, scale float64, modes []fence.Mode) string {
		return again(scenario, lock, 1, modes...) + runfiles.LiveFlags(&outcome.Live{Scale: scale})
	}
}
