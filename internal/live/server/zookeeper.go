package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"locksim/internal/live/guard"
	"locksim/scenarios/file"
)

// jar is where Debian's package zookeeper has the server.
const jar = "/usr/share/java/zookeeper.jar"

func missingZooKeeper() error {
	if _, err := exec.LookPath("java"); err != nil {
		return errors.New("there is no java on the PATH (Debian and Ubuntu: apt-get install zookeeper)")
	}
	if _, err := os.Stat(jar); err != nil {
		return fmt.Errorf("there is no %s (Debian and Ubuntu: apt-get install zookeeper)", jar)
	}
	return nil
}

// startZooKeeper starts one server, or an ensemble. Empty containers stay for a day.
func (g *Group) startZooKeeper(ctx context.Context) error {
	names := file.Numbered("z", g.options.Count)
	at, err := addresses(3 * len(names))
	if err != nil {
		return err
	}
	clients, peers := at[:len(names)], at[len(names):]
	ensemble, force := "", "no"
	if g.options.Sync {
		force = "yes"
	}
	for i := range names {
		if len(names) > 1 {
			ensemble += fmt.Sprintf("server.%d=%s:%s\n", i+1, peers[2*i], port(peers[2*i+1]))
		}
	}
	for i, name := range names {
		s, err := g.add(name, clients[i])
		if err != nil {
			return err
		}
		config := fmt.Sprintf(
			"tickTime=%d\ninitLimit=20\nsyncLimit=5\nmaxClientCnxns=0\ndataDir=%s\n"+
				"clientPortAddress=127.0.0.1\nclientPort=%s\n%s",
			g.options.Tick.Milliseconds(), s.dir, port(s.addr), ensemble)
		for name, text := range map[string]string{"zoo.cfg": config, "myid": fmt.Sprintln(i + 1)} {
			path := filepath.Join(s.dir, name)
			if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), guard.Own(path)); err != nil {
				return err
			}
		}
		s.engine = &process{
			dir: s.dir, env: s.clock.env(pretendMonotonic),
			command: func() *exec.Cmd {
				return exec.Command("java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
					"-Dzookeeper.admin.enableServer=false",
					"-Dzookeeper.forceSync="+force, "-Dznode.container.checkIntervalMs=86400000", "-Dzookeeper.jmx.log4j.disable=true",
					"-Djava.io.tmpdir="+s.dir, "-XX:-UsePerfData", "-cp", jar, "org.apache.zookeeper.server.quorum.QuorumPeerMain",
					filepath.Join(s.dir, "zoo.cfg"))
			},
			ready: func(int) error {
				if len(names) == 1 { // a member of an ensemble serves when a majority runs
					return servesClients(context.Background(), s)
				}
				return listens(s.addr)
			},
		}
	}
	for _, s := range g.servers {
		if err := s.Restart(ctx); err != nil {
			return err
		}
	}
	return g.serve(ctx, servesClients)
}

func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

func servesClients(ctx context.Context, s *Server) error {
	_, err := zooKeeperMode(ctx, s)
	return err
}

// zooKeeperLeads asks a server for its mode. One that leads no majority any more serves no client and has none, so the
// term does not matter.
func zooKeeperLeads(ctx context.Context, s *Server) (leads bool, term uint64, err error) {
	mode, err := zooKeeperMode(ctx, s)
	return mode == "leader" || mode == "standalone", 0, err
}

// zooKeeperMode is leader, follower or standalone, by one of the words of four letters. A server that serves no clients
// has none.
func zooKeeperMode(ctx context.Context, s *Server) (string, error) {
	ctx, end := context.WithTimeout(ctx, time.Second)
	defer end()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return "", err
	}
	defer c.Close() //nolint:errcheck // it has served its purpose
	until, _ := ctx.Deadline()
	_ = c.SetDeadline(until)
	if _, err := io.WriteString(c, "srvr"); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(answer)) {
		if mode, ok := strings.CutPrefix(line, "Mode: "); ok {
			return strings.TrimSpace(mode), nil
		}
	}
	return "", fmt.Errorf("it says %q", answer)
}
