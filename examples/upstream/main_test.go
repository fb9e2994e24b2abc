package upstream

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs all tests at once, since they wait most of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
