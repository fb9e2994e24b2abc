package publish

import (
	"fmt"
	"path/filepath"
	"strings"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/internal/campaign"
)

// Merge combines the records of each group, which are parts of one campaign, and publishes the results. workOf is the
// work whose results a record has.
func Merge(out *console.Console, o Options, groups [][]*campaign.Record,
	workOf func(*campaign.Record) (Work, error)) error {
	if err := outfile.PrepareFolder("out", o.Folder.Dir); err != nil {
		return err
	}
	c, err := NewCrew(out, o)
	if err != nil {
		return err
	}
	defer c.Close()
	pub := &publication{Console: out, form: o.Form}
	for _, group := range groups {
		all, err := campaign.Union(group...)
		if err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		dir := o.Folder.Dir
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
func (c *Crew) merge(w Work, r *campaign.Record, dir string, pub *publication) error {
	what := w.Campaign()
	err := what.FollowUp(c.Ctx, campaign.Options{Workers: c.workers, Watch: c.watch(w.Detail)}, r)
	c.Progress.Clear()
	if err != nil {
		return commandError(err, Folder{}, mergeInterrupted)
	}
	if err := outfile.PrepareFolder("out", dir); err != nil {
		return err
	}
	done, err := w.Finished(&Results{Crew: c, Record: r, Dir: dir})
	if err != nil {
		return err
	}
	if done.Missing > 0 && done.Problem == nil {
		done.Problem = Incomplete(done.Missing)
	}
	err = pub.add(dir, done, func() (Finished, error) { return w.Finished(&Results{Crew: c, Record: r}) })
	return commandError(err, Folder{}, mergeInterrupted)
}

// mergeInterrupted is the end of the message after Ctrl-C during merge.
const mergeInterrupted = ": the results of the shards are unchanged; give the same command again"
