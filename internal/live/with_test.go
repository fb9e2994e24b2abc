//go:build linux

package live_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"locksim/internal/pgserver"
	"locksim/scenarios/sqllocks"
)

// The statements of With are executed on a real server too, beside those of the locks of locksim.
func TestWithOnARealServer(t *testing.T) {
	if err := pgserver.Missing(); err != nil {
		t.Skip(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := pgserver.Start(ctx, pgserver.Options{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	if err := sqllocks.With("CREATE SEQUENCE ofothers")[0].Kind.Prepare(ctx, address); err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(address, ":")
	c, err := pgx.Connect(ctx, "host="+host+" port="+port+" user=locksim dbname=postgres sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	var next int
	if err := c.QueryRow(ctx, "SELECT nextval('ofothers')").Scan(&next); err != nil || next != 1 {
		t.Errorf("the sequence says %d, %v", next, err)
	}
}
