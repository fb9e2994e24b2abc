package blame_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksim/internal/cases/reported"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/sentinellocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/zklocks"
)

// played is the outcome of a row in its mode alone.
func played(t *testing.T, r row) *outcome.Outcome {
	t.Helper()
	sc, err := file.Load(r.scenario)
	if path := filepath.Join("../../../internal/cases/reported/scenarios", r.scenario+".yaml"); err != nil {
		sc, err = file.Load(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	o, err := play.Run(sc, lockOf(t, r.lock), play.RunOptions{Seed: r.seed, Modes: []fence.Mode{fence.Mode(r.mode)}})
	if missing, ok := errors.AsType[*play.MissingError](err); ok && testruns.WithoutPostgres(missing.Why) {
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// lockOf is the lock of that name.
func lockOf(t *testing.T, name string) play.Lock {
	t.Helper()
	all := slices.Concat(etcdlocks.All(), zklocks.All(), sqllocks.All(), sentinellocks.All(), reported.All())
	if i := slices.IndexFunc(all, func(l play.Lock) bool { return l.Name == name }); i >= 0 {
		return all[i]
	}
	l, err := play.Kind(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sentences are the beginnings of what is said today of the fault, by culprit.
var sentences = map[string]string{
	"The lock's":               "lock",
	"The choice of this lock":  "choice",
	"Not the lock's, which do": "promised by none",
	"The client's":             "client",
	"Not the lock's, nor that": "network",
	"No one's":                 "none",
}

// What is said of each run is right.
func TestTable(t *testing.T) {
	for _, r := range table {
		t.Run(r.scenario+" "+r.lock, func(t *testing.T) {
			said := outcome.Answers(played(t, r))[2].Text
			got := "not known"
			for begin, culprit := range sentences {
				if strings.HasPrefix(said, begin) {
					got = culprit
				}
			}
			want := r.culprit
			if today, ok := today[r.scenario+" "+r.lock]; ok {
				want = today
			}
			if got != want {
				t.Errorf("%s: %s, want %s", got, said, want)
			}
		})
	}
}

// today are the rows of which something else is said today.
var today = map[string]string{
	"gc-pause broken/del-without-owner":                    "client",
	"late-extend takes-over":                               "client",
	"watchdog-bare-expire broken/watchdog-bare-expire":     "client",
	"zk-believes broken/zk-believes":                       "network",
	"calm claim-only":                                      "network",
	"sql-advisory-pooled broken/sql-advisory-pooled":       "network",
	"watchdog-recreates-key broken/watchdog-recreates-key": "client",
	"watchdog-one-error broken/watchdog-stops-after-error": "client",
	"leader-not-renewed broken/renewals-time-out":          "client",
	"sql-cleaner-number broken/sql-cleaner":                "client",
	"sql-token-read-late broken/sql-token-read-late":       "network",
	"token-read-late broken/token-read-late":               "network",
	"release-before-write single":                          "network",
	"release-before-write fenced":                          "network",
	"sentinel-stale-map broken/sentinel-asks-once":         "lock",
	"sentinel-wait-is-no-guard broken/sentinel-wait":       "lock",
	"gc-pause single":                                      "client",
	"gc-pause fenced":                                      "client",
	"gc-pause watchdog":                                    "client",
	"gc-pause redlock":                                     "client",
	"pause-after-check single":                             "network",
	"etcd-lease-pause etcd":                                "client",
	"zk-session-expiry zookeeper":                          "client",
}
