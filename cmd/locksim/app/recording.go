package app

import (
	"errors"
	"fmt"
	"io"
	"os"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// recording is a stored run and the name of its file.
type recording struct {
	name string
	run  *play.RunFile
}

// maxStored bounds the bytes of a stored run: no real one comes near.
const maxStored = 16 << 20

func readRecording(name string) (*recording, error) {
	data, err := readStored(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the stored run: %w: give the run.json that locksim run --out wrote", err)
	}
	if len(data) > maxStored {
		return nil, &file.InputError{Pos: faults.Pos{File: name}, Msg: fmt.Sprintf("this is no stored run: it is longer than %d MiB", maxStored>>20)}
	}
	run, err := play.ReadRunFile(name, data)
	if err != nil {
		return nil, err
	}
	return &recording{name: name, run: run}, nil
}

// readStored reads no more than it takes to see that a file is too long.
func readStored(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, maxStored+1))
}

// failed tells a stored run that cannot be made again, which is bad input, from
// one that came out differently. command is what was called.
func (r *recording) failed(err error, command string) error {
	if _, ok := errors.AsType[*file.InputError](err); ok {
		return fmt.Errorf("%s: this stored run cannot be made again: %w", r.name, err)
	}
	return &brokenError{cause: err, seed: fmt.Sprintf("seed %d", r.run.Seed), replay: command}
}
