package locktest

import "time"

// fair makes clients join the queue one after another, each after the one before has been told to wait.
func fair(s *trial) {
	if !s.Fair {
		s.Skip("the harness promises no order among waiters")
	}
	for i := range clients {
		s.wire(i)
		s.acquireRelease(i) // the connections and scripts exist from now on
	}
	g := s.acquire(0)
	var waiters []<-chan answer
	for i := 1; i < clients; i++ {
		before := s.wire(i).Answers()
		waiters = append(waiters, s.waiting(i))
		awaitAnswer(s, i, before)
	}
	if g.over() {
		s.slow("the lease ended before all clients were in the queue")
	}
	s.release(g)
	var last grant
	for i, w := range waiters {
		next := s.granted(w)
		if i > 0 && next.returned.Before(last.returned) {
			s.Errorf("c%d was granted before c%d, which had come first", next.client, last.client)
		}
		last = next
		s.release(next)
	}
}

// awaitAnswer waits until the servers have answered client i more often than before, and a little longer.
func awaitAnswer(s *trial, i, before int) {
	s.Helper()
	for s.wire(i).Answers() == before {
		if s.ctx.Err() != nil {
			s.Fatalf("c%d waits for the lock and sends no request", i)
		}
		time.Sleep(s.TTL / 200)
	}
	time.Sleep(s.TTL / 40)
}
