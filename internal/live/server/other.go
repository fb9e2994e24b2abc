package server

import (
	"context"
	"os/exec"
	"time"

	"locksim/scenarios/file"
)

// Other is how to start servers of a kind that is none of this package. They have the clocks of the machine.
type Other struct {
	// Prefix begins their names.
	Prefix string
	// Command makes the command of a server that listens on an address, with its files in a folder.
	Command func(folder, address string) *exec.Cmd
	// Ready returns nil once the server at an address serves. Nil means that it accepts connections.
	Ready func(ctx context.Context, address string) error
	// Unsynced says what a process that is killed leaves to the operating system, which a power failure would lose; "" for
	// nothing.
	Unsynced string
	// Pace is how fast they are.
	Pace Pace
}

// Pace is that of the servers' kind.
func (s *Server) Pace() Pace {
	if o := s.group.options.Other; o != nil {
		return o.Pace
	}
	return PaceOf(s.Kind())
}

func (g *Group) startOther(ctx context.Context) error {
	o, names := g.options.Other, file.Numbered(g.options.Other.Prefix, g.options.Count)
	at, err := addresses(len(names))
	if err != nil {
		return err
	}
	for i, name := range names {
		s, err := g.add(name, at[i])
		if err != nil {
			return err
		}
		s.engine = &process{
			dir:     s.dir,
			command: func() *exec.Cmd { return o.Command(s.dir, s.addr) },
			ready: func(int) error {
				if o.Ready == nil {
					return listens(s.addr)
				}
				ctx, end := context.WithTimeout(context.Background(), time.Second)
				defer end()
				return o.Ready(ctx, s.addr)
			},
		}
		if err := s.Restart(ctx); err != nil {
			return err
		}
	}
	return nil
}
