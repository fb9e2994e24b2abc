package leaders

import (
	"fmt"
	"math"
	"time"

	"locksim/scenarios/outcome/tunings"
)

// Kubernetes is an election by package leaderelection of client-go (v0.37.2), without ReleaseOnCancel, which is its
// default. These are its rules:
//
//   - The leader tries to renew its lease RetryPeriod after it has renewed it (renew: wait.UntilWithContext), and after
//     each try that fails again, for RenewDeadline from the first of these tries on (wait.PollUntilContextTimeout). So
//     it stops RetryPeriod and RenewDeadline after it has renewed last, and the last try is the last multiple of
//     RetryPeriod before RenewDeadline.
//   - Nothing but the end of RenewDeadline stops it: a leader whose record another one has overwritten goes on for that
//     long (renew does not look at IsLeader).
//   - A candidate tries again after RetryPeriod and up to JitterFactor, 1.2, times that (acquire: wait.JitterUntil). It
//     takes the lease when it has not seen its record change for LeaseDuration, by its own clock (isLeaseValid). It
//     sees a change when it tries. Of a record that it has not seen before an outage it sees the change after it.
//   - LeaseDuration must be greater than RenewDeadline, and RenewDeadline than JitterFactor times RetryPeriod
//     (NewLeaderElector). The record has LeaseDuration in whole seconds (LeaseDurationSeconds).
type Kubernetes struct{ LeaseDuration, RenewDeadline, RetryPeriod time.Duration }

// jitterFactor is leaderelection.JitterFactor.
const jitterFactor = 1.2

// Setting implements [Election].
func (k Kubernetes) Setting() tunings.Setting {
	s := tunings.Setting{System: tunings.Kubernetes,
		Name: fmt.Sprintf("%v/%v/%v", short(k.LeaseDuration), short(k.RenewDeadline), short(k.RetryPeriod)),
		Times: []tunings.Time{{Name: "leaseDuration", Seconds: k.LeaseDuration.Seconds()},
			{Name: "renewDeadline", Seconds: k.RenewDeadline.Seconds()},
			{Name: "retryPeriod", Seconds: k.RetryPeriod.Seconds()}}}
	switch {
	case k.LeaseDuration <= k.RenewDeadline:
		s.Refused = fmt.Sprintf("client-go refuses it: LeaseDuration must be greater than RenewDeadline (NewLeaderElector); "+
			"give a RenewDeadline below %s, and below %s if the leader is to stop before another one leads",
			tunings.Seconds(k.LeaseDuration.Seconds()), tunings.Seconds(max(k.LeaseDuration-k.RetryPeriod, 0).Seconds()))
	case k.RenewDeadline.Seconds() <= jitterFactor*k.RetryPeriod.Seconds():
		s.Refused = "client-go refuses it: RenewDeadline must be greater than 1.2 times RetryPeriod (NewLeaderElector)"
	case k.RetryPeriod <= 0:
		s.Refused = "client-go refuses it: RetryPeriod must be greater than zero (NewLeaderElector)"
	case k.LeaseDuration%time.Second != 0:
		s.Refused = "the record has LeaseDuration in whole seconds: with another one the leader would count by a longer " +
			"one than the others"
	}
	return s
}

// short is a duration as a number where it is in whole seconds.
func short(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprint(int(d / time.Second))
	}
	return d.String()
}

// times are LeaseDuration, RenewDeadline, RetryPeriod and the longest wait of a candidate, in seconds.
func (k Kubernetes) times() (lease, deadline, retry, wait float64) {
	retry = k.RetryPeriod.Seconds()
	return k.LeaseDuration.Seconds(), k.RenewDeadline.Seconds(), retry, retry * (1 + jitterFactor)
}

// lastTry is the last try to renew, counted in RetryPeriods from the first one on.
func (k Kubernetes) lastTry() float64 {
	_, deadline, retry, _ := k.times()
	return math.Ceil(deadline/retry) - 1
}

// Outage implements [Election].
func (k Kubernetes) Outage(n float64) tunings.Trouble {
	lease, deadline, retry, wait := k.times()
	return over(tunings.Outage, n, retry, func(since float64) ending {
		first := retry - since // the first try in the outage
		stops := seconds(first + deadline)
		elected := within{max(n, lease-since), n + wait + lease + wait}
		try := max(math.Ceil((n-first)/retry), 0) // the first one that can succeed
		switch renewed := first + try*retry; {
		case try > k.lastTry():
			return lost(true, stops, elected)
		case elected.least < renewed: // a candidate that has seen the record change at once, and tries at once
			return lost(false, stops, within{elected.least, renewed})
		}
		return ending{}
	})
}

// Pause implements [Election]. A leader that goes on tries to renew at once.
func (k Kubernetes) Pause(m float64) tunings.Trouble {
	lease, deadline, retry, wait := k.times()
	return over(tunings.Pause, m, retry, func(since float64) ending {
		elected := within{lease - since, lease - since + wait + wait}
		if elected.least >= m {
			return ending{}
		}
		elected.most = min(elected.most, m)
		return ending{surely: lease-since+wait+wait < m, perhaps: true, two: seconds(deadline), none: elected}
	})
}

// Crash implements [Election].
func (k Kubernetes) Crash() tunings.Trouble {
	lease, _, retry, wait := k.times()
	return over(tunings.Crash, 0, retry, func(since float64) ending {
		return ending{surely: true, perhaps: true, none: within{lease - since, lease - since + wait + wait}}
	})
}
