package records

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"locksim/scenarios/outcome"
)

// Keeper stores the records of the runs of a job in one file. Nil is a keeper that stores nothing.
type Keeper struct {
	dir, name string
	data      bytes.Buffer
	to        *Writer
}

// Keep begins the file of a job in a folder. It returns nil for the folder "".
func Keep(dir string, job int) (*Keeper, error) {
	if dir == "" {
		return nil, nil
	}
	k := &Keeper{dir: dir, name: fmt.Sprintf("job-%06d%s", job, Suffix)}
	var err error
	k.to, err = NewWriter(&k.data)
	return k, err
}

// Add adds a run by its name in the campaign; nil is one that did not end, and has no record.
func (k *Keeper) Add(name string, o *outcome.Outcome) error {
	if k == nil || o == nil {
		return nil
	}
	r, err := Of(name, o)
	if err != nil {
		return fmt.Errorf("keep the record of %s: %w", name, err)
	}
	return k.to.Write(r)
}

// Close writes the file, all of it or nothing.
func (k *Keeper) Close() error {
	if k == nil {
		return nil
	}
	err := errors.Join(k.to.Close(), os.MkdirAll(k.dir, 0o777))
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(k.dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(k.data.Bytes())
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), filepath.Join(k.dir, k.name))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("store the records of %s: %w", k.name, err), os.Remove(temporary.Name()))
	}
	return nil
}
