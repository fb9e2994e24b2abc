//go:build unix

package upstream

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// startPostgres starts a PostgreSQL of its own, and returns its address. Its user is postgres, without a password.
func startPostgres(t *testing.T) (addr string) {
	t.Helper()
	bin := postgresPrograms(t)
	dir, err := os.MkdirTemp("", "upstream-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	const unprivileged = 65534 // PostgreSQL does not run as root.
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = dir
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
		}
		return cmd
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, unprivileged, unprivileged); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	initdb := command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "--no-instructions",
		"--locale=C", "-E", "UTF8")
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", initdb, err, out)
	}
	return startOnPort(t, func(port string) *exec.Cmd {
		return command("postgres", "-D", data, "-h", "127.0.0.1", "-p", port, "-k", "", "-c", "fsync=off")
	}, func(addr string) bool {
		db, err := sql.Open("postgres", postgresSource(addr))
		if err != nil {
			return false
		}
		defer func() { _ = db.Close() }()
		return db.Ping() == nil
	})
}

// postgresPrograms is the folder of the newest PostgreSQL.
func postgresPrograms(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path)
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		missing(t, "postgres is missing: install Debian's postgresql")
	}
	return filepath.Dir(slices.Max(found))
}

// postgresSource names the database of a server for a driver.
func postgresSource(addr string) string {
	return "postgres://postgres@" + addr + "/postgres?sslmode=disable&connect_timeout=10"
}
