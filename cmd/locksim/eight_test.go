package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locksim/internal/soak"
)

// extend is an Extend of the lock that init writes, by an expression for the number of keys that it prolongs.
func extend(count string) func(string) string {
	return inPlaceOf("\t\t\t\t\tUntil: func() time.Time { return m.until },\n",
		`					Until: func() time.Time { return m.until },
					Extend: func(ctx context.Context) error {
						sent := time.Now()
						n, err := `+count+`.Int()
						if err == nil && n == 0 {
							err = lock.ErrNotHeld
						}
						if err == nil {
							m.until = sent.Add(ttl)
						}
						return err
					},
`)
}

// inPlaceOf puts a text in place of another, which must be there.
func inPlaceOf(old, with string) func(string) string {
	return func(source string) string {
		if !strings.Contains(source, old) {
			panic(fmt.Sprintf("the lock that init writes has no %q", old))
		}
		return strings.Replace(source, old, with, 1)
	}
}

// declared are the names that the lock that init writes declares.
var declared = regexp.MustCompile(`\b(func Lock|ttl|mutex|deleteOwn|errNotHeld)\b`)

// deletes are the lines of the release in the lock that init writes.
const deletes = `	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ttl)
	defer cancel()
	deleted, err := deleteOwn.Run(ctx, m.client, []string{m.key}, m.owner).Int()
	if err == nil && deleted == 0 {
		return errNotHeld
	}
	return err
`

// The lock that init writes, and the same with an Extend, pass. With one of the common mistakes it fails.
var eight = []struct {
	name  string
	wrong bool
	edit  func(source string) string
}{
	{"right", false, func(source string) string { return source }},
	{"extends", false, extend(`redis.NewScript(` + "`" +
		`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], 2000) end return 0` + "`" +
		`).Run(ctx, client, []string{m.key}, m.owner)`)},
	{"releasesnothing", true, inPlaceOf(deletes, "\treturn nil\n")},
	{"releasesinthecallerscontext", true, inPlaceOf("\tctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), "+
		"ttl)\n\tdefer cancel()\n\tdeleted", "\tdeleted")},
	{"releasefails", true, inPlaceOf(deletes, "\treturn m.client.Do(ctx, \"DELIFEQ\", m.key, m.owner).Err()\n")},
	{"extendfails", true,
		extend(`redis.NewScript("return redis.call('PEXPIRE', KEYS[1]..':lease', 2000)").Run(ctx, client, []string{m.key})`)},
	{"retriesasthesameowner", true, func(source string) string {
		source = inPlaceOf("\t\thas, err := m.client.SetArgs(ctx, m.key, m.owner, redis.SetArgs{Mode: \"NX\", Get: true, "+
			"TTL: ttl}).Result()\n"+
			"\t\tif errors.Is(err, redis.Nil) || err == nil && has == m.owner {\n", "\t\tok, err := m.client.SetNX(ctx, "+
			"m.key, m.owner, ttl).Result()\n\t\tif ok {\n")(source)
		return inPlaceOf("\t\t\t_ = m.unlock(ctx)\n\t\t\treturn err\n",
			"\t\t\tif ctx.Err() == nil {\n\t\t\t\tcontinue\n\t\t\t}\n\t\t\t_ = m.unlock(ctx)\n\t\t\treturn err\n")(source)
	}},
	{"sixtyleases", true, inPlaceOf("Get: true, TTL: ttl}", "Get: true, TTL: 60 * ttl}")},
	{"extendsanybody", true,
		extend(`redis.NewScript("return redis.call('PEXPIRE', KEYS[1], 2000)").Run(ctx, client, []string{m.key})`)},
}

// The test that init writes finds the common mistakes within 500 runs, whatever the first seed.
func TestEightLocks(t *testing.T) {
	soak.Only(t, "it builds a module, and plays each lock in it")
	beside(t)
	dir := t.TempDir()
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := shell(t, dir, "locksim init --module example.org/you/stock "+
		"--checkout "+checkout); !strings.HasPrefix(out, "wrote go.mod") {
		t.Fatal(out)
	}
	source := readFile(t, filepath.Join(dir, "locksimtest", "lock.go"))
	var locks strings.Builder
	for _, e := range eight { // in one package, since the compiler takes two seconds for each
		text := e.edit(strings.Replace(source, "package locksimtest", "package eight", 1))
		if !strings.Contains(text, "errors.") {
			text = strings.Replace(text, "\t\"errors\"\n", "", 1)
		}
		write(t, filepath.Join(dir, "eight", e.name+".go"), declared.ReplaceAllString(text, "${0}"+e.name))
		fmt.Fprintf(&locks, "\t%q: Lock%s(),\n", e.name, e.name)
	}
	write(t, filepath.Join(dir, "eight", "eight_test.go"), `package eight

import (
	"os"
	"strconv"
	"testing"

	"locksim/scenarios"
)

func TestEight(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	runs, _ := strconv.Atoi(os.Getenv("RUNS"))
	for name, l := range map[string]scenarios.Lock{
`+locks.String()+`	} {
		t.Run(name, func(t *testing.T) {
			scenarios.Check(t, l, scenarios.Options{Runs: runs, Seed: seed, Dir: t.TempDir()})
		})
	}
}
`)
	seeds, runs := 1, 200
	if os.Getenv("LOCKSIM_SOAK") == "1" {
		seeds, runs = 5, 500
	}
	for n := range seeds {
		seed := 1 + 1_000_000*n
		out, _ := shell(t, dir, fmt.Sprintf("SEED=%d RUNS=%d go test -v -count=1 -cpu=1 -vet=off ./eight 2>&1", seed, runs))
		for _, e := range eight {
			result := "PASS"
			if e.wrong {
				result = "FAIL"
			}
			if !strings.Contains(out, "--- "+result+": TestEight/"+e.name+" ") {
				t.Errorf("first seed %d: %s does not have the result %s:\n%s", seed, e.name, result, out)
				break
			}
		}
	}
}

// write writes a file, and the folder of it.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
