// Command realconsul is Consul's own agent, one server in its development mode, for the tests that compare the
// simulated servers with it.
//
//	go -C internal/realconsul run .
//
// It listens on loopback alone, prints the address of its HTTP API, and ends when its standard input does.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/hashicorp/consul/agent"
	"github.com/hashicorp/consul/agent/config"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "realconsul:", err)
		os.Exit(1)
	}
}

func serve() error {
	ports, err := freePorts(4)
	if err != nil {
		return err
	}
	development := true
	load := func(source config.Source) (config.LoadResult, error) {
		return config.Load(config.LoadOpts{DefaultConfig: source, DevMode: &development, HCL: []string{fmt.Sprintf(`
			bind_addr = "127.0.0.1"
			client_addr = "127.0.0.1"
			disable_update_check = true
			log_level = "ERROR"
			ports { http = %d server = %d serf_lan = %d serf_wan = -1 dns = -1 grpc = -1 grpc_tls = %d }
		`, ports[0], ports[1], ports[2], ports[3])}})
	}
	deps, err := agent.NewBaseDeps(load, io.Discard) // its log names each request that is refused
	if err != nil {
		return fmt.Errorf("configure the agent: %w", err)
	}
	a, err := agent.New(deps)
	if err != nil {
		return fmt.Errorf("make the agent: %w", err)
	}
	if err := a.Start(context.Background()); err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	a.StartSync()
	fmt.Printf("127.0.0.1:%d\n", ports[0])
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return a.ShutdownAgent()
}

// freePorts are ports on which no program listens now.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // at the end: so that they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
