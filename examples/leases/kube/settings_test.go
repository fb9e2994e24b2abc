package kube

import (
	"strings"
	"testing"

	"locksim/examples/leases/internal/leasetest"
	"locksim/scenarios"
)

// Elections with published settings end as their files expect.
func TestPublishedSettings(t *testing.T) { leasetest.ScenariosIn(t, "testdata/settings", All()) }

// A setting that an election cannot have is refused with what to do.
func TestSettingsAreChecked(t *testing.T) {
	for lock, want := range map[string]string{
		// Flink's own: 15 s, 15 s, 5 s
		"{kind: kube-lease, ttl: 15s, settings: {renew_deadline: 15s, retry_period: 5s}}": "x.yaml:3:63: " +
			"lock.settings.renew_deadline: 15s is not less than lock.ttl of 15s (client-go refuses that): make it shorter, or " +
			"the other one longer",
		"{kind: kube-lease, ttl: 15s, settings: {retry_period: 9s}}": "lock.settings.retry_period: 9s, times 1.2, is not " +
			"less than renew_deadline of 10s",
		"{kind: kube-lease, settings: {lease_duration: 15s}}": "lock kube-lease has no such setting: LeaseDuration is the " +
			"time after which it ends without a renewal: write lock.ttl",
		"{kind: kube-lease, ttl: 2400ms, settings: {retry_period: 100ms}}": "lock.ttl: 2.4s is not a whole number of " +
			"1s, as lock kube-lease with settings takes it",
		"{kind: kube-lease, settings: {renewdeadline: 10s}}":  "write renew_deadline",
		"{kind: kube-lease, settings: {retry_perod: 2s}}":     "did you mean retry_period?",
		"{kind: kube-lease, settings: {retry_period: 3}}":     "3 is no length of time: give one with its unit, such as 10s",
		"{kind: kube-lease, settings: {retry_period: 0s}}":    "0s is out of range",
		"{kind: kube-lease, settings: {RetryPeriod: 2s}}":     "\"RetryPeriod\" has capitals",
		"{kind: kube-timed, settings: {renew_deadline: 10s}}": "it has none, so leave settings out",
	} {
		timed, err := Timed("kube-timed", settings[0])
		if err != nil {
			t.Fatal(err)
		}
		locks := append(All(), timed)
		sc, err := scenarios.Parse("x.yaml", []byte("name: x\nworld: {kube: 2}\nlock: "+lock+"\n"), locks...)
		for _, l := range locks {
			if err == nil && l.Name == sc.Lock.Kind {
				_, err = scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1})
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", lock, err, want)
		}
	}
}

// An election keeps its promise whatever its settings are, as far as client-go takes them.
func TestDrawnSettings(t *testing.T) {
	scenarios.Check(t, Lease(), scenarios.Options{Seed: 1, Runs: leasetest.Part(2000),
		Space: scenarios.Space{Settings: []scenarios.SettingRange{{Name: "all"}}}})
}
