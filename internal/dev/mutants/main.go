// Mutants makes mistakes in the code, one at a time, and says what detects each:
//
//	go -C internal/dev run ./mutants named [--run REGEXP] [-j N] [--results FILE] [--markdown]
//	go -C internal/dev run ./mutants own FOLDER [--size N] [--seed N]
//	go -C internal/dev run ./mutants sample [--earlier]
//	go -C internal/dev run ./mutants strategies [--run REGEXP] [--strategies NAME,…] [--seeds N] [--cpu LENGTH] [--table]
//	  [--anew]
//	go -C internal/dev run ./mutants reach [--run REGEXP] [--size N] [--runs N] [--cpu TIME] [--table] [--anew]
//
// A mistake is a patch that somebody wrote, of package patch, or a small change that was drawn, of package mechanical.
// No file of the checkout changes: the go command gets the mistake by its flag -overlay. The progress goes to stderr,
// the result to stdout. A result does not depend on the machine or the time, so that a committed copy can be compared
// with it.
//
// The exit code is 0; 1 when a mutant of named is not killed or one of reach has no result that counts, and when a run
// cannot be completed (a patch does not fit the source, a test fails without a mutant, Ctrl-C); and 2 for bad usage.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksim/internal/dev/checkout"
	"locksim/internal/dev/mechanical"
	"locksim/internal/dev/reach"
	"locksim/internal/dev/strategies"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute is the whole program.
func execute(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	began := false // the usage is right
	root := &cobra.Command{
		Use: "mutants", Short: "Make one mistake at a time in the code, and say what detects it",
		SilenceErrors: true, SilenceUsage: true, CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	add := func(use, short string, args cobra.PositionalArgs, of measurement) {
		c := &cobra.Command{Use: use, Short: short, Args: args}
		of.Flags(c.Flags())
		c.PreRunE = func(_ *cobra.Command, args []string) error { return of.Validate(args) }
		c.RunE = func(c *cobra.Command, _ []string) error {
			began = true
			return measure(c.Context(), of, stdout, stderr)
		}
		root.AddCommand(c)
	}
	add("named", "Run the test that the patch of a mutant names, which must fail", cobra.NoArgs, &named{})
	add("own FOLDER", "List the mechanical mutants of a package, of a sample, that its own tests do not detect",
		cobra.ExactArgs(1), &own{})
	add("sample", "Run the unit tests of package lock with the sample of its mechanical mutants, and write the "+
		"results into "+
		mechanical.SampleFile, cobra.NoArgs, &sample{})
	add("strategies", "Search hard mistakes with several strategies, and compare how soon they are found", cobra.NoArgs,
		&strategies.Request{})
	add("reach", "Search a sample of the mutants of package lock with locksim", cobra.NoArgs, &reach.Request{})
	if err := root.ExecuteContext(ctx); err != nil {
		_, _ = fmt.Fprintf(stderr, "mutants: %v\n", err)
		if began {
			return exitFailed
		}
		return exitUsage
	}
	return exitOK
}

// measurement is what a command does.
type measurement interface {
	Flags(flags *pflag.FlagSet)
	// Validate returns an error for bad usage.
	Validate(args []string) error
	// Run works in the checkout at root, with the folder dir for temporary files.
	Run(ctx context.Context, root, dir string, stdout, stderr io.Writer) error
}

func measure(ctx context.Context, m measurement, stdout, stderr io.Writer) error {
	root, err := checkout.Root()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)                      //nolint:errcheck // it is in the system's directory for temporary files
	if err := os.Chmod(dir, 0o711); err != nil { // servers that run as another user have folders in it
		return err
	}
	return m.Run(ctx, root, dir, stdout, stderr)
}

// own is the command of that name.
type own struct{ mechanical.OwnTests }

func (o *own) Flags(flags *pflag.FlagSet) {
	flags.IntVar(&o.Size, "size", 60, "the size of the sample")
	flags.Uint64Var(&o.Seed, "seed", 1, "the seed of the sample")
}

func (o *own) Validate(args []string) error {
	o.Folder = path.Clean(filepath.ToSlash(args[0]))
	if o.Size < 1 {
		return fmt.Errorf("--size is a number from 1")
	}
	return nil
}

// sample is the command of that name.
type sample struct{ earlier bool }

func (s *sample) Flags(flags *pflag.FlagSet) {
	flags.BoolVar(&s.earlier, "earlier", false, "keep what the tests made of a mutant before package lock changed "+
		"elsewhere")
}

func (*sample) Validate([]string) error { return nil }

func (s *sample) Run(ctx context.Context, root, dir string, _, stderr io.Writer) error {
	return mechanical.MakeSample(ctx, root, dir, s.earlier, stderr)
}
