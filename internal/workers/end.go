package workers

import (
	"errors"
	"fmt"
	"time"
)

// How long a child has to end by itself, and how long its output is waited for
// when a process that it started still holds it.
const (
	graceToEnd     = 5 * time.Second
	graceForOutput = time.Second
)

// end ends a child with which nothing more can be done, for the reason that
// next or ask gave, and waits until it is gone. It returns what became of it.
func (c *child) end(why error) string {
	if !errors.Is(why, errEnded) {
		c.kill()
		return why.Error()
	}
	c.retire()
	return c.fate()
}

// retire lets a child end, and waits until it is gone.
func (c *child) retire() {
	close(c.over)
	_ = c.in.Close() // it may be closed already
	late := time.NewTimer(graceToEnd)
	defer late.Stop()
	select {
	case <-c.gone:
	case <-late.C:
		c.strike()
	}
}

// kill ends a child at once, and waits until it is gone.
func (c *child) kill() {
	close(c.over)
	c.strike()
}

// strike kills this process, by its id. What it still has to say is not read.
func (c *child) strike() {
	_ = c.cmd.Process.Kill() // it may be gone already
	_ = c.out.Close()
	_ = c.in.Close()
	<-c.gone
}

// fate is what became of a child that is gone.
func (c *child) fate() string {
	if c.state == nil {
		return "it ended by itself, with exit status 0"
	}
	return fmt.Sprintf("it ended by itself: %v", c.state)
}
