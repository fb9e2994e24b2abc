package serve_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"testing"

	"locksim/internal/serve"
)

// Addresses that other machines can reach are refused.
func TestListen(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", "10.1.2.3:0", "example.com:0", "127.0.0.1", "127.0.0.1:http",
		"127.0.0.1:99999", "127.0.0.1:-1", "", "256.0.0.1:0", "[fe80::1%lo]:0"} {
		if l, err := serve.Listen(addr); err == nil {
			_ = l.Close()
			t.Errorf("%q: it listens on %v", addr, l.Addr())
		}
	}
	for _, addr := range []string{"127.0.0.1:0", ":0", "localhost:0"} {
		l, err := serve.Listen(addr)
		if err != nil {
			t.Errorf("%q: %v", addr, err)
			continue
		}
		if host := l.Addr().(*net.TCPAddr); !host.IP.IsLoopback() || host.Port == 0 {
			t.Errorf("%q: it listens on %v", addr, host)
		}
		_ = l.Close()
	}
}

// The end of the context ends Run, also during an answer.
func TestRunEnds(t *testing.T) {
	l, err := serve.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended, asked := make(chan error, 1), make(chan bool)
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	go func() { ended <- serve.Run(ctx, l, h, log.New(io.Discard, "", 0)) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, get("/"))
	<-asked
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the port is still open")
	}
}
