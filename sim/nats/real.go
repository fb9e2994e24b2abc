package nats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// asServer has the address of a server. A program that imports this package is a nats-server if it is set, and does
// nothing else: so a live run plays on the module that the simulated one has.
const asServer = "LOCKSIM_NATS_SERVER"

// itsStorage says where such a server has its bucket.
const itsStorage = "LOCKSIM_NATS_STORAGE"

// Command makes the command of a server that listens on an address, with its files in the working directory. The path
// is that of this program also where its user may not read the folder that it is in.
func (in Storage) Command(_, address string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{asServer + "=" + address, itsStorage + "=" + string(in)}
	return cmd
}

// serveIfAsked is a server until the process is killed, if the environment says so.
func serveIfAsked() {
	address := os.Getenv(asServer)
	if address == "" {
		return
	}
	fmt.Fprintln(os.Stderr, serve(address, Storage(os.Getenv(itsStorage))))
	os.Exit(1)
}

// serve is a server with its files in the working directory. It returns only an error.
func serve(address string, in Storage) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	o := options(".", in)
	o.Host = host
	if o.Port, err = strconv.Atoi(port); err != nil {
		return err
	}
	real, err := server.NewServer(o)
	if err != nil {
		return err
	}
	go real.Start()
	if !real.ReadyForConnections(10 * time.Second) {
		return errors.New("nats-server takes no connections")
	}
	nc, err := nats.Connect("", nats.InProcessServer(real), nats.Name("operator"))
	if err != nil {
		return fmt.Errorf("the operator of NATS cannot connect: %w", err)
	}
	if _, err := makeBucket(context.Background(), nc, in); err != nil {
		return fmt.Errorf("the bucket of NATS cannot be made: %w", err)
	}
	select {}
}

// Ready asks a server for the bucket. Its error says why that is not there yet.
func Ready(ctx context.Context, address string) (err error) {
	nc, err := nats.Connect("nats://"+address, nats.NoReconnect(), nats.Timeout(time.Second))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err == nil {
		_, err = js.KeyValue(ctx, Bucket)
	}
	return err
}
