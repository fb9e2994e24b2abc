package lock

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// subscription listens on one channel and interrupts a sleep when there is news: the node has confirmed
// the subscription, a message has come, or a confirmed subscription has been lost. All of them mean that
// what was true before may be so no longer.
//
// go-redis guards a PubSub by a mutex and, when a connection is lost, would dial again while it holds
// that. So the reader gives it a context that has ended: then it does not, and close has not to wait.
type subscription struct {
	pubsub *redis.PubSub
	done   chan struct{} // closed when the reader has ended

	mu        sync.Mutex // guards the rest
	confirmed bool
	err       error // why the reader has ended
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
		message, err := s.pubsub.ReceiveTimeout(ctx, 0) // 0: it waits as long as it takes
		s.take(message, err)
		if err != nil {
			return
		}
	}
}

// take notes what has been received.
func (s *subscription) take(message any, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := message.(*redis.Subscription); ok {
		s.confirmed = true
	}
	s.err = err
	if !s.confirmed { // nobody relies on it yet
		return
	}
	s.news = true
	if s.wake != nil {
		s.wake()
	}
}

// forget drops the news so far, and reports whether there was any, and whether the subscription is
// confirmed. What is asked after it is newer than what was forgotten.
//
// It is the only one to drop news, and a round trip after the sleep that they ended: messages that came at
// once are one piece of news, whether the waiter or the reader is the faster one.
func (s *subscription) forget() (confirmed, news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news, s.news = s.news, false
	return s.confirmed, news
}

// isOver reports whether nothing can be received any more, and why.
func (s *subscription) isOver() (over bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil, s.err
}

// sleep returns after d, or as soon as there is news that has not been forgotten, or with an error when
// ctx has ended.
func (s *subscription) sleep(ctx context.Context, clock Clock, d time.Duration) error {
	nap, wake := context.WithCancel(ctx)
	defer wake()
	if s.lieDown(wake) {
		return nil
	}
	err := clock.Sleep(nap, d)
	if s.getUp() {
		return nil
	}
	return err
}

// lieDown lets news call wake from now on, and reports whether there is some already.
func (s *subscription) lieDown(wake context.CancelFunc) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.news {
		s.wake = wake
	}
	return s.news
}

// getUp ends what lieDown began, and reports whether there was news.
func (s *subscription) getUp() (news bool) {
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
