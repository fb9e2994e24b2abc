package leaders_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/tune/leaders"
)

const s = time.Second

// text is what a trouble does, in the order of its fields.
func text(t tunings.Trouble) string {
	return fmt.Sprintf("lost %.3g–%.3g, two %.4g–%.4g, none %.4g–%.4g", t.Lost.Least, t.Lost.Most, t.TwoSeconds.Least,
		t.TwoSeconds.Most, t.NoneSeconds.Least, t.NoneSeconds.Most)
}

// Each case is one rule of an election, and has its answer by hand.
func TestRules(t *testing.T) {
	kube := func(lease, deadline, retry int) leaders.Kubernetes {
		return leaders.Kubernetes{LeaseDuration: time.Duration(lease) * s, RenewDeadline: time.Duration(deadline) * s,
			RetryPeriod: time.Duration(retry) * s}
	}
	usual, etcd := kube(15, 10, 2), leaders.Etcd{TTL: 10 * s}
	held := leaders.ZooKeeper{SessionTimeout: 12 * s, Tick: 2 * s}
	latch := leaders.ZooKeeper{SessionTimeout: 12 * s, Tick: 2 * s, Disconnected: true}
	consul, patient := leaders.Consul{TTL: 16 * s, LockDelay: 15 * s}, leaders.Consul{TTL: 60 * s, LockDelay: 15 * s,
		MonitorRetries: 20}
	const kept = "lost 0–0, two 0–0, none 0–0"
	for _, c := range []struct {
		rule string
		got  tunings.Trouble
		want string
	}{
		{"kubernetes: the last try is 8 s after the first", usual.Outage(8), kept},
		{"kubernetes: from half of the instants it comes after 9 s", usual.Outage(9), "lost 0.5–0.5, two 0–0, none 3–22.8"},
		{"kubernetes: no try at the end of RenewDeadline", usual.Outage(10), "lost 1–1, two 0–0, none 3–23.8"},
		{"kubernetes: a try in an eleventh second", kube(15, 11, 2).Outage(10), kept},
		// It stops 10 to 12 s after the beginning. The candidate is elected when the servers are back, if it has seen the
		// last renewal; otherwise after 4.4 s in which it waits, the lease, and 4.4 s.
		{"kubernetes: a candidate counts from when it sees the change", usual.Outage(30), "lost 1–1, two 0–0, none 18–43.8"},
		// It goes on for up to 4 s after the lease, which is a second longer than RenewDeadline and not a RetryPeriod.
		{"kubernetes: RetryPeriod comes before RenewDeadline", kube(15, 14, 5).Outage(12),
			"lost 0.4–0.431, two 0–4, none 0–35"},
		{"kubernetes: a lease that is longer than both", kube(20, 14, 5).Outage(12), "lost 0.4–0.4, two 0–0, none 1–40"},
		{"kubernetes: a candidate comes first by chance", kube(13, 12, 5).Outage(9), "lost 0–0.8, two 2–4, none 0–0"},
		{"kubernetes: a leader is told a RenewDeadline after its pause", usual.Pause(60),
			"lost 1–1, two 10–10, none 13–23.8"},
		{"kubernetes: it renews if no other has the lease", usual.Pause(13), kept},
		{"kubernetes: a pause in which another may be elected", usual.Pause(14), "lost 0–0.5, two 10–10, none 13–14"},
		{"kubernetes: a crash", usual.Crash(), "lost 1–1, two 0–0, none 13–23.8"},

		// A client asks a third of the TTL, and half a second, after the last answer. After 2 s of outage the servers
		// answer by the 4th second, and its last try to connect before has a wait of up to 1.92 s after it.
		{"etcd: an outage that is over in time", etcd.Outage(2), kept},
		{"etcd: nobody asks before a TTL has passed", etcd.Outage(12), "lost 1–1, two 0–0, none 2.5–19.33"},
		{"etcd: the backoff may be long", leaders.Etcd{TTL: 60 * s}.Outage(30), "lost 0–0.543, two 0–0, none 0–54"},
		// The waits are of 120 s at most, and may be 144 s.
		{"etcd: the backoff has an end", leaders.Etcd{TTL: 3600 * s}.Outage(3000), "lost 0.501–0.621, two 0–0, none 0–4204"},
		{"etcd: the lease ends a TTL after the last answer", etcd.Pause(8), "lost 0.478–0.478, two 0–0.5, none 6.17–8.5"},
		{"etcd: a pause that is shorter", etcd.Pause(6), kept},
		{"etcd: a crash", etcd.Crash(), "lost 1–1, two 0–0, none 6.17–10.5"},

		{"zookeeper: a session outlives an outage", held.Outage(300), kept},
		{"zookeeper: it ends with the tick, and what is reported late", held.Pause(60), "lost 1–1, two 0–1, none 8–15"},
		{"zookeeper: it may end in a pause", held.Pause(10), "lost 0–0.5, two 0–1, none 8–10"},
		{"zookeeper: a pause that is shorter", held.Pause(8), kept},
		{"zookeeper: a crash", held.Crash(), "lost 1–1, two 0–0, none 8–15"},
		{"zookeeper: a latch is disconnected by every outage", latch.Outage(1), "lost 1–1, two 0–0, none 1–18"},
		{"zookeeper: after two thirds of the timeout", latch.Pause(6), "lost 0.5–0.5, two 0–0, none 6–21"},
		{"zookeeper: before that", latch.Pause(4), kept},
		{"zookeeper: after the session", latch.Pause(60), "lost 1–1, two 0–0, none 8–15"},

		{"consul: the watch fails at once", consul.Outage(1), "lost 1–1, two 0–0, none 6–58"},
		{"consul: retries of the watch", patient.Outage(20), kept},
		{"consul: too few of them", patient.Outage(36), "lost 1–1, two 0–0, none 1–141"},
		// It renews its session for 30 to 60 s, and the servers are back after 35 to 40 s.
		{"consul: the session is renewed no more", patient.Outage(30), "lost 0.133–0.333, two 0–0, none 0–80"},
		{"consul: a session ends after one to two TTLs", consul.Pause(60), "lost 1–1, two 0–0, none 23–47"},
		{"consul: it may end in a pause", consul.Pause(12), "lost 0–0.5, two 0–0, none 23–27"},
		{"consul: a crash", consul.Crash(), "lost 1–1, two 0–0, none 23–47"},
	} {
		if got := text(c.got); got != c.want {
			t.Errorf("%s: %s of %v s: %s, want %s", c.rule, c.got.Kind, c.got.Seconds, got, c.want)
		}
	}
}

