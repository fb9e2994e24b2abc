package lock

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// subscription listens on one channel and interrupts a sleep when there is news: the node has confirmed the
// subscription, a message has arrived, or a confirmed subscription has been lost. After any of them, earlier answers of
// the node may be outdated.
//
// go-redis guards a PubSub by a mutex and, when a connection is lost, would dial again while it holds the mutex. So the
// reader passes an ended context: then it does not, and close does not have to wait.
type subscription struct {
	pubsub *redis.PubSub
	done   chan struct{} // closed when the reader has returned

	mu        sync.Mutex // guards the rest
	confirmed bool
	err       error // why the reader has returned
	news      bool  // since the last forget
	wake      context.CancelFunc
}

// subscribe returns as soon as the request for the subscription is sent.
func subscribe(ctx context.Context, client Subscriber, channel string) (*subscription, error) {
	s := &subscription{pubsub: client.Subscribe(ctx), done: make(chan struct{})}
	if err := s.pubsub.Subscribe(ctx, channel); err != nil {
		_ = s.pubsub.Close()
		return nil, err
	}
	go s.read()
	return s, nil
}

func (s *subscription) read() {
	defer close(s.done)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		message, err := s.pubsub.ReceiveTimeout(ctx, 0) // 0: no timeout
		s.receive(message, err)
		if err != nil {
			return
		}
	}
}

// receive handles a message or the end of the subscription.
func (s *subscription) receive(message any, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := message.(*redis.Subscription); ok {
		s.confirmed = true
	}
	s.err = err
	if !s.confirmed { // no waiter relies on it yet
		return
	}
	s.news = true
	if s.wake != nil {
		s.wake()
	}
}

// takeNews resets the news, and reports whether there was any, and whether the subscription is confirmed. A request
// after it has a newer answer than that news.
//
// Only it resets the news, a round trip after the sleep that they ended: messages that arrive together are one piece of
// news, whether the waiter or the reader is faster.
func (s *subscription) takeNews() (confirmed, news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news, s.news = s.news, false
	return s.confirmed, news
}

// isOver reports whether the subscription has ended, and why.
func (s *subscription) isOver() (over bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil, s.err
}

// sleep returns after d, or as soon as there is news that was not taken, or with an error when ctx has ended.
func (s *subscription) sleep(ctx context.Context, clock Clock, d time.Duration) error {
	sleepCtx, wake := context.WithCancel(ctx)
	defer wake()
	if s.setWake(wake) {
		return nil
	}
	err := clock.Sleep(sleepCtx, d)
	if s.clearWake() {
		return nil
	}
	return err
}

// setWake makes news call wake from now on, and reports whether there is news already.
func (s *subscription) setWake(wake context.CancelFunc) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.news {
		s.wake = wake
	}
	return s.news
}

// clearWake undoes setWake, and reports whether there was news.
func (s *subscription) clearWake() (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake = nil
	return s.news
}

// close ends the subscription, on the node too, and waits for the reader.
func (s *subscription) close() {
	_ = s.pubsub.Close()
	<-s.done
}
