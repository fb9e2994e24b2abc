package serve_test

import (
	"fmt"
	"testing"
)

// The server refuses host names of the internet that resolve to this machine.
func TestRefusesOtherHosts(t *testing.T) {
	addr := start(t, fine)
	for host, want := range map[string]int{
		"127.0.0.1": 200, "127.0.0.1:8080": 200, "127.1.2.3": 200, "localhost": 200, "LocalHost:80": 200, "[::1]": 200,
		"[::1]:8080":   200,
		"evil.example": 403, "127.0.0.1.evil.example": 403, "localhost.evil.example": 403, "evil.example:8080": 403,
		"10.0.0.1": 403, "0.0.0.0": 403,
		"[::]": 403, "127.0.0.1:port": 403, "localhost:": 403, "[127.0.0.1": 403, "127.0.0.1:80:80": 403, "2130706433": 403,
		"0x7f.1": 403,
	} {
		for _, path := range []string{"/", "/run/run.json"} {
			bytes := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, host)
			if r, _ := send(t, addr, bytes); r.StatusCode != want && (want == 200 || r.StatusCode != 400) {
				t.Errorf("Host: %s, %s: %s, want %d", host, path, r.Status, want)
			}
		}
	}
}
