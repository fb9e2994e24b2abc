package app

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/internal/campaign"
	"locksim/internal/runfolder"
)

// crewFlags are the flags of the commands that start child processes.
type crewFlags struct {
	out     string
	json    bool
	workers int
	quiet   bool
}

func (f *crewFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.json, "json", false, "print one JSON document instead of the report; see locksim schema")
	flags.IntVar(&f.workers, "workers", 0, "`N` child processes (default: one per core)")
	flags.BoolVar(&f.quiet, "quiet", false, "write no progress")
}

// form is how the results are printed.
func (f crewFlags) form() publish.Form {
	if f.json {
		return publish.AsJSON
	}
	return publish.AsText
}

// maxWorkers limits the number of processes: a mistyped number must not start more.
const maxWorkers = 1024

var workersHint = fmt.Sprintf("give a number from 1 to %d, or leave it out for one per core", maxWorkers)

func (f crewFlags) check() error {
	if f.workers < 0 || f.workers > maxWorkers {
		return fmt.Errorf("--workers %d: %s", f.workers, workersHint)
	}
	return nil
}

// campaignFlags are the flags of the commands that run campaigns.
type campaignFlags struct {
	crewFlags
	shard  string
	shards int
	keep   bool
	resume bool
	// records asks for the record of every run; explore and sweep have it.
	records bool
}

const outUsage = "store the results in `DIR`, each as soon as it is known"

func (f *campaignFlags) add(flags *pflag.FlagSet) {
	f.crewFlags.add(flags)
	flags.StringVar(&f.shard, "shard", "", "do shard `I/N` of the work, such as 0/8 for the first of eight")
	flags.IntVar(&f.shards, "shards", 0, "do one of `N` shards: the one whose number is in the "+
		"variable "+indexVariable+", as in an Indexed Job of Kubernetes")
	flags.BoolVar(&f.resume, "resume", false, "continue from the results in the folder of --out")
}

// indexVariable is the environment variable in which Kubernetes gives a pod of an
// Indexed Job its number.
const indexVariable = "JOB_COMPLETION_INDEX"

// check refuses flags that make no sense together, and returns the shard that they name.
func (f campaignFlags) check(getenv func(string) string) (campaign.Shard, error) {
	if err := f.crewFlags.check(); err != nil {
		return campaign.Shard{}, err
	}
	switch {
	case f.keep && f.out != "":
		return campaign.Shard{}, publish.ErrKeepAndOut
	case f.resume && f.out == "" && !f.keep:
		return campaign.Shard{}, errors.New("--resume: name the folder of the results, with --out or --keep")
	case f.records && f.out == "" && !f.keep:
		return campaign.Shard{}, errors.New("--records: name the folder for the records, with --out or --keep")
	case f.shard != "" && f.shards != 0:
		return campaign.Shard{}, errors.New("--shard and --shards: choose one; --shards takes the number of the shard from " +
			indexVariable)
	case f.shard != "":
		shard, err := campaign.ParseShard(f.shard)
		return shard, withFlags("--shard "+console.Quote(f.shard), err)
	case f.shards != 0:
		return indexedShard(f.shards, getenv(indexVariable))
	}
	return campaign.Shard{}, nil
}

// indexedShard is the shard that the environment names.
func indexedShard(n int, index string) (campaign.Shard, error) {
	i, err := strconv.Atoi(index)
	if err != nil {
		return campaign.Shard{}, fmt.Errorf("--shards %d: %s is %q and not the number of a shard: Kubernetes sets it in an "+
			"Indexed Job; elsewhere say --shard 0/%d",
			n, indexVariable, index, n)
	}
	shard, err := campaign.NewShard(i, n)
	return shard, withFlags(fmt.Sprintf("--shards %d, %s %d", n, indexVariable, i), err)
}

// withFlags puts the flags that an error is about before it.
func withFlags(flags string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flags, err)
}

// wholeOnly refuses flags that need the whole campaign, in a shard that has no
// document. asked are those of these flags that are set.
func (f campaignFlags) wholeOnly(shard campaign.Shard, what string, asked ...string) error {
	switch {
	case shard.Whole():
		return nil
	case f.out == "" && !f.keep:
		return fmt.Errorf("a shard of a %s has to store its results for merge: name a folder with --out", what)
	case len(asked) > 0:
		return fmt.Errorf("%s: a shard has no %s to show: give this flag to merge, or leave it out", asked[0], what)
	}
	return nil
}

// options are the flags as the campaigns take them.
func (f campaignFlags) options(shard campaign.Shard, to publish.Folder, form publish.Form) publish.Options {
	return publish.Options{Shard: shard, Resume: f.resume, Workers: f.workers, Quiet: f.quiet, Folder: to, Form: form,
		Records: f.records}
}

// keepUsage is the help text of --keep.
const keepUsage = "as --out, into a new folder in " + runfolder.Default + ", with an index of all: see locksim serve"

// recordsUsage is the help text of --records.
const recordsUsage = "with --out or --keep, also store the record of every run, some kilobytes each, for locksim judge"

// csvUsage is the usage of --csv.
const csvUsage = "print a table as CSV instead of the report"

// oneForm refuses more than one of the flags that choose a form, by their names.
func oneForm(asked map[string]bool) error {
	var on []string
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if asked[name] {
			on = append(on, name)
		}
	}
	if len(on) > 1 {
		return fmt.Errorf("%s: choose one; --out writes all of them", strings.Join(on, " and "))
	}
	return nil
}
