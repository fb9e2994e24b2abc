package app

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"locksim/internal/runfolder"
	"locksim/internal/serve"
)

func (s serving) serveCommand() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show the kept runs in a browser",
		Long: `Serve shows what --keep has kept, or what lies in the folders below DIR, to the
browsers of this machine: an index of all runs, explorations, sweeps and matrices,
with their reports. The index follows a campaign at work, and is up to date
whenever it is looked at.

It listens on a loopback address and on no other, serves nothing outside the
folder, and ends with Ctrl-C.`,
		Example: `  locksim serve
  locksim serve /tmp/runs --addr 127.0.0.1:0`,
		Args: atMostOne("a folder with folders of runs in it"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return s.serveFolder(append(args, runfolder.Default)[0], addr)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8080", "listen on `HOST:PORT`, a loopback address; port 0 is any that is free")
	s.completeFlags(cmd)
	return cmd
}

// serveFolder is the serve command.
func (s serving) serveFolder(dir, addr string) error {
	root, err := os.OpenRoot(filepath.FromSlash(dir))
	if err != nil {
		return fmt.Errorf("cannot show %s: %w: keep a run first, with %s run gc-pause --keep, or give a folder that holds some", quote(dir), err, s.command())
	}
	defer func() { _ = root.Close() }() // it was only read
	l, err := serve.Listen(addr)
	if err != nil {
		return fmt.Errorf("--addr %s: %w", quote(addr), err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := s.print(s.greet(dir, l)); err != nil {
		_ = l.Close() // nothing was served
		return err
	}
	scanner := &runfolder.Scanner{FS: root.FS(), Now: time.Now}
	index := func() ([]byte, error) { return s.indexPage(scanner, true) }
	if err := serve.Run(ctx, l, serve.Handler(root, index), log.New(s.err, s.program+": ", 0)); err != nil {
		return &brokenError{cause: fmt.Errorf("serve %s: %w", dir, err)}
	}
	return nil
}

// greet says where to look.
func (s serving) greet(dir string, l net.Listener) error {
	_, err := fmt.Fprintf(s.out, "%s is shown at http://%v/ (Ctrl-C ends this)\n", dir, l.Addr())
	return err
}
