package reports_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// What only shows a result compiles no server, no client of one, and nothing that plays.
func TestReportsCompileNoServer(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	out, err := exec.Command("go", "list", "-deps", "./...", "../scenarios/outcome/...", "../scenarios/file").Output()
	if err != nil {
		t.Fatal(err)
	}
	played := regexp.MustCompile(
		`go-redis|miniredis|gopher-lua|google\.golang\.org/grpc|go\.etcd\.io|jackc/pgx|go-zookeeper|/(sim|lock|scenarios/play|scenarios/search)$`)
	for _, pkg := range strings.Fields(string(out)) {
		if played.MatchString(pkg) {
			t.Errorf("a report compiles %s", pkg)
		}
	}
}
