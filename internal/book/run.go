package book

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Output runs a command. It returns what the command prints, also where it fails, and the CPU time that it took. The
// error has what it prints on standard error, and wraps an [exec.ExitError] where it ran.
func Output(cmd *exec.Cmd) (text []byte, cpu time.Duration, err error) {
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return nil, 0, err
	}
	cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, diagnostics.String())
	}
	return out.Bytes(), cpu, err
}

// Ask runs a program that answers in JSON. The exit code 1 comes with an answer: it is that of a command of locksim
// that has seen a violation. The error is as that of [Output].
func Ask(answer any, program string, args ...string) (cpu time.Duration, err error) {
	text, cpu, err := Output(exec.Command(program, args...))
	if ended, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || ended.ExitCode() != 1) {
		return cpu, err
	}
	if wrong := json.Unmarshal(text, answer); wrong != nil {
		return cpu, errors.Join(err, fmt.Errorf("the answer of %s %s: %w", program, strings.Join(args, " "), wrong))
	}
	return cpu, nil
}

// Ended is returned when a command of locksim has ended with another code than 0. The command has said why.
type Ended struct{ Code int }

func (e Ended) Error() string {
	return fmt.Sprintf("the command has ended with the exit code %d", e.Code)
}

// Call runs a command of locksim in a program, with the streams of this one. What it prints names the program as it is
// called, which can be called again, and not its file, which is removed afterwards. The error is an [Ended] if it ran.
func Call(program, called string, words []string) error {
	cmd := exec.Command(program, words...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "LOCKSIM_COMMAND="+called)
	err := cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.Exited() {
		return Ended{ended.ExitCode()}
	}
	return err
}
