// Package pgserver runs a PostgreSQL for tests: in a private folder, on a Unix socket there, and as an unprivileged user,
// which PostgreSQL insists on. It is in the packages postgresql of Debian and Ubuntu, which start a server of their own;
// this one uses their programs only.
package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// ErrMissing is returned where PostgreSQL is not installed.
var ErrMissing = errors.New("PostgreSQL is missing: install Debian's postgresql-15")

// port is part of the name of the socket; nothing listens on a network.
const port = "5432"

// unprivileged is the id of the user that runs the server where the caller is root; it owns no files.
const unprivileged = 65534

// Server is a running PostgreSQL.
type Server struct {
	dir string
	cmd *exec.Cmd
	log bytes.Buffer
}

// programs finds the folder with the programs of PostgreSQL.
func programs() (dir string, err error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return "", ErrMissing
	}
	return filepath.Dir(slices.Max(found)), nil
}

// Start makes a server with an empty database, and waits until it serves. It ends with [Server.Stop], and with this
// program. settings are lines of postgresql.conf, such as "max_connections = 20". The error wraps [ErrMissing] where
// there is no PostgreSQL.
func Start(ctx context.Context, settings ...string) (s *Server, err error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "locksim-pg-")
	if err != nil {
		return nil, err
	}
	s = &Server{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, unprivileged, unprivileged); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	initdb := s.command(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "locksim", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a database: %w\n%s", err, out)
	}
	args := []string{"-D", data, "-k", dir, "-p", port, "-c", "listen_addresses=", "-c", "fsync=off"}
	for _, line := range settings {
		args = append(args, "-c", line)
	}
	s.cmd = s.command(context.WithoutCancel(ctx), filepath.Join(bin, "postgres"), args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		return nil, err
	}
	for {
		ready := s.command(ctx, filepath.Join(bin, "pg_isready"), "-q", "-h", dir, "-p", port)
		if ready.Run() == nil {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("PostgreSQL does not serve: %w\n%s", ctx.Err(), &s.log)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// command is a program that runs as an unprivileged user, and ends with this one.
func (s *Server) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} // an immediate shutdown, also of its children
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
	}
	return cmd
}

// Source names the database for a driver: a connection string.
func (s *Server) Source() string {
	return fmt.Sprintf("host=%s port=%s user=locksim dbname=postgres sslmode=disable", s.dir, port)
}

// Stop ends the server, and removes its folder.
func (s *Server) Stop() error {
	var err error
	if s.cmd != nil {
		err = s.cmd.Process.Signal(syscall.SIGINT) // a fast shutdown
		_ = s.cmd.Wait()                           // its exit code says nothing
		s.cmd = nil
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
