//go:build linux

package pgserver_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"locksim/internal/pgserver"
	"locksim/internal/testruns"
)

// asChild makes the test program start a server, say where it is, and hang.
const asChild = "LOCKSIM_PG_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		s, err := start()
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println(s.Source())
		select {}
	}
	os.Exit(m.Run())
}

func start() (*pgserver.Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return pgserver.Start(ctx, pgserver.Options{Settings: []string{"max_connections=20"}})
}

// skip skips the test, or fails it, where there is no PostgreSQL.
func skip(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, pgserver.ErrMissing) && os.Getenv("LOCKSIM_REQUIRE_LIVE") != "1" {
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// folder is that of a server.
func folder(source string) string {
	_, after, _ := strings.Cut(source, "host=")
	dir, _, _ := strings.Cut(after, " ")
	return dir
}

// segment is the id of the shared memory of a server, from its postmaster.pid.
func segment(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(strings.Split(string(b), "\n")[6])
	if len(fields) != 2 || !hasSegment(t, fields[1]) {
		t.Fatalf("the server has no shared memory: %q", fields)
	}
	return fields[1]
}

// hasSegment reports whether there is shared memory with an id.
func hasSegment(t *testing.T, id string) bool {
	t.Helper()
	b, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(strings.Split(string(b), "\n"), func(line string) bool {
		fields := strings.Fields(line)
		return len(fields) > 1 && fields[1] == id
	})
}

// left is what there still is of a server: processes and its folder.
func left(t *testing.T, dir string) (all []string) {
	t.Helper()
	if _, err := os.Stat(dir); err == nil {
		all = append(all, dir)
	}
	found, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range found {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir) {
			all = append(all, link)
		}
	}
	return all
}

// A server serves, and nothing of it is left after Stop.
func TestServer(t *testing.T) {
	s, err := start()
	skip(t, err)
	memory := segment(t, folder(s.Source()))
	db, err := sql.Open("pgx", s.Source())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the server ends before
	var user string
	if err := db.QueryRowContext(t.Context(), `SELECT current_user`).Scan(&user); err != nil || user != "locksim" {
		t.Errorf("the user is %q, %v", user, err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if all := left(t, folder(s.Source())); len(all) > 0 {
		t.Errorf("still there: %v", all)
	}
	if hasSegment(t, memory) {
		t.Error("its shared memory is still there")
	}
}

// The program that has a server is killed: after five seconds nothing of the server is left, also if one of its
// processes was stopped, or the guardian was told to end, as by killall. LOCKSIM_SOAK=1 is 100 times.
func TestProgramKilled(t *testing.T) {
	for n := range testruns.Soak(t, 100, 0.02) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asChild+"=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if strings.HasPrefix(line, "error: "+pgserver.ErrMissing.Error()) {
			_ = cmd.Wait()
			skip(t, pgserver.ErrMissing)
		}
		if err != nil || strings.HasPrefix(line, "error:") {
			t.Fatalf("%s, %v", line, err)
		}
		dir := folder(line)
		memory := segment(t, dir)
		if n%2 == 1 {
			stopOne(t, dir)
		} else {
			endGuardian(t, cmd.Process.Pid)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		deadline := time.Now().Add(5 * time.Second)
		for all := left(t, dir); len(all) > 0 || hasSegment(t, memory); all = left(t, dir) {
			if time.Now().After(deadline) {
				t.Fatalf("five seconds later there are still %v, and its shared memory: %v", all, hasSegment(t, memory))
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// endGuardian tells the guardian of a program to end.
func endGuardian(t *testing.T, program int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var pid, parent int
		var name, state string
		_, err = fmt.Sscan(string(text), &pid, &name, &state, &parent)
		self, failure := os.Readlink(filepath.Join(filepath.Dir(path), "exe"))
		if err == nil && failure == nil && parent == program && self == os.Args[0] {
			if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("the program has no guardian")
}

// stopOne stops a process of a server, so that it takes no other signal than SIGKILL.
func stopOne(t *testing.T, dir string) {
	t.Helper()
	for _, p := range left(t, dir) {
		var pid int
		if _, err := fmt.Sscanf(p, "/proc/%d/cwd", &pid); err == nil {
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("the server has no process")
}
