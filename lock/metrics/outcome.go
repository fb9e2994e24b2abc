package metrics

import (
	"context"
	"errors"
	"time"

	"locksim/lock"
	"locksim/lock/fence"
)

// The values of the labels. Each function that chooses one returns one of its list.
const (
	granted   = "granted"
	taken     = "taken"
	timeout   = "timeout"
	cancelled = "cancelled"
	noQuorum  = "no_quorum"

	renewed = "renewed"
	notHeld = "not_held"
	limit   = "limit"

	released = "released"
	lost     = "lost"
	notOwner = "not_owner"

	expired = "expired"
	gone    = "gone"

	stale   = "stale"
	noGrant = "no_grant"

	unknown = "unknown"
	failed  = "error"
)

func attemptOutcomes() []string {
	return []string{granted, taken, timeout, cancelled, noQuorum, unknown, failed}
}

func renewalOutcomes() []string  { return []string{renewed, notHeld, limit, unknown, failed} }
func releaseOutcomes() []string  { return []string{released, lost, notOwner, unknown, failed} }
func lossReasons() []string      { return []string{expired, gone} }
func rejectionReasons() []string { return []string{stale, noGrant} }

// ofAttempt is the outcome of an acquire. One error may wrap several sentinels: a deadline that ended the wait is
// distinguished from one that ended a request, and no quorum from a node without an answer.
func ofAttempt(err error) string {
	switch {
	case err == nil:
		return granted
	case errors.Is(err, lock.ErrNoQuorum):
		return noQuorum
	case errors.Is(err, lock.ErrOutcomeUnknown):
		return unknown
	case errors.Is(err, context.DeadlineExceeded):
		return timeout
	case errors.Is(err, context.Canceled):
		return cancelled
	case errors.Is(err, lock.ErrTaken):
		return taken
	}
	return failed
}

// ofRenewal is the outcome of an extension.
func ofRenewal(err error) string {
	switch {
	case err == nil:
		return renewed
	case errors.Is(err, lock.ErrNotHeld):
		return notHeld
	case errors.Is(err, lock.ErrExtensionLimit):
		return limit
	case errors.Is(err, lock.ErrOutcomeUnknown):
		return unknown
	}
	return failed
}

// ofRelease is the outcome of a release. over says that the lease had ended as far as the holder could know.
func ofRelease(err error, over bool) string {
	switch {
	case err == nil:
		return released
	case errors.Is(err, lock.ErrNotHeld) && over:
		return lost
	case errors.Is(err, lock.ErrNotHeld):
		return notOwner
	case errors.Is(err, lock.ErrOutcomeUnknown):
		return unknown
	}
	return failed
}

// ofLoss is the reason of a loss that was noticed at an instant.
func ofLoss(at, until time.Time) string {
	if at.Before(until) {
		return gone
	}
	return expired
}

// Rejected counts err if it is a fence's refusal: an error that wraps [fence.ErrStale] or [fence.ErrNoGrant], as those
// of the rules and of the guards in its subpackages do. It returns err unchanged.
func (m *Metrics) Rejected(err error) error {
	switch {
	case errors.Is(err, fence.ErrStale):
		m.rejections.WithLabelValues(stale).Inc()
	case errors.Is(err, fence.ErrNoGrant):
		m.rejections.WithLabelValues(noGrant).Inc()
	}
	return err
}
