package server

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // an id, no secret
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/internal/live/guard"
	"locksim/lock/locktest/redisserver"
	"locksim/scenarios/file"
)

// MasterName is the name under which the Sentinels know the primary.
const MasterName = "mymaster"

// Gate is how other servers know a server.
type Gate struct {
	// Addr is the address at which they reach it, Bus that of its bus, "" for a server without one.
	Addr, Bus string
	// Source is the address from which it dials them: one of the loopback interface.
	Source string
}

// open finds out by which address others know a server. It is called once, before the server starts.
func (g *Group) open(s *Server) (err error) {
	s.gate = Gate{Addr: s.addr, Bus: s.bus}
	if g.options.Gate != nil {
		if s.gate, err = g.options.Gate(s.name, s.addr, s.bus); err != nil {
			return fmt.Errorf("a way to %s: %w", s.name, err)
		}
	}
	return nil
}

// config is the file of a server that Sentinels tell its role, or of a Sentinel. They write to it, and a restart reads
// what they wrote.
func (s *Server) config() string { return filepath.Join(s.dir, "redis.conf") }

// writeConfig writes the first config file of a server. Each line is a setting and its values.
func (s *Server) writeConfig(lines [][]string) error {
	var text strings.Builder
	for _, line := range lines {
		for i, word := range line {
			if i > 0 {
				word = " " + strconv.Quote(word)
			}
			text.WriteString(word)
		}
		text.WriteString("\n")
	}
	if err := os.WriteFile(s.config(), []byte(text.String()), 0o600); err != nil {
		return err
	}
	return guard.Own(s.config())
}

// startSentinels starts Sentinels that know each other and the replicas, as those that have run for a while.
func (g *Group) startSentinels(ctx context.Context) error {
	names := file.Numbered("sen", g.options.Count)
	ports, err := addresses(len(names))
	if err != nil {
		return err
	}
	for i, name := range names {
		s, err := g.add(name, ports[i])
		if err == nil {
			err = g.open(s)
		}
		if err != nil {
			return err
		}
		s.id = fmt.Sprintf("%x", sha1.Sum([]byte(s.dir))) //nolint:gosec // an id, no secret
		s.asks = redis.NewSentinelClient(s.client())
	}
	path, _ := redisserver.Find() // it was found before
	for _, s := range g.servers {
		if err := s.writeConfig(g.sentinelConfig(s)); err != nil {
			return err
		}
		s.engine = &process{dir: s.dir, env: s.clock.env(trueMonotonic), ready: s.answers,
			command: func() *exec.Cmd { return exec.Command(path, s.config(), "--sentinel") }}
		if err := s.Restart(ctx); err != nil {
			return err
		}
	}
	return g.serve(ctx, watches)
}

func (g *Group) sentinelConfig(s *Server) [][]string {
	at := func(s *Server) (host, port string) { host, port, _ = strings.Cut(s.gate.Addr, ":"); return host, port }
	millis := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	o := g.options
	host, port, _ := strings.Cut(s.addr, ":")
	ownHost, ownPort := at(s)
	masterHost, masterPort := at(o.Watches.Primary())
	lines := [][]string{
		{"port", port}, {"bind", host}, {"dir", s.dir}, {"daemonize", "no"},
		{"sentinel", "myid", s.id}, {"sentinel", "announce-ip", ownHost}, {"sentinel", "announce-port", ownPort},
		{"sentinel", "monitor", MasterName, masterHost, masterPort, strconv.Itoa(cmp.Or(o.Quorum, o.Count/2+1))},
		{"sentinel", "down-after-milliseconds", MasterName, millis(cmp.Or(o.DownAfter, 30*time.Second))},
		{"sentinel", "failover-timeout", MasterName, millis(cmp.Or(o.FailoverTimeout, 3*time.Minute))},
	}
	if s.gate.Source != "" {
		lines = append(lines, []string{"bind-source-addr", s.gate.Source})
	}
	for _, r := range o.Watches.family()[1:] {
		host, port := at(r)
		lines = append(lines, []string{"sentinel", "known-replica", MasterName, host, port})
	}
	for _, other := range g.servers {
		if other != s {
			host, port := at(other)
			lines = append(lines, []string{"sentinel", "known-sentinel", MasterName, host, port, other.id})
		}
	}
	return lines
}

// watches asks a Sentinel whether it is connected with all servers, and the replicas with their primary.
func watches(ctx context.Context, s *Server) error {
	master, err := s.asks.Master(ctx, MasterName).Result()
	if err != nil {
		return err
	}
	replicas, err := s.asks.Replicas(ctx, MasterName).Result()
	if err != nil {
		return err
	}
	others, err := s.asks.Sentinels(ctx, MasterName).Result()
	if err != nil {
		return err
	}
	if len(replicas) != len(s.group.options.Watches.family())-1 || len(others) != len(s.group.servers)-1 {
		return fmt.Errorf("it knows %d replicas and %d Sentinels", len(replicas), len(others))
	}
	for _, x := range slices.Concat([]map[string]string{master}, replicas, others) {
		flags, alone := x["flags"], []string{"master", "slave", "sentinel"}
		if !slices.Contains(alone, flags) || flags == "slave" && x["master-link-status"] != "ok" {
			return fmt.Errorf("%s is %s", x["name"], flags)
		}
	}
	return nil
}

// Watched asks the Sentinels that run for the address of the primary, and returns the server that most of them name.
func (g *Group) Watched(ctx context.Context) (*Server, error) {
	votes, best := map[string]int{}, ""
	var errs []error
	for _, s := range g.servers {
		if !s.running() {
			continue
		}
		at, err := s.asks.GetMasterAddrByName(ctx, MasterName).Result()
		if err != nil || len(at) != 2 {
			errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
			continue
		}
		addr := net.JoinHostPort(at[0], at[1])
		if votes[addr]++; votes[addr] > votes[best] {
			best = addr
		}
	}
	for _, s := range g.options.Watches.family() {
		if s.gate.Addr == best {
			return s, nil
		}
	}
	return nil, errors.Join(append(errs, errors.New("no Sentinel names a primary"))...)
}

// StartFailover orders a Sentinel to replace the primary. What it answers instead of OK is the error.
func (s *Server) StartFailover(ctx context.Context) error {
	if s.asks == nil {
		return s.unable("it is no Sentinel")
	}
	return s.asks.Failover(ctx, MasterName).Err()
}

// Subscribe calls f with each event that a Sentinel publishes, and its text, until the context ends.
func (s *Server) Subscribe(ctx context.Context, f func(event, text string)) {
	all := s.asks.PSubscribe(ctx, "*")
	defer all.Close() //nolint:errcheck // there is nothing more to read
	for events := all.Channel(); ; {
		select {
		case m, ok := <-events:
			if !ok {
				return
			}
			f(m.Channel, m.Payload)
		case <-ctx.Done():
			return
		}
	}
}
