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

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/internal/runfolder"
	"locksim/internal/serve"
)

func serveCommand(s *shell) *cobra.Command {
	var addr string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show stored runs in a browser",
		Long: `Serve shows the results that --keep has stored, or those in the folders of DIR, to
browsers on this machine: an index of all runs, explorations, sweeps and matrices, with
their reports. The index is made anew for each request, and shows the progress of
running campaigns.

It listens on a loopback address only, serves nothing outside the folder, and ends with
Ctrl-C.`,
		Example: `  locksim serve
  locksim serve /tmp/runs --addr 127.0.0.1:0`,
		Args: atMostOne("a folder with folders of runs in it"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return serveFolder(s, append(args, runfolder.Default)[0], addr, asJSON)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8080", "listen on `HOST:PORT`, a loopback address; port 0 selects a "+
		"free port")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the address as one JSON document; see locksim schema serve")
	completion{s.Roster}.flags(cmd)
	return cmd
}

func serveFolder(s *shell, dir, addr string, asJSON bool) error {
	root, err := os.OpenRoot(filepath.FromSlash(dir))
	if err != nil {
		return fmt.Errorf("cannot show %s: %w: store a run first, with %s run gc-pause --keep, or give a folder with "+
			"stored runs", console.Quote(dir), err, s.Command())
	}
	defer func() { _ = root.Close() }() // it was only read
	l, err := serve.Listen(addr)
	if err != nil {
		return fmt.Errorf("--addr %s: %w", console.Quote(addr), err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := greet(s, dir, l, asJSON); err != nil {
		_ = l.Close() // nothing was served
		return err
	}
	scanner := &runfolder.Scanner{FS: root.FS(), Now: time.Now}
	index := func() ([]byte, error) { return publish.IndexPage(s.Console, scanner, true) }
	if err := serve.Run(ctx, l, serve.Handler(root, index), log.New(s.Err, s.Program+": ", 0)); err != nil {
		return &console.BrokenError{Cause: fmt.Errorf("serve %s: %w", dir, err)}
	}
	return nil
}

// greet prints the address.
func greet(s *shell, dir string, l net.Listener, asJSON bool) error {
	if asJSON {
		return s.PrintJSON(Serving{Folder: dir, Address: fmt.Sprintf("http://%v/", l.Addr())})
	}
	_, err := fmt.Fprintf(s.Out, "serving %s at http://%v/ (Ctrl-C to stop)\n", dir, l.Addr())
	return s.Print(err)
}
