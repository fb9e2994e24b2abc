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

// Listen opens a port on a loopback address. addr is HOST:PORT with a loopback
// address, localhost or no host; port 0 is any free port. The error names a
// valid value.
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
		return nil, fmt.Errorf("%s is no loopback address, and this server is for this machine alone: give 127.0.0.1:%s",
			host, port)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("%q is no port: give a number from 0 to 65535", port)
	}
	return net.Listen("tcp", net.JoinHostPort(host, port))
}

// The server's limits, on the wall clock: no page takes long, and a client that
// sends its request too slowly is disconnected.
const (
	headerTimeout = 5 * time.Second
	answerTimeout = time.Minute
	idleTimeout   = time.Minute
	endTimeout    = 2 * time.Second
	maxHeader     = 16 << 10
)

// Run serves until the context ends, and returns when every connection is
// closed: pending answers have two seconds. The end of the context is not an
// error. errorLog gets a line for each bug of the handler.
func Run(ctx context.Context, l net.Listener, h http.Handler, errorLog *log.Logger) error {
	s := &http.Server{Handler: h, DisableGeneralOptionsHandler: true, ErrorLog: errorLog, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ended <- shutdown(s)
	}()
	err := s.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	stop()
	return errors.Join(err, <-ended)
}

// shutdown waits for pending answers, for a limited time.
func shutdown(s *http.Server) error {
	soon, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if err := s.Shutdown(soon); errors.Is(err, context.DeadlineExceeded) {
		return s.Close()
	} else if err != nil {
		return err
	}
	return nil
}
