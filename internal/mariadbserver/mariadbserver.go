//go:build linux

package mariadbserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"locksim/internal/dbserver"
	"locksim/internal/live/shim"
)

// ErrMissing is returned where MariaDB is not installed, or cannot be run.
var ErrMissing = errors.New("MariaDB is missing: install Debian's mariadb-server")

// data is the folder of the databases in that of the server.
const data = "data"

// Database is the name of the database of the clients, and User that of the user, who has no password and may do all.
const (
	Database = "locksim"
	User     = "locksim"
)

// first are the statements with which a server begins. They are idempotent.
const first = `CREATE DATABASE IF NOT EXISTS locksim CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS locksim@localhost, locksim@'127.0.0.1';
GRANT ALL ON *.* TO locksim@localhost, locksim@'127.0.0.1';
`

// Server is a running MariaDB.
type Server struct {
	dbserver.Process
	address string // for clients: that of the network; empty for the socket
	turns   *turns // nil: its threads run as they like
}

// programs are the server, and the program that makes its first databases.
func programs() (server, install string, err error) {
	for _, p := range []struct {
		name string
		path *string
	}{{"mariadbd", &server}, {"mariadb-install-db", &install}} {
		found, err := exec.LookPath(p.name)
		if err != nil {
			found, err = exec.LookPath(filepath.Join("/usr/sbin", p.name))
		}
		if err != nil {
			return "", "", ErrMissing
		}
		*p.path = found
	}
	return server, install, nil
}

// Missing returns the error that Start would return for lack of a program: [ErrMissing] or [ErrNoCompiler]. It is nil
// if they are there.
func Missing() error {
	if _, _, err := programs(); err != nil {
		return err
	}
	_, err := shim.Compiler()
	return err
}

// Start makes a server with an empty database, and waits until it serves. It ends with [Server.Stop], and soon after
// this program. The error wraps [ErrMissing] where there is no MariaDB, and [ErrNoCompiler] where its threads cannot
// have turns.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	program, install, err := programs()
	if err != nil {
		return nil, err
	}
	s := &Server{Process: dbserver.Process{Name: "MariaDB", Program: program, Env: o.Env}, address: o.Address}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := s.Open(o.Dir, "locksim-mariadb-"); err != nil {
		return nil, err
	}
	create := s.Command(ctx, install, "--no-defaults", "--datadir="+filepath.Join(s.Dir(), data),
		"--auth-root-authentication-method=normal", "--skip-test-db")
	if out, err := create.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a database: %w\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(s.Dir(), "init.sql"), []byte(first), 0o644); err != nil {
		return nil, err
	}
	s.Args = []string{"--no-defaults", "--datadir=" + filepath.Join(s.Dir(), data), "--socket=" + s.Socket(),
		"--pid-file=" + filepath.Join(s.Dir(), "pid"), "--init-file=" + filepath.Join(s.Dir(), "init.sql"),
		"--tmpdir=" + s.Dir(),
		"--skip-log-bin", "--performance-schema=off", "--innodb-use-native-aio=0", "--aria-checkpoint-interval=0",
		"--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M", "--innodb-temp-data-file-path=ibtmp1:3M:autoextend",
		"--aria-pagecache-buffer-size=1M", "--key-buffer-size=64K", "--skip-ssl"}
	if !o.Sync {
		s.Args = append(s.Args, "--innodb-flush-method=nosync")
	}
	if o.Address == "" {
		s.Args = append(s.Args, "--skip-networking")
	} else {
		host, port, err := net.SplitHostPort(o.Address)
		if err != nil {
			return nil, fmt.Errorf("the address of MariaDB: %w", err)
		}
		s.Args = append(s.Args, "--bind-address="+host, "--port="+port)
	}
	for _, line := range o.Settings {
		s.Args = append(s.Args, "--"+line)
	}
	if o.Turns {
		if s.turns, err = newTurns(s.Dir()); err != nil {
			return nil, err
		}
		s.SetTime(time.Now(), 0)
	}
	if err := s.Run(); err != nil {
		return nil, err
	}
	return s, s.Wait(ctx)
}

// Run starts the server, after a Crash, and returns at once: the server recovers what it had committed. It starts no
// goroutine, so it can be called in a bubble.
func (s *Server) Run() error {
	if s.turns == nil {
		return s.Process.Run()
	}
	s.turns.forget()
	return s.Process.Run(s.turns.file.Env()...)
}

// Wait waits until the server serves, after [Server.Run]. It must be called outside of any bubble. The error wraps
// [ErrExited] if the server has exited.
func (s *Server) Wait(ctx context.Context) error {
	if s.turns != nil {
		return s.Recover()
	}
	network, address := "tcp", s.address
	if address == "" {
		network, address = "unix", s.Socket()
	}
	return s.Await(ctx, func() error {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// Socket is the path of the Unix socket on which the server listens.
func (s *Server) Socket() string { return filepath.Join(s.Dir(), "s") }

// SetTime sets the clocks of a server whose threads have turns: the wall clock, and the time since some instant. They
// stand still until the next call. Waits that are over by then do not end by themselves: see [Server.Late].
func (s *Server) SetTime(wall time.Time, since time.Duration) { s.turns.set(wall, since) }

// Turn gives a thread the turn, and waits until it waits again: the one of the chosen entry if it is ready and not
// [ForOthers], and otherwise the one that has been ready longest. It reports false if none was ready. It calls
// meanwhile now and then, if that is not nil. The error wraps [ErrExited] if the server has exited.
func (s *Server) Turn(chosen int, meanwhile func()) (bool, error) {
	id, ok := s.ID()
	if !ok {
		return false, ErrExited
	}
	return s.turns.turn(chosen, id, s.Exited, meanwhile)
}

// Threads are those of a server, when none runs.
func (s *Server) Threads() []Thread {
	id, ok := s.ID()
	if !ok {
		return nil
	}
	return s.turns.all(id)
}

// Left is the time until the end of the wait of a thread, which has one.
func (s *Server) Left(t Thread) time.Duration { return s.turns.left(t) }

// Message lets a thread that waits for a message look for it, when it next has the turn.
func (s *Server) Message(entry int) { s.turns.wake(false, entry) }

// Late ends the waits of threads, as their time has come. They go on in this order, each when it has the turn.
func (s *Server) Late(entries ...int) { s.turns.wake(true, entries...) }

// OutOfTurn is how often a thread went on although the one that had the turn was at work, since that was so for long.
// What the server does then may differ the next time. One that waits for a mutex of another thread, which has no
// turn, gives its turn to the next one: that is the same each time.
func (s *Server) OutOfTurn() int { return s.turns.outOfTurn }

// Recover waits until a server whose threads have turns serves. Its clocks go on for as long as it waits for time to
// pass.
func (s *Server) Recover() error {
	for {
		more, err := s.Turn(-1, nil)
		switch {
		case err != nil:
			return s.Failed(err)
		case more:
			continue
		}
		all := s.Threads()
		if slices.ContainsFunc(all, func(t Thread) bool { return t.Main && t.Wait == ForMessage }) {
			return nil
		}
		all = slices.DeleteFunc(all, func(t Thread) bool { return t.Due == Never })
		if len(all) == 0 {
			return s.Failed(errors.New("all threads wait for one another"))
		}
		next := slices.MinFunc(all, func(a, b Thread) int {
			return cmp.Or(cmp.Compare(s.Left(a), s.Left(b)), cmp.Compare(a.Entry, b.Entry))
		})
		s.turns.pass(max(0, s.Left(next)))
		s.Late(next.Entry)
	}
}
