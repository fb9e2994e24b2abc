package upstream

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// startZooKeeper starts one ZooKeeper, whose sessions last for at least two ticks of 200 ms, and returns its address.
func startZooKeeper(t *testing.T) (addr string) {
	t.Helper()
	const jar = "/usr/share/java/zookeeper.jar" // Of Debian's package.
	java := program(t, "java", "install Debian's zookeeper")
	if _, err := os.Stat(jar); err != nil {
		missing(t, "ZooKeeper is missing: install Debian's zookeeper")
	}
	dir := t.TempDir()
	return startOnPort(t, func(port string) *exec.Cmd {
		config := filepath.Join(dir, "zoo.cfg")
		text := fmt.Sprintf("tickTime=200\nmaxClientCnxns=0\ndataDir=%s\nclientPortAddress=127.0.0.1\nclientPort=%s\n", dir,
			port)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.Command(java, "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
			"-Dzookeeper.admin.enableServer=false", "-Dzookeeper.forceSync=no", "-Dzookeeper.jmx.log4j.disable=true",
			"-cp", jar, "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
	}, func(addr string) bool {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			return false
		}
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(time.Second))
		if _, err := io.WriteString(c, "srvr"); err != nil {
			return false
		}
		answer, err := io.ReadAll(c)
		return err == nil && strings.Contains(string(answer), "Mode: standalone")
	})
}

// zkClient is a client of ZooKeeper. It is closed at the end of the test.
func zkClient(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	c, _, err := zk.Connect([]string{addr}, 4*time.Second, zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
