package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"locksim/internal/campaign"
)

// readResults reads all that files and folders have, in groups of one kind and
// one lock.
func readResults(args []string) ([][]*campaign.Record, error) {
	var all [][]*campaign.Record
	for _, arg := range args {
		names, err := resultFiles(arg)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			r, err := readResult(name)
			if err != nil {
				return nil, err
			}
			if r != nil {
				all = grouped(all, r)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there are no results in %s: give what explore or sweep wrote with --out", strings.Join(args, ", "))
	}
	return all, nil
}

// grouped adds a record to those of its kind and lock.
func grouped(all [][]*campaign.Record, r *campaign.Record) [][]*campaign.Record {
	for i, group := range all {
		if group[0].Kind == r.Kind && lockOf(group[0]) == lockOf(r) {
			all[i] = append(group, r)
			return all
		}
	}
	return append(all, []*campaign.Record{r})
}

// readResult reads a file. It is nil for the journal of a shard that has not
// begun.
func readResult(name string) (*campaign.Record, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the results: %w", err)
	}
	r, err := campaign.Read(name, data)
	if errors.Is(err, campaign.ErrEmpty) && strings.HasSuffix(name, ".jsonl") {
		return nil, nil
	}
	return r, err
}

// lockOf is the lock that results are about.
func lockOf(r *campaign.Record) string {
	var plan struct {
		Lock string `json:"lock"`
	}
	if json.Unmarshal(r.Plan, &plan) != nil {
		return ""
	}
	return plan.Lock
}

// resultFiles are the files that an argument means, sorted.
func resultFiles(arg string) ([]string, error) {
	info, err := os.Stat(arg)
	if err != nil {
		return nil, fmt.Errorf("cannot read the results: %w", err)
	}
	if !info.IsDir() {
		return []string{arg}, nil
	}
	var files []string
	err = filepath.WalkDir(arg, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains(resultNames, d.Name()) {
			files = append(files, name)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no results: there is no %s in it", arg, strings.Join(resultNames, " or "))
	}
	return files, err
}

// resultNames are the files that explore and sweep write.
var resultNames = []string{"explore.json", "explore.jsonl", "sweep.json", "sweep.jsonl"}
