package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/redis/go-redis/v9"
)

func main() {
	var o options
	flag.IntVar(&o.Rounds, "rounds", 201, "rounds of each contest; in a round every contender has one turn")
	flag.IntVar(&o.Sections, "sections", 100, "acquires with their releases in a turn")
	flag.IntVar(&o.Handovers, "handovers", 41, "rounds of the contest of hand-overs, with one in a turn")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// run measures, and writes the report when all is done.
func run(ctx context.Context, w io.Writer, o options) error {
	if err := o.validate(); err != nil {
		return err
	}
	redis.SetLogger(silence{})
	rig, err := newRig()
	if err != nil {
		return fmt.Errorf("start Redis: %w", err)
	}
	defer rig.close()
	contests, err := rig.contests(o)
	if err != nil {
		return fmt.Errorf("make the locks: %w", err)
	}
	var tables []table
	for _, c := range contests {
		times, err := c.hold(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.title, err)
		}
		tables = append(tables, c.table(times))
	}
	machine, err := rig.machine(ctx)
	if err != nil {
		return fmt.Errorf("describe the machine: %w", err)
	}
	return report{machine: machine, options: o, tables: tables}.write(w)
}

// silence is a go-redis logger that says nothing: what goes wrong is in the errors.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}