// What a client or the servers refuse has no troubles, and says who refuses it.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		election leaders.Election
		want     string
	}{
		{leaders.Kubernetes{LeaseDuration: 15 * s, RenewDeadline: 15 * s, RetryPeriod: 5 * s}, "client-go refuses it: Lease"},
		{leaders.Kubernetes{LeaseDuration: 15 * s, RenewDeadline: 14 * s, RetryPeriod: 5 * s}, ""},
		{leaders.Kubernetes{LeaseDuration: 15 * s, RenewDeadline: 6 * s, RetryPeriod: 5 * s}, "greater than 1.2 times Retry"},
		{leaders.Kubernetes{LeaseDuration: 15 * s, RenewDeadline: 7 * s, RetryPeriod: 5 * s}, ""},
		{leaders.Kubernetes{LeaseDuration: 15 * s, RenewDeadline: 7 * s}, "greater than zero"},
		{leaders.Kubernetes{LeaseDuration: 15500 * time.Millisecond, RenewDeadline: 7 * s, RetryPeriod: s}, "whole seconds"},
		{leaders.Etcd{TTL: 1500 * time.Millisecond}, "whole seconds"},
		{leaders.Etcd{TTL: s}, "below 2 s"},
		{leaders.ZooKeeper{SessionTimeout: 3 * s, Tick: 2 * s}, "below 2 ticks"},
		{leaders.ZooKeeper{SessionTimeout: 41 * s, Tick: 2 * s}, "above 20"},
		{leaders.Consul{TTL: 9 * s}, "from 10 s"},
		{leaders.Consul{TTL: 25 * time.Hour}, "24 hours"},
		{leaders.Consul{TTL: 15 * s, LockDelay: 61 * s}, "0 to 60 s"},
	} {
		set := leaders.Compute([]leaders.Election{c.election}, []float64{5}, []float64{5}).Settings[0]
		if !strings.Contains(set.Refused, c.want) || (set.Refused == "") != (c.want == "") {
			t.Errorf("%+v: refused since %q, want %q", c.election, set.Refused, c.want)
		}
		if troubles := len(set.Troubles); set.Refused != "" && troubles > 0 || set.Refused == "" && troubles != 3 {
			t.Errorf("%+v has %d troubles", c.election, troubles)
		}
	}
}

// A setting that is recommended does what was wished, and the shorter ones do not.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		wish tunings.Wish
		want []string // kubernetes, etcd, zookeeper, consul
	}{
		{tunings.Wish{SurviveSeconds: 12, BoundSeconds: 20}, []string{"15/13/1", "", "17, until expired", ""}},
		{tunings.Wish{SurviveSeconds: 12, BoundSeconds: 19}, []string{"", "", "16, until expired", ""}},
		{tunings.Wish{SurviveSeconds: 12, BoundSeconds: 60}, []string{"23/15/7", "32", "40, until expired", ""}},
		{tunings.Wish{SurviveSeconds: 5, BoundSeconds: 90},
			[]string{"30/16/13", "17", "40, until expired", "30/15, 8 retries"}},
		{tunings.Wish{SurviveSeconds: 5, BoundSeconds: 70},
			[]string{"24/13/10", "17", "40, until expired", "30/10, 8 retries"}},
		{tunings.Wish{SurviveSeconds: 1, BoundSeconds: 6}, []string{"", "", "", ""}},
	} {
		for i, a := range leaders.Advise(c.wish) {
			name := ""
			if a.Setting != nil {
				name = a.Setting.Name
				for _, tr := range a.Setting.Troubles {
					if tr.Kind == tunings.Outage && tr.Lost.Most > 0 || tr.TwoSeconds.Most > 0 ||
						tr.Kind == tunings.Crash && tr.NoneSeconds.Most > c.wish.BoundSeconds {
						t.Errorf("%+v: %s %s: %+v", c.wish, a.System, name, tr)
					}
				}
			}
			if name != c.want[i] || (a.Setting == nil) != (a.Impossible != "") || (a.Setting != nil) != (a.Because != "") {
				t.Errorf("%+v: %s: %q (%s), want %q", c.wish, a.System, name, a.Impossible, c.want[i])
			}
		}
	}
}
