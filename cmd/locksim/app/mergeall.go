package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/internal/campaign"
)

// mergeAll combines the records of each group, which are parts of one campaign, and publishes the results. workOf is the
// work whose results a record has.
func mergeAll(out *console.Console, o options, groups [][]*campaign.Record, workOf func(*campaign.Record) (work, error)) error {
	if err := outfile.PrepareFolder(o.folder.dir); err != nil {
		return err
	}
	c, err := newCrew(out, o)
	if err != nil {
		return err
	}
	defer c.close()
	pub := &publication{Console: out, form: o.form}
	for _, group := range groups {
		all, err := campaign.Union(group...)
		if err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		dir := o.folder.dir
		if dir != "" && len(groups) > 1 {
			dir = filepath.Join(dir, strings.ReplaceAll(all.Lock(), "/", "-"))
		}
		w, err := workOf(all)
		if err != nil {
			return err
		}
		if err := c.merge(w, all, dir, pub); err != nil {
			return err
		}
	}
	return pub.end()
}

// merge publishes a campaign that other commands have run.
func (c *crew) merge(w work, r *campaign.Record, dir string, pub *publication) error {
	what := w.campaign()
	err := what.FollowUp(c.ctx, campaign.Options{Workers: c.workers, Watch: c.watch(w.detail)}, r)
	c.progress.Clear()
	if err != nil {
		return commandError(err, resultFolder{}, mergeInterrupted)
	}
	if err := outfile.PrepareFolder(dir); err != nil {
		return err
	}
	done, err := w.finished(&results{crew: c, Record: r, dir: dir})
	if err != nil {
		return err
	}
	if done.missing > 0 && done.problem == nil {
		done.problem = incomplete(done.missing)
	}
	err = pub.add(dir, done, func() (finished, error) { return w.finished(&results{crew: c, Record: r}) })
	return commandError(err, resultFolder{}, mergeInterrupted)
}

// mergeInterrupted is the end of the message after Ctrl-C during merge.
const mergeInterrupted = ": the results of the shards are unchanged; give the same command again"
