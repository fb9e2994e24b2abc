package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"locksim/scenarios/file"
)

func missingEtcd() error {
	if _, err := exec.LookPath("etcd"); err != nil {
		return errors.New("there is no etcd on the PATH (Debian and Ubuntu: apt-get install etcd-server)")
	}
	return nil
}

// startEtcd starts the members of one cluster. They do not sync their files: a process that is killed leaves them to the
// operating system.
func (g *Group) startEtcd(ctx context.Context) error {
	names := file.Numbered("e", g.options.Count)
	at, err := addresses(2 * len(names))
	if err != nil {
		return err
	}
	clients, peers := at[:len(names)], at[len(names):]
	var members []string
	for i, name := range names {
		members = append(members, name+"=http://"+peers[i])
	}
	for i, name := range names {
		s, err := g.add(name, clients[i])
		if err != nil {
			return err
		}
		args := []string{
			"--name", name, "--data-dir", filepath.Join(s.dir, "data"),
			"--listen-client-urls", "http://" + clients[i], "--advertise-client-urls", "http://" + clients[i],
			"--listen-peer-urls", "http://" + peers[i], "--initial-advertise-peer-urls", "http://" + peers[i],
			"--initial-cluster", strings.Join(members, ","), "--initial-cluster-token", filepath.Base(g.dir),
			"--unsafe-no-fsync", "--logger", "zap", "--log-level", "error",
		}
		s.engine = &process{
			dir:     s.dir,
			command: func() *exec.Cmd { return exec.Command("etcd", args...) },
			ready:   func(int) error { return listens(s.addr) },
		}
		if err := s.Restart(ctx); err != nil {
			return err
		}
	}
	return g.serve(ctx, healthy)
}

// healthy asks a member whether it serves, with a majority behind it.
func healthy(ctx context.Context, s *Server) error {
	ctx, end := context.WithTimeout(ctx, time.Second)
	defer end()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/health", nil)
	if err != nil {
		return err
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(a.Body)
	_ = a.Body.Close()
	if err == nil && !strings.Contains(string(text), `"health":"true"`) {
		err = fmt.Errorf("it says %s", text)
	}
	return err
}
