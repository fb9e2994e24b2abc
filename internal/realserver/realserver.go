// Package realserver starts real servers for tests: on the loopback interface, in a private folder, as an unprivileged
// user where the tests run as root. They end with the test, and with the test program.
package realserver

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"testing"
)

// unprivileged is the id of the user that runs the servers where the tests run as root; it owns no files.
const unprivileged = 65534

// Folder makes a folder for servers, which goes with the test.
func Folder(t testing.TB, prefix string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	Own(t, dir)
	return dir
}

// Own gives a file or a folder to the user that runs the servers.
func Own(t testing.TB, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(path, unprivileged, unprivileged); err != nil {
		t.Fatal(err)
	}
}

// Start starts a server in a folder. If the test fails, what the server has said is in its log, under a name.
func Start(t testing.TB, name, dir string, cmd *exec.Cmd) {
	t.Helper()
	var log bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &log, &log
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	confine(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() && log.Len() > 0 {
			t.Logf("%s:\n%s", name, &log)
		}
	})
}

// Addresses are addresses of the loopback interface on which nothing listens.
func Addresses(t testing.TB, count int) []string {
	t.Helper()
	var all []string
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() //nolint:errcheck // it has served its purpose
		all = append(all, l.Addr().String())
	}
	return all
}
