package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadFiles reads the records in files and folders, in groups of one kind and one lock.
// In a folder and its subfolders it reads the files whose names are in names.
func ReadFiles(paths, names []string) ([][]*Record, error) {
	var groups [][]*Record
	for _, path := range paths {
		files, err := filesIn(path, names)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("cannot read the results: %w", err)
			}
			r, err := Read(file, data)
			if errors.Is(err, ErrEmpty) && filepath.Ext(file) == JournalSuffix {
				continue // a shard that has written nothing yet
			}
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(groups, func(g []*Record) bool { return g[0].Kind == r.Kind && g[0].Lock() == r.Lock() })
			if i < 0 {
				i, groups = len(groups), append(groups, nil)
			}
			groups[i] = append(groups[i], r)
		}
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("there are no results in %s: give the folders in which shards have stored theirs",
			strings.Join(paths, ", "))
	}
	return groups, nil
}

// filesIn are the files at a path: the path itself or, of a folder, those with one of
// the names, sorted.
func filesIn(path string, names []string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the results: %w: give the folders in which shards have stored theirs", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains(names, d.Name()) {
			files = append(files, name)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no results: there is no %s in it", path, strings.Join(names, " or "))
	}
	return files, err
}

// Lock is the lock that the plan of the campaign names, or "".
func (r *Record) Lock() string {
	var plan struct {
		Lock string `json:"lock"`
	}
	if json.Unmarshal(r.Plan, &plan) != nil {
		return ""
	}
	return plan.Lock
}
