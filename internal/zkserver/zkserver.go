// Package zkserver starts real ZooKeeper servers for tests, one or an ensemble, by package realserver.
package zkserver

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksim/internal/realserver"
)

// jar is where Debian's package zookeeper has the server.
const jar = "/usr/share/java/zookeeper.jar"

// patience is how long the servers may take to serve.
const patience = 60 * time.Second

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
	dir, all := realserver.Folder(t, "locksim-zk-"), realserver.Addresses(t, 3*count)
	ensemble := ""
	for i := range count {
		if count > 1 {
			ensemble += fmt.Sprintf("server.%d=127.0.0.1:%s:%s\n", i+1, port(all[count+2*i]), port(all[count+2*i+1]))
		}
	}
	addresses := all[:count]
	for i, clients := range addresses {
		home := filepath.Join(dir, fmt.Sprintf("z%d", i))
		config := fmt.Sprintf("tickTime=%d\ninitLimit=20\nsyncLimit=5\nmaxClientCnxns=0\ndataDir=%s\nclientPortAddress=127.0.0.1\nclientPort=%s\n%s",
			tick.Milliseconds(), home, port(clients), ensemble)
		write(t, home, map[string]string{"zoo.cfg": config, "myid": fmt.Sprintln(i + 1)})
		start(t, home)
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

// port is that of an address.
func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// write writes the files of a server.
func write(t testing.TB, home string, files map[string]string) {
	t.Helper()
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	realserver.Own(t, home)
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		realserver.Own(t, path)
	}
}

// start starts a server.
func start(t testing.TB, home string) {
	t.Helper()
	cmd := exec.Command("java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dzookeeper.admin.enableServer=false",
		"-Dzookeeper.forceSync=no", "-Dznode.container.checkIntervalMs=86400000", "-Dzookeeper.jmx.log4j.disable=true", "-Djava.io.tmpdir="+home, "-XX:-UsePerfData",
		"-cp", jar, "org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(home, "zoo.cfg"))
	realserver.Start(t, filepath.Base(home), home, cmd)
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
