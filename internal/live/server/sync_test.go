package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksim/internal/live/server"
)

// Servers sync their files if they are told to, and only then.
func TestSync(t *testing.T) {
	for kind, syncs := range map[server.Kind]func(args string) bool{
		server.Etcd:      func(args string) bool { return !strings.Contains(args, "--unsafe-no-fsync") },
		server.ZooKeeper: func(args string) bool { return strings.Contains(args, "forceSync=yes") },
		server.Postgres: func(args string) bool { // of two settings the last counts
			return strings.LastIndex(args, "fsync=on") > strings.LastIndex(args, "fsync=off")
		},
		server.MariaDB: func(args string) bool { return !strings.Contains(args, "--innodb-flush-method=nosync") },
	} {
		for _, sync := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %v", kind, sync), func(t *testing.T) {
				g, _ := start(t, server.Options{Kind: kind, Sync: sync})
				if args := arguments(t, g.Servers()[0].Dir()); args == "" || syncs(args) != sync {
					t.Errorf("the processes are %q", args)
				}
			})
		}
	}
}

// arguments are those of the processes that work in a folder.
func arguments(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cwd")
	must(t, err)
	all := ""
	for _, link := range found {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir) {
			text, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline")) // the process may have ended
			all += strings.ReplaceAll(string(text), "\x00", " ") + "\n"
		}
	}
	return all
}
