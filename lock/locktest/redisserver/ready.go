package redisserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// answers waits until this process answers. Another test may have started a server on the same port at the same time,
// and PING does not distinguish the two.
func (s *Server) answers() error {
	deadline := time.Now().Add(patience)
	for {
		pid, err := Ask(s.Addr())
		if err == nil && pid == s.Pid() {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("redis-server at %s does not answer after %v (last: process %d, error %v)", s.Addr(), patience, pid, err) //nolint:errorlint // err may be nil
		}
		select {
		case <-s.exited:
			return errExited
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Ask asks the server at an address for the id of its process. The error is not nil until the server has read its files
// and answers PING.
func Ask(addr string) (int, error) {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(c, "PING\r\nINFO server\r\n"); err != nil {
		return 0, err
	}
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || line != "+PONG\r\n" {
		return 0, fmt.Errorf("PING is answered with %q (%v)", line, err) //nolint:errorlint // err may be nil
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0, err
		}
		if pid, ok := strings.CutPrefix(line, "process_id:"); ok {
			return strconv.Atoi(strings.TrimSpace(pid))
		}
	}
}
