package articles

import "time"

// service is recipe A22: each of its methods takes the lock of the account, which knows no owners, and one of them
// calls another. The text promises no more of the lock than that of A2: it prints this to warn of it.
type service struct {
	lock func(account string) mutex
}

// Transfer takes the lock, and calls Audit with it.
func (s service) Transfer(account string, timeout time.Duration, work func() error) (bool, error) {
	return s.with(account, timeout, func() error {
		if _, err := s.Audit(account, timeout, work); err != nil {
			return err
		}
		return work()
	})
}

// Audit takes the same lock.
func (s service) Audit(account string, timeout time.Duration, work func() error) (bool, error) {
	return s.with(account, timeout, work)
}

func (s service) with(account string, timeout time.Duration, work func() error) (bool, error) {
	l := s.lock(account)
	if ok, err := l.Lock(timeout); err != nil || !ok {
		return ok, err
	}
	defer func() { _ = l.Unlock() }()
	return true, work()
}
