package faults_test

import (
	"testing"
	"time"

	"locksim/faults"
)

// A chunk that is lost arrives when TCP has sent it again: after 200 ms, 600 ms, 1.4 s, and so on, each time as likely
// as the percentage says.
func TestResendWaitsForTheTimeouts(t *testing.T) {
	const n = 400
	count := map[time.Duration]int{}
	for seed := range uint64(n) {
		count[arrivals(t, &faults.Resend{Percent: 50, Seed: seed}, 1)[0]]++
	}
	total := 0
	for late, least := range map[time.Duration]int{0: 160, 200 * ms: 70, 600 * ms: 30, 1400 * ms: 12, 3000 * ms: 3} {
		if count[late] < least {
			t.Errorf("%d of %d arrive after %v, want %d or more", count[late], n, late, least)
		}
		total += count[late]
	}
	if total < n*9/10 {
		t.Errorf("only %d of %d arrive after one of the first timeouts: %v", total, n, count)
	}
}

// What is behind a lost chunk waits for it, and one seed loses the same chunks each time.
func TestResendKeepsTheOrder(t *testing.T) {
	one, again := arrivals(t, &faults.Resend{Percent: 30, Seed: 1}, 200), arrivals(t, &faults.Resend{Percent: 30,
		Seed: 1}, 200)
	behind := 0
	for i, at := range one {
		if at != again[i] {
			t.Fatalf("chunk %d arrives after %v, then after %v", i, at, again[i])
		}
		if i > 0 && at == one[i-1] {
			behind++
		}
	}
	if len(one) != 200 || behind < 50 {
		t.Errorf("%d chunks of 200 arrived, and %d waited for the one before", len(one), behind)
	}
}

// A chunk that is lost each time arrives after the last of the retransmissions of Linux.
func TestResendGoesOnForAQuarterOfAnHour(t *testing.T) {
	if at := arrivals(t, &faults.Resend{Percent: 100}, 1); at[0] != 924600*ms {
		t.Errorf("it arrives after %v, want 924.6s", at[0])
	}
}
