package server

import (
	"bytes"
	"context"
	"encoding/json"
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

// startEtcd starts the members of one cluster.
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
			"--logger", "zap", "--log-level", "error",
		}
		if !g.options.Sync {
			args = append(args, "--unsafe-no-fsync")
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
	text, err := s.askHTTP(ctx, http.MethodGet, "/health")
	if err == nil && !bytes.Contains(text, []byte(`"health":"true"`)) {
		err = fmt.Errorf("it says %s", text)
	}
	return err
}

// etcdLeads asks a member for its status.
func etcdLeads(ctx context.Context, s *Server) (leads bool, term uint64, err error) {
	text, err := s.askHTTP(ctx, http.MethodPost, "/v3/maintenance/status")
	if err != nil {
		return false, 0, err
	}
	var status struct {
		Header struct {
			Member uint64 `json:"member_id,string"`
		} `json:"header"`
		Leader uint64 `json:"leader,string"`
		Term   uint64 `json:"raftTerm,string"`
	}
	if err := json.Unmarshal(text, &status); err != nil {
		return false, 0, fmt.Errorf("ask %s for its status: it says %s: %w", s.name, text, err)
	}
	return status.Leader != 0 && status.Leader == status.Header.Member, status.Term, nil
}

// askHTTP asks a member something.
func (s *Server) askHTTP(ctx context.Context, method, path string) ([]byte, error) {
	ctx, end := context.WithTimeout(ctx, time.Second)
	defer end()
	q, err := http.NewRequestWithContext(ctx, method, "http://"+s.addr+path, strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close() //nolint:errcheck // it was read
	return io.ReadAll(a.Body)
}
