package leaders

import (
	"fmt"
	"math"
	"time"

	"locksim/scenarios/outcome/tunings"
)

// Tick is the tick of ZooKeeper's servers that is assumed: tickTime of 2000 ms, as in its sample configuration.
const Tick = 2 * time.Second

// Compute is the document of all elections under outages and pauses of these lengths, in seconds, and a crash.
func Compute(all []Election, outages, pauses []float64) *tunings.Leaders {
	doc := &tunings.Leaders{Version: tunings.LeadersVersion}
	for _, e := range all {
		doc.Settings = append(doc.Settings, compute(e, outages, pauses))
	}
	return doc
}

func compute(e Election, outages, pauses []float64) tunings.Setting {
	s := e.Setting()
	if s.Refused != "" {
		return s
	}
	for _, n := range outages {
		s.Troubles = append(s.Troubles, e.Outage(n))
	}
	for _, m := range pauses {
		s.Troubles = append(s.Troubles, e.Pause(m))
	}
	s.Troubles = append(s.Troubles, e.Crash())
	return s
}

// Advise recommends a setting of each system with which an outage of so many seconds costs no leader and makes no two,
// and no crash leaves none for longer than the bound; or says why there is none.
func Advise(w tunings.Wish) []tunings.Advice {
	return []tunings.Advice{kubernetesAdvice(w), etcdAdvice(w), zookeeperAdvice(w), consulAdvice(w)}
}

// advice is that of an election, if it does what is wished; otherwise impossible says why none does.
func advice(w tunings.Wish, e Election, because, impossible string) tunings.Advice {
	s := e.Setting()
	if s.Refused != "" || e.Outage(w.SurviveSeconds).Lost.Most > 0 || e.Crash().NoneSeconds.Most > w.BoundSeconds {
		return tunings.Advice{System: s.System, Impossible: impossible}
	}
	s = compute(e, []float64{w.SurviveSeconds}, nil)
	return tunings.Advice{System: s.System, Setting: &s, Because: because}
}

// whole is the least number of whole seconds from s on.
func whole(s float64) time.Duration { return time.Duration(math.Ceil(s-1e-9)) * time.Second }

// kubernetesFor are the shortest times, in whole seconds, whose last try comes after an outage, and with which a leader
// gives up before another one can lead.
func kubernetesFor(outage float64, retry time.Duration) Kubernetes {
	k := Kubernetes{RetryPeriod: retry, RenewDeadline: retry + time.Second}
	for k.lastTry()*retry.Seconds() < outage || k.RenewDeadline.Seconds() <= jitterFactor*retry.Seconds() {
		k.RenewDeadline += time.Second
	}
	k.LeaseDuration = k.RenewDeadline + retry + time.Second
	return k
}

// kubernetesAdvice has the longest RetryPeriod that does, since a leader writes once in each.
func kubernetesAdvice(w tunings.Wish) tunings.Advice {
	least := kubernetesFor(w.SurviveSeconds, time.Second)
	impossible := fmt.Sprintf("in whole seconds, with the shortest RetryPeriod, 1 s, RenewDeadline has to be %s for a "+
		"try after %s, LeaseDuration %s so that no other leads before, and then a crash leaves none for up to %s; shorter "+
		"times than whole seconds may do: try them with --kubernetes",
		tunings.Seconds(least.RenewDeadline.Seconds()), tunings.Seconds(w.SurviveSeconds),
		tunings.Seconds(least.LeaseDuration.Seconds()), tunings.Seconds(least.Crash().NoneSeconds.Most))
	k := least
	for retry := 2 * time.Second; retry.Seconds() <= w.BoundSeconds; retry += time.Second {
		if next := kubernetesFor(w.SurviveSeconds, retry); next.Crash().NoneSeconds.Most <= w.BoundSeconds {
			k = next
		}
	}
	return advice(w, k, "of the times in whole seconds that do, it has the longest RetryPeriod, which costs the servers "+
		"the fewest requests; no outage has two leaders then, if requests fail at once, and a pause still may",
		impossible)
}

func etcdAdvice(w tunings.Wish) tunings.Advice {
	e := Etcd{TTL: max(whole(w.SurviveSeconds), etcdLeast)}
	for e.Outage(w.SurviveSeconds).Lost.Most > 0 {
		e.TTL += time.Second
	}
	return advice(w, e, "it is the shortest that does: a client that is unlucky connects again late",
		fmt.Sprintf("a lease that outlasts an outage of %s, the election of the servers and the backoff of the client has "+
			"a TTL of %s, and a crash leaves none for up to %s", tunings.Seconds(w.SurviveSeconds),
			tunings.Seconds(e.TTL.Seconds()), tunings.Seconds(e.Crash().NoneSeconds.Most)))
}

// zookeeperAdvice has the longest session that the bound allows, since any survives an outage, and the longer one more
// pauses.
func zookeeperAdvice(w tunings.Wish) tunings.Advice {
	z := ZooKeeper{Tick: Tick}
	_, late := z.times()
	z.SessionTimeout = min(max(time.Duration(w.BoundSeconds-late)*time.Second, zkLeast*Tick), zkMost*Tick)
	return advice(w, z, "a new leader of the servers gives each session its whole timeout again, so this is the longest "+
		"that the bound allows; the leader must go on while it is disconnected, which Curator's LeaderLatch by default does "+
		"not: it loses its leader in every outage", fmt.Sprintf("the shortest session, %s, ends up to %s after a crash",
		tunings.Seconds(z.SessionTimeout.Seconds()), tunings.Seconds(z.Crash().NoneSeconds.Most)))
}

func consulAdvice(w tunings.Wish) tunings.Advice {
	c := Consul{TTL: consulLeast}
	for c.MonitorRetries = 1; consulWatches*float64(c.MonitorRetries) < w.SurviveSeconds+consulElected.most; {
		c.MonitorRetries++
	}
	for c.Outage(w.SurviveSeconds).Lost.Most > 0 {
		c.TTL += time.Second
	}
	impossible := fmt.Sprintf("a session that outlasts an outage of %s and the election of the servers has a TTL of %s, "+
		"and after a crash it ends after up to twice that, %s", tunings.Seconds(w.SurviveSeconds),
		tunings.Seconds(c.TTL.Seconds()), tunings.Seconds(c.Crash().NoneSeconds.Most))
	rest := math.Floor(w.BoundSeconds - c.Crash().NoneSeconds.Most)
	c.LockDelay = time.Duration(min(max(rest, 0), 15)) * time.Second
	return advice(w, c, "it has the shortest TTL that does, and the longest lock-delay up to 15 s; MonitorRetries is 0 "+
		"by default, with which every outage costs the leader", impossible)
}
