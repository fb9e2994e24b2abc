package articles

// unchecked is recipe A8, in its first form: the lock of A2 with a release by DEL. The text promises a lock that
// one client has at a time, and that Unlock gives back.
type unchecked struct{ setNX }

// Unlock deletes the key.
func (l *unchecked) Unlock() error {
	return l.client.Del(l.ctx, l.key).Err()
}
