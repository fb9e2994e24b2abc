package server

import "time"

// hasClock returns an error if the server has no clocks of its own.
func (s *Server) hasClock() error {
	switch {
	case s.clock != nil:
		return nil
	case s.group.options.Kind == Etcd:
		return s.unable("etcd is a Go program, which reads the clocks of the machine past every library")
	case !s.group.options.Clock:
		return s.unable("it was started with the clocks of the machine")
	default:
		return s.unable("clocks of its own need a C compiler and Linux (Debian and Ubuntu: apt-get install gcc libc6-dev)")
	}
}

// JumpClock moves the wall clock of the server now, backward if the length is negative. Redis expires keys by that
// clock, and the databases have now() from it; sessions of ZooKeeper go by its monotonic clock. It is possible while
// the server is down or stalled. Servers that were started without Options.Clock, and etcd, are unable to do so.
func (s *Server) JumpClock(by time.Duration) error {
	if err := s.hasClock(); err != nil {
		return err
	}
	return s.clock.change(func(now *setting) { now.wall += int64(by) })
}

// DriftClock makes the clocks of the server run faster by so many millionths from now on, slower if it is negative:
// at [faults.MinPPM] they stand still, and at 0 they run as they should, without what they have gained or lost being
// undone. It is the wall clock, and of ZooKeeper and MariaDB the monotonic one too. The time limits of PostgreSQL and
// the timers inside Redis run as they should.
func (s *Server) DriftClock(ppm int64) error {
	if err := s.hasClock(); err != nil {
		return err
	}
	return s.clock.change(func(now *setting) { now.ppm = ppm })
}

// Time is the time of the server's wall clock.
func (s *Server) Time() time.Time {
	if s.clock == nil {
		return time.Now()
	}
	return s.clock.now()
}
