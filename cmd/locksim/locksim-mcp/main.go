// Locksim-mcp serves the command locksim to agents over MCP (Model Context Protocol), on standard input and output.
//
//	locksim-mcp                            # of the locksim in PATH
//	locksim-mcp go run ./locksimtest/sim   # of the command with your own lock, which locksim init writes
//
// Its tools are list, run, explore, replay and explain. Each calls the command with --json, and its answer has the exit
// code and that document; "locksim schema NAME" has the schema of each. AGENTS.md is the manual. Runs are stored in the
// folder of -out, or in a new temporary folder, from which replay and explain read them.
//
// It is a module of its own, since it stands on the SDK of MCP, and on nothing of locksim.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	out := flag.String("out", "", "store runs in `DIR` (default: a new temporary folder)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "locksim-mcp:", err)
		os.Exit(2)
	}
}

// serve answers a client until it goes. command is how the command locksim is called.
func serve(ctx context.Context, out string, command []string) error {
	if len(command) == 0 {
		command = []string{"locksim"}
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return fmt.Errorf("%w: put locksim into PATH, or say how it is called, as in: locksim-mcp go run ./locksimtest/sim",
			err)
	}
	if out == "" {
		dir, err := os.MkdirTemp("", "locksim-mcp-")
		if err != nil {
			return fmt.Errorf("%w: name a folder with -out", err)
		}
		out = dir
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	s := newServer(&program{command: command, out: out})
	if err := s.Run(ctx, &mcp.StdioTransport{}); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
