//go:build linux

package mariadb_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"locksim/internal/mariadbserver"
	"locksim/internal/testruns"
	"locksim/sim"
	"locksim/sim/mariadb"
)

// step is a statement of one of two sessions.
type step struct {
	session   int
	statement string
}

// program draws steps. It has no DELETE: whether InnoDB has purged a row that is deleted decides what a later statement
// locks, and a server that runs freely purges when it likes.
func program(seed uint64) (all []step) {
	dice := rand.New(rand.NewPCG(seed, 0))
	for range 16 + dice.IntN(16) {
		k := dice.IntN(6)
		if dice.IntN(3) > 0 {
			k %= 3 // where they meet
		}
		statement := []string{
			"BEGIN", "BEGIN", []string{"COMMIT", "ROLLBACK"}[dice.IntN(2)],
			fmt.Sprintf("SELECT v FROM t WHERE k = %d FOR UPDATE", k),
			fmt.Sprintf("SELECT v FROM t WHERE k = %d FOR UPDATE", k),
			fmt.Sprintf("SELECT v FROM t WHERE k = %d LOCK IN SHARE MODE", k),
			fmt.Sprintf("SELECT v FROM t WHERE k = %d FOR UPDATE NOWAIT", k),
			"SELECT k FROM t WHERE k < 3 ORDER BY k LIMIT 1 FOR UPDATE SKIP LOCKED",
			fmt.Sprintf("UPDATE t SET v = v + 1 WHERE k = %d", k),
			fmt.Sprintf("UPDATE t SET v = v + 1 WHERE k = %d", k),
			fmt.Sprintf("INSERT INTO t VALUES (%d, %d)", k, seed%7),
			fmt.Sprintf("INSERT INTO t VALUES (%d, 1) ON DUPLICATE KEY UPDATE v = v + 10", k),
			"SELECT k, v FROM t",
			fmt.Sprintf("SELECT GET_LOCK('n%d', %d)", k%2, 1000*dice.IntN(2)),
			fmt.Sprintf("SELECT RELEASE_LOCK('n%d')", k%2),
			fmt.Sprintf("SELECT IS_FREE_LOCK('n%d')", k%2),
		}[dice.IntN(16)]
		all = append(all, step{dice.IntN(2), statement})
	}
	return all
}

// unlimited lets no statement of a program run into a time limit.
const unlimited = "SET SESSION innodb_lock_wait_timeout = 1000000"

// inTheWorld plays a program in a simulated world: a step each second.
func inTheWorld(t *testing.T, kind sim.Kind, all []step) (got [2][]string) {
	story(t, kind, 2, nil, func(p *sim.Process, db *sql.DB, _ func(string, ...any)) {
		me := int(p.Name()[1] - '0')
		ctx, cancel := context.WithTimeout(p.Context(), time.Minute)
		defer cancel()
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close() //nolint:errcheck // the world tells of it
		result(ctx, conn, unlimited)
		for i, s := range all {
			if s.session != me {
				continue
			}
			time.Sleep(time.Duration(i+1)*time.Second - time.Duration(p.Clock().Now().UnixNano()-946684800e9))
			answer := result(ctx, conn, s.statement)
			if ctx.Err() != nil {
				answer = "waits"
			}
			got[me] = append(got[me], s.statement+": "+answer)
			if ctx.Err() != nil {
				return
			}
		}
		<-ctx.Done() // what it has it keeps
	})
	return got
}

// freely plays a program on a server that runs freely: the next step follows when each session has answered, or waits
// for what the other one has.
func freely(t *testing.T, db *sql.DB, all []step) (got [2][]string) {
	ctx, cancel := context.WithCancel(context.Background())
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	for _, s := range append([]string{"DROP TABLE IF EXISTS t"}, schema...) {
		_, err := db.ExecContext(ctx, s)
		must(err)
	}
	var mu sync.Mutex
	var asked, answered [2]int
	var ids [2]string
	var queues [2]chan string
	var over sync.WaitGroup
	for i := range 2 {
		conn, err := db.Conn(ctx)
		must(err)
		ids[i] = strings.Trim(result(ctx, conn, "SELECT CONNECTION_ID()"), "[]")
		result(ctx, conn, unlimited)
		queues[i] = make(chan string, len(all))
		over.Go(func() {
			for s := range queues[i] {
				answer := result(ctx, conn, s)
				if ctx.Err() != nil {
					answer = "waits"
				}
				mu.Lock()
				got[i] = append(got[i], s+": "+answer)
				answered[i]++
				mu.Unlock()
				if ctx.Err() != nil {
					break
				}
			}
			<-ctx.Done()
			_ = conn.Raw(func(c any) error { return c.(interface{ Close() error }).Close() }) // with all that it has
			_ = conn.Close()
		})
	}
	waits := func(id string) bool { // InnoDB's tables of waits are not brought up to date while they are read
		for block := range strings.SplitSeq(result(ctx, db, "SHOW ENGINE INNODB STATUS"), "---TRANSACTION") {
			if strings.Contains(block, "LOCK WAIT") && strings.Contains(block, "thread id "+id+",") {
				return true
			}
		}
		return result(ctx, db, "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock' AND id = "+
			id) == "[1]"
	}
	for _, s := range all {
		mu.Lock()
		asked[s.session]++
		mu.Unlock()
		queues[s.session] <- s.statement
		for quiet := 0; quiet < 2; { // twice, as one that has answered may have let the other go on
			mu.Lock()
			before := answered
			mu.Unlock()
			idle := true
			for i := range 2 {
				idle = idle && (before[i] == asked[i] || waits(ids[i]))
			}
			mu.Lock()
			if idle && before == answered {
				quiet++
			} else {
				quiet = 0
			}
			mu.Unlock()
			time.Sleep(time.Millisecond)
		}
	}
	for i := range 2 {
		close(queues[i])
	}
	// one that waits for what the other one has kept is told nothing any more
	time.AfterFunc(50*time.Millisecond, cancel)
	over.Wait()
	cancel()
	for _, id := range ids { // gone, and its locks with it
		for result(context.Background(), db, "SELECT COUNT(*) FROM information_schema.processlist WHERE id = "+id) != "[0]" {
			_, _ = db.ExecContext(context.Background(), "KILL "+id)
			time.Sleep(time.Millisecond)
		}
	}
	return got
}

// Two sessions that lock, wait, time out and deadlock have the same outcomes in a world as on a server that runs
// freely.
func TestProgramsAsOnAFreeServer(t *testing.T) {
	kind := mariadb.Kind{Server: server(t), Schema: schema}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	free, err := mariadbserver.Start(ctx, mariadbserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer free.Stop() //nolint:errcheck // its guard ends it
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName = mariadbserver.User, "unix", free.Socket(), mariadbserver.Database
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close() //nolint:errcheck // the server ends after it
	waited, deadlocks := 0, 0
	for seed := range uint64(testruns.Soak(t, 200, 0.05)) {
		all := program(seed)
		world, real := inTheWorld(t, kind, all), freely(t, db, all)
		if d := cmp.Diff(real, world); d != "" {
			t.Errorf("program %d %v (-free +world)\n%s", seed, all, d)
		}
		text := fmt.Sprint(world)
		waited += strings.Count(text, ": waits")
		deadlocks += strings.Count(text, "1213")
	}
	t.Logf("%d statements waited at the end, %d deadlocks", waited, deadlocks)
}
