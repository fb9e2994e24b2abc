package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// program is the command locksim. Its methods are safe for concurrent use.
type program struct {
	command []string // how it is called
	out     string   // the folder of the stored runs
	stored  atomic.Int64
}

// The exit codes of the command.
const (
	exitExpected  = 0
	exitViolation = 1
)

// Answer is what a tool returns.
type Answer struct {
	ExitCode int    `json:"exit_code" jsonschema:"0: as expected. 1: a violation, or a label worse than expected"`
	Meaning  string `json:"meaning" jsonschema:"what the exit code means"`
	Folder   string `json:"folder,omitempty" jsonschema:"the folder with what was stored"`
	// Files are the stored runs.
	Files    []string `json:"files,omitempty" jsonschema:"stored runs, for replay and explain"`
	Timeline string   `json:"timeline,omitempty" jsonschema:"the run step by step, with a column for each client and server"`
	Note     string   `json:"note,omitempty" jsonschema:"what the command has said on standard error"`
	Document any      `json:"document" jsonschema:"the document that the command has printed; locksim schema has its schema"`
}

// call calls the command and returns its document. A wrong input, a failure of locksim, and output that is no document
// are errors with what the command has said.
func (p *program) call(ctx context.Context, args ...string) (Answer, error) {
	out, said, code, err := p.output(ctx, args...)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{ExitCode: code, Meaning: "as expected, no violation", Note: said}
	if code == exitViolation {
		a.Meaning = "a violation, or a label worse than expected"
	}
	if !json.Valid(out) {
		return a, fmt.Errorf("locksim %s has printed no document: %s", strings.Join(args, " "), said)
	}
	a.Document = json.RawMessage(out)
	return a, nil
}

// output is what the command prints on both streams, if it ends as expected or with a violation.
func (p *program) output(ctx context.Context, args ...string) (out []byte, said string, code int, err error) {
	args = append(append([]string{}, p.command[1:]...), args...)
	cmd := exec.CommandContext(ctx, p.command[0], args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	const patience = 5 * time.Second
	cmd.WaitDelay = patience
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	said = strings.TrimSpace(stderr.String())
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return nil, said, 0, fmt.Errorf("start %s: %w", p.command[0], err)
	}
	code = cmd.ProcessState.ExitCode()
	switch {
	case ctx.Err() != nil:
		return nil, said, code, ctx.Err()
	case code != exitExpected && code != exitViolation:
		return nil, said, code, fmt.Errorf("exit code %d: %s", code, said)
	}
	return stdout.Bytes(), said, code, nil
}

func (p *program) folder(kind string) (string, error) {
	for {
		dir := filepath.Join(p.out, fmt.Sprintf("%s-%d", kind, p.stored.Add(1)))
		err := os.Mkdir(dir, 0o755)
		if !errors.Is(err, os.ErrExist) { // that of an earlier server
			return dir, err
		}
	}
}
