package sim_test

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"

	"locksim/faults"
	"locksim/sim"
)

// TestErrorsReadAlikeEverywhere shows that the errors of the network have the number of the operating system, by which
// programs know them, and a text that is the same on each.
func TestErrorsReadAlikeEverywhere(t *testing.T) {
	for _, tt := range []struct {
		name string
		fail func(w *sim.World, p *sim.Process) error
		is   error
		text string
	}{
		{"refused", func(w *sim.World, p *sim.Process) error {
			w.Do(func() { must(t, w.Faults().Crash("r0", faults.CrashProcess)) })
			_, err := p.Dial(context.Background(), "tcp", "r0")
			return err
		}, syscall.ECONNREFUSED, "dial tcp r0: connect: connection refused"},
		{"reset", func(w *sim.World, p *sim.Process) error {
			c := dial(p, "n0")
			resetNow(w)
			return readErr(c)
		}, syscall.ECONNRESET, "read tcp c0->n0: read: connection reset by peer"},
		{"finished", func(_ *sim.World, p *sim.Process) error {
			c := dial(p, "r0")
			_ = c.CloseWrite()
			return writeErr(c)
		}, syscall.EPIPE, "write tcp c0->r0: write: broken pipe"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			solo(t, sim.Config{}, func(w *sim.World, p *sim.Process, _ *Sink) {
				err := tt.fail(w, p)
				if !errors.Is(err, tt.is) || err.Error() != tt.text {
					t.Errorf("%v, want %s", err, tt.text)
				}
				op, _ := errors.AsType[*net.OpError](err)
				call, _ := errors.AsType[*os.SyscallError](err)
				if op == nil || op.Timeout() || op.Temporary() || call == nil {
					t.Fatalf("%#v, want a net.OpError of a system call, that is neither a timeout nor temporary", err)
				}
				if _, own := call.Err.(syscall.Errno); own { //nolint:errorlint // it is the text of this one error
					t.Errorf("the text of %v is that of the operating system", err)
				}
			})
		})
	}
}
