package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"

	facts "locksim/internal/machine"
)

// machine describes the machine of the figures, without its name.
type machine struct {
	processor string
	cores     int
	system    string
	golang    string
	redis     string
	modules   []string // path and version
}

func (r *rig) machine(ctx context.Context) (machine, error) {
	info, err := r.clients[0].Info(ctx, "server").Result()
	if err != nil {
		return machine{}, err
	}
	return machine{
		processor: facts.Processor(), cores: runtime.NumCPU(), system: runtime.GOOS + "/" + runtime.GOARCH,
		golang: runtime.Version(), redis: field(info, "redis_version"), modules: modules(),
	}, nil
}

// field is the value of a line "name:value".
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// modules are the versions of the client and of the peers.
func modules() (all []string) {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, m := range build.Deps {
		switch m.Path {
		case "github.com/redis/go-redis/v9", "github.com/bsm/redislock", "github.com/go-redsync/redsync/v4":
			all = append(all, m.Path+" "+m.Version)
		}
	}
	return all
}
