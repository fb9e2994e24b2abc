package redisserver

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

func TestServersAnswerAndStop(t *testing.T) {
	servers := StartN(t, 2)
	for _, s := range servers {
		if pid, err := Ask(s.Addr()); err != nil || pid != s.Pid() {
			t.Errorf("%s is process %d (%v), want %d", s.Addr(), pid, err, s.Pid())
		}
	}
	servers[0].Stop()
	servers[0].Stop()
	if c, err := net.DialTimeout("tcp", servers[0].Addr(), time.Second); err == nil {
		_ = c.Close()
		t.Error("a stopped server accepts connections")
	}
	if _, err := Ask(servers[1].Addr()); err != nil {
		t.Errorf("the other server does not answer: %v", err)
	}
}

func TestServerThatDoesNotStart(t *testing.T) {
	path, err := Find()
	if err != nil {
		missing(t, err)
	}
	_, err = start(path, t.TempDir(), []string{"--no-such-option", "1"})
	if !errors.Is(err, errExited) || !strings.Contains(err.Error(), "no-such-option") {
		t.Errorf("error %v, want the exit and the output of the server", err)
	}
}

// verdict is a testing.TB that records whether the test was skipped or failed.
type verdict struct {
	testing.TB
	skipped, failed bool
}

func (*verdict) Helper()                 {}
func (v *verdict) Skipf(string, ...any)  { v.skipped = true }
func (v *verdict) Fatalf(string, ...any) { v.failed = true }

func TestMissingServer(t *testing.T) {
	for value, want := range map[string]verdict{"": {skipped: true}, "0": {skipped: true}, "1": {failed: true}} {
		t.Setenv(requireVar, value)
		got := verdict{}
		missing(&got, errors.New("there is none"))
		if got != want {
			t.Errorf("%s=%q: %+v, want %+v", requireVar, value, got, want)
		}
	}
}

func TestOldServer(t *testing.T) {
	for said, want := range map[string]string{
		"Redis server v=7.0.15 sha=0": "",
		"Redis server v=8.2.0 sha=0":  "",
		"Redis server v=6.2.1 sha=0":  "version 7 or later is needed",
		"what?":                       "prints no version",
	} {
		err := newEnough("/bin/redis-server", said)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", said, err, want)
		}
	}
}
