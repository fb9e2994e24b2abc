package server_test

import (
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listeners are the addresses on which a process listens for TCP, by its folder in /proc.
func listeners(t *testing.T, proc string) (all []net.IP) {
	t.Helper()
	sockets := map[string]bool{}
	files, _ := filepath.Glob(filepath.Join(proc, "fd", "*")) // of a process that may have ended
	for _, f := range files {
		if target, err := os.Readlink(f); err == nil {
			sockets[strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(filepath.Join("/proc/net", table))
		if err != nil {
			continue // a machine without IPv6
		}
		for _, line := range strings.Split(string(text), "\n")[1:] {
			fields := strings.Fields(line)
			const listening = "0A"
			if len(fields) < 10 || fields[3] != listening || !sockets[fields[9]] {
				continue
			}
			hexed, _, _ := strings.Cut(fields[1], ":")
			ip, err := hex.DecodeString(hexed)
			must(t, err)
			for word := range slices.Chunk(ip, 4) { // each in the order of the machine
				slices.Reverse(word)
			}
			all = append(all, ip)
		}
	}
	return all
}
