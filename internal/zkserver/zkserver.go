// Package zkserver starts real ZooKeeper servers for tests: one, or an ensemble, on the loopback interface, in a private
// folder, as an unprivileged user where the program is root's. They end with the test.
package zkserver

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// jar is where Debian's package zookeeper has the server.
const jar = "/usr/share/java/zookeeper.jar"

// patience is how long the servers may take to serve.
const patience = 60 * time.Second

// unprivileged is the id of the user that runs the servers where the tests run as root; it owns no files.
const unprivileged = 65534

// Need skips the test where there is no ZooKeeper, or fails it with LOCKSIM_REQUIRE_LIVE=1.
func Need(t testing.TB) {
	t.Helper()
	missing := ""
	if _, err := exec.LookPath("java"); err != nil {
		missing = "java"
	} else if _, err := os.Stat(jar); err != nil {
		missing = jar
	}
	switch {
	case missing == "":
	case os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1":
		t.Fatalf("%s is missing, and LOCKSIM_REQUIRE_LIVE=1: install Debian's zookeeper", missing)
	default:
		t.Skipf("%s is missing: install Debian's zookeeper; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", missing)
	}
}

// Start starts so many servers with this tick, and returns their addresses when all of them serve. It needs what [Need]
// checks. Nothing is synced to the disk, and
// empty containers stay for a day.
func Start(t testing.TB, count int, tick time.Duration) []string {
	t.Helper()
	Need(t)
	dir, err := os.MkdirTemp("", "locksim-zk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	own(t, dir)
	ports := free(t, 3*count)
	ensemble := ""
	for i := range count {
		if count > 1 {
			ensemble += fmt.Sprintf("server.%d=127.0.0.1:%s:%s\n", i+1, ports[count+2*i], ports[count+2*i+1])
		}
	}
	var addresses []string
	for i, clients := range ports[:count] {
		home := filepath.Join(dir, fmt.Sprintf("z%d", i))
		config := fmt.Sprintf("tickTime=%d\ninitLimit=20\nsyncLimit=5\nmaxClientCnxns=0\ndataDir=%s\nclientPortAddress=127.0.0.1\nclientPort=%s\n%s",
			tick.Milliseconds(), home, clients, ensemble)
		write(t, home, map[string]string{"zoo.cfg": config, "myid": fmt.Sprintln(i + 1)})
		start(t, home)
		addresses = append(addresses, "127.0.0.1:"+clients)
	}
	deadline := time.Now().Add(patience)
	for _, address := range addresses {
		for !serves(address) {
			if time.Now().After(deadline) {
				t.Fatalf("the server on %s does not serve after %v", address, patience)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return addresses
}

// write writes the files of a server.
func write(t testing.TB, home string, files map[string]string) {
	t.Helper()
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	own(t, home)
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		own(t, path)
	}
}

// own gives a file to the user that runs the servers.
func own(t testing.TB, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(path, unprivileged, unprivileged); err != nil {
		t.Fatal(err)
	}
}

// start starts a server, which ends with the test, and with the test program.
func start(t testing.TB, home string) {
	t.Helper()
	cmd := exec.Command("java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dzookeeper.admin.enableServer=false",
		"-Dzookeeper.forceSync=no", "-Dznode.container.checkIntervalMs=86400000", "-Dzookeeper.jmx.log4j.disable=true", "-Djava.io.tmpdir="+home, "-XX:-UsePerfData",
		"-cp", jar, "org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(home, "zoo.cfg"))
	var log bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = home, &log, &log
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() && log.Len() > 0 {
			t.Logf("%s:\n%s", filepath.Base(home), &log)
		}
	})
}

// serves asks a server whether it serves clients, by one of ZooKeeper's words of four letters.
func serves(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	defer c.Close() //nolint:errcheck // it has served its purpose
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(c, "srvr"); err != nil {
		return false
	}
	answer, err := io.ReadAll(c)
	return err == nil && strings.Contains(string(answer), "Mode: ")
}

// free are ports of the loopback interface on which nothing listens.
func free(t testing.TB, count int) []string {
	t.Helper()
	var all []string
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() //nolint:errcheck // it has served its purpose
		_, port, _ := net.SplitHostPort(l.Addr().String())
		all = append(all, port)
	}
	return all
}
