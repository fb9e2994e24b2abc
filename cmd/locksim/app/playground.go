package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/starter"
	"locksim/internal/playground/page"
	"locksim/internal/serve"
)

// playgroundFlags are the flags of the playground command.
type playgroundFlags struct {
	addr, out, checkout string
	json                bool
}

func playgroundCommand(s *shell) *cobra.Command {
	var f playgroundFlags
	cmd := &cobra.Command{
		Use:   "playground",
		Short: "Play scenarios in a browser, by sliders",
		Long: `Playground shows a page on which a scenario of the library, or one of yours, is played
with any lock on Redis, while its lengths of time, its fence and its seed are changed by
hand. The simulated world runs in the page itself: it needs no server and asks for
nothing, so that it can be opened from disk, sent to others, or put on any web site.

It shows the page on a loopback address until Ctrl-C, or writes it into a file with
--out. A release has the page in its archive, as playground.html beside the program. Any
other program builds it from its checkout with the Go that is installed here, which takes
minutes the first time.`,
		Example: `  locksim playground
  locksim playground --out playground.html`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8080", "listen on `HOST:PORT`, a loopback address; port 0 selects a "+
		"free port")
	flags.StringVar(&f.out, "out", "", "write the page into `FILE`, and serve nothing")
	flags.StringVar(&f.checkout, "checkout", "", "build the page from the checkout of locksim in `DIR` (default: "+
		"playground.html beside this program, or the checkout from which it was built)")
	flags.BoolVar(&f.json, "json", false, "print the address as one JSON document; see locksim schema serve; with --out "+
		"see locksim schema init")
	completion{s.Roster}.flags(cmd)
	return cmd
}

func (f playgroundFlags) run(s *shell) error {
	build, err := f.source(s)
	if err != nil {
		return err
	}
	if err := outfile.PrepareFile("out", f.out); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if f.out != "" {
		b, err := build(ctx)
		if err != nil {
			return err
		}
		return f.write(s, b)
	}
	l, err := serve.Listen(f.addr)
	if err != nil {
		return fmt.Errorf("--addr %s: %w", console.Quote(f.addr), err)
	}
	b, err := build(ctx)
	if err == nil && f.json {
		err = s.PrintJSON(Serving{Address: fmt.Sprintf("http://%v/", l.Addr())})
	} else if err == nil {
		_, err = fmt.Fprintf(s.Out, "the playground is at http://%v/ (Ctrl-C to stop)\n", l.Addr())
		err = s.Print(err)
	}
	if err != nil {
		_ = l.Close() // nothing was served
		return err
	}
	if err := serve.Run(ctx, l, serve.Page(b, page.Policy), log.New(s.Err, s.Program+": ", 0)); err != nil {
		return &console.BrokenError{Cause: fmt.Errorf("serve the playground: %w", err)}
	}
	return nil
}

// source says where the page comes from: a release has it beside its program, others build it from a checkout. A
// failure to build is one of the installation of Go, or of its network: the user can mend it.
func (f playgroundFlags) source(s *shell) (func(context.Context) ([]byte, error), error) {
	if self, err := os.Executable(); err == nil && f.checkout == "" {
		if made, err := madePage(self); made != nil || err != nil {
			return func(context.Context) ([]byte, error) { return made, nil }, err
		}
	}
	checkout, err := starter.Checkout(f.checkout)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]byte, error) {
		defer s.Busy("building the playground for js/wasm, which takes minutes the first time")()
		engine, err := page.Build(ctx, checkout)
		if err != nil {
			return nil, fmt.Errorf("build the playground: %w", err)
		}
		return page.Make(engine, page.Options{})
	}, nil
}

// madePage is the page that lies beside a program, or beside that to which a link leads; nil if there is none.
func madePage(program string) ([]byte, error) {
	if file, err := filepath.EvalSymlinks(program); err == nil {
		program = file
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(program), page.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: it is the page of this release: make it readable, or build another with --checkout DIR",
			err)
	}
	return b, nil
}

func (f playgroundFlags) write(s *shell, b []byte) error {
	name := filepath.Base(f.out)
	if err := outfile.WriteAll(filepath.Dir(f.out), []outfile.Document{{Name: name, Data: b}}); err != nil {
		return fmt.Errorf("%w: give a file that can be written to", err)
	}
	if f.json {
		return s.PrintJSON(Written{Files: []string{filepath.ToSlash(f.out)}})
	}
	_, err := fmt.Fprintf(s.Out, "%s: %.1f MB; open it in a browser\n", console.Quote(filepath.ToSlash(f.out)),
		float64(len(b))/1e6)
	return s.Print(err)
}
