package serve

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// Listen opens a port on this machine alone. addr is HOST:PORT with a loopback
// address, localhost, or nothing for a host; port 0 is any that is free. The
// error says what to give.
func Listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%w: write HOST:PORT, such as 127.0.0.1:8080", err)
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.Unmap().IsLoopback() {
		return nil, fmt.Errorf("%s is no loopback address, and this server is for this machine alone: give 127.0.0.1:%s", host, port)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("%q is no port: give a number from 0 to 65535", port)
	}
	return net.Listen("tcp", net.JoinHostPort(host, port))
}

// The server's limits, on the wall clock: no page takes long, and whoever sends
// a request byte by byte is let go.
const (
	headerTimeout = 5 * time.Second
	answerTimeout = time.Minute
	idleTimeout   = time.Minute
	endTimeout    = 2 * time.Second
	maxHeader     = 16 << 10
)

// Run serves until the context ends, and returns when every connection is
// closed: answers that are under way have two seconds. The end of the context is
// no error. complain is told of bugs of the handler, a line each.
func Run(ctx context.Context, l net.Listener, h http.Handler, complain *log.Logger) error {
	s := &http.Server{Handler: h, DisableGeneralOptionsHandler: true, ErrorLog: complain, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ended <- end(s)
	}()
	err := s.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	stop()
	return errors.Join(err, <-ended)
}

// end lets answers come to their end, for a while.
func end(s *http.Server) error {
	soon, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if err := s.Shutdown(soon); errors.Is(err, context.DeadlineExceeded) {
		return s.Close()
	} else if err != nil {
		return err
	}
	return nil
}
