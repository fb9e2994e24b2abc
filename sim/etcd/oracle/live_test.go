package oracle_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"locksim/internal/soak"
)

// Three members of a real cluster answer as the small server does. The programs run one after another on the same
// cluster, in real time: LOCKSIM_SOAK is the part of 60 programs that is run, four at least.
func TestRealMembersAnswerAsTheSmallServer(t *testing.T) {
	soak.RealTime(t)
	c := cluster(t)
	count := 4
	if s := os.Getenv("LOCKSIM_SOAK"); s != "" {
		part := 0.0
		_, _ = fmt.Sscan(s, &part)
		count = max(count, int(60*part))
	}
	for n := range count {
		p := program(etcd34, uint64(n), 40)
		now, err := c.Get(t.Context(), "now")
		if err != nil {
			t.Fatal(err)
		}
		s := subject{client: c, sleep: time.Sleep, base: now.Header.Revision - 1, prefix: fmt.Sprintf("x%d/", n),
			ids: int64(n+1) * 1_000_000}
		t.Run(fmt.Sprint(n), func(t *testing.T) { same(t, small(t, 1, p), run(t.Context(), s, p)) })
	}
}
