//go:build unix

package upstream

import (
	"database/sql"
	"database/sql/driver"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// startMariaDB starts a MariaDB of its own, and returns its address: [openMariaDB] connects to it.
func startMariaDB(t *testing.T) (addr string) {
	t.Helper()
	const install = "install Debian's mariadb-server"
	server, create := mariadbd(t, install), program(t, "mariadb-install-db", install)
	dir, err := os.MkdirTemp("", "upstream-mariadb-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	const unprivileged = 65534 // MariaDB does not run as root.
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, append([]string{"--no-defaults", "--datadir=" + filepath.Join(dir, "data")}, args...)...)
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
	made := command(create, "--auth-root-authentication-method=normal", "--skip-test-db")
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", made, err, out)
	}
	first := filepath.Join(dir, "init.sql")
	if err := os.WriteFile(first, []byte("CREATE DATABASE IF NOT EXISTS locks;\n"+
		"CREATE USER IF NOT EXISTS tester@'127.0.0.1';\nGRANT ALL ON *.* TO tester@'127.0.0.1';\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return startOnPort(t, func(port string) *exec.Cmd {
		return command(server, "--bind-address=127.0.0.1", "--port="+port, "--socket="+filepath.Join(dir, "socket"),
			"--pid-file="+filepath.Join(dir, "pid"), "--init-file="+first, "--tmpdir="+dir, "--skip-name-resolve",
			"--skip-log-bin", "--innodb-flush-log-at-trx-commit=0")
	}, func(addr string) bool {
		c, err := mariadbConnector(addr)
		if err != nil {
			return false
		}
		db := sql.OpenDB(c)
		defer func() { _ = db.Close() }()
		return db.Ping() == nil
	})
}

// mariadbd is the path of the server, which is not in the PATH of every user.
func mariadbd(t *testing.T, install string) string {
	t.Helper()
	if path, err := exec.LookPath("/usr/sbin/mariadbd"); err == nil {
		return path
	}
	return program(t, "mariadbd", install)
}

// mariadbConnector connects to the database of a server.
func mariadbConnector(addr string) (driver.Connector, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName, cfg.ParseTime = "tester", "tcp", addr, "locks", true
	cfg.Logger = &mysql.NopLogger{}
	return mysql.NewConnector(cfg)
}

// openMariaDB are connections to a server. They are closed at the end of the test.
func openMariaDB(t *testing.T, addr string) *sql.DB {
	t.Helper()
	c, err := mariadbConnector(addr)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
