package overlay

// edit replaces text of one file of the standard library. The text must be there exactly
// once, so that a change of Go is an error and not a silent difference.
type edit struct {
	file string // in GOROOT/src
	old  string
	new  string
}

// edits are all changes of existing files.
var edits = []edit{
	{
		"time/time.go",
		"\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {\n",
		"\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {\n" +
			"\t\tif p := locksimProcess(); p != nil {\n" +
			"\t\t\tif t, ok := locksimNowOf(p, sec*1e9+int64(nsec)); ok {\n\t\t\t\treturn t\n\t\t\t}\n\t\t}\n",
	},
	{
		"time/sleep.go",
		"func Sleep(d Duration)\n",
		"func Sleep(d Duration) {\n\tp := locksimProcess()\n\tif p == nil {\n\t\tlocksimSleep(d)\n\t\treturn\n\t}\n" +
			"\tlocksimSleep(locksimDuration(p, d))\n\tlocksimPass(p, \"slept\")\n}\n",
	},
	{
		"time/sleep.go",
		"\tt := runtimeNano() + int64(d)\n",
		"\tt := runtimeNano() + int64(locksimWorld(d))\n",
	},
	{
		"time/sleep.go",
		"\tt := newTimer(when(d), 0, sendTime, c, syncTimer(c))\n",
		"\tt := newTimer(when(d), 0, locksimSender(), c, syncTimer(c))\n",
	},
	{
		"time/sleep.go",
		"\treturn newTimer(when(d), 0, goFunc, f, nil)\n",
		"\treturn newTimer(when(d), 0, goFunc, locksimFunc(f), nil)\n",
	},
	{
		"time/tick.go",
		"\tt := (*Ticker)(unsafe.Pointer(newTimer(when(d), int64(d), sendTime, c, syncTimer(c))))\n",
		"\tt := (*Ticker)(unsafe.Pointer(newTimer(when(d), int64(locksimWorld(d)), locksimSender(), c, syncTimer(c))))\n",
	},
	{
		"time/tick.go",
		"\tresetTimer((*Timer)(unsafe.Pointer(t)), when(d), int64(d))\n",
		"\tresetTimer((*Timer)(unsafe.Pointer(t)), when(d), int64(locksimWorld(d)))\n",
	},
	{
		"runtime/time.go",
		"//go:linkname timeSleep time.Sleep\n",
		"//go:linkname timeSleep time.locksimSleep\n",
	},
	{
		"runtime/proc.go",
		"func Gosched() {\n\tcheckTimeouts()\n\tmcall(gosched_m)\n}\n",
		"func Gosched() {\n\tif locksimGosched != nil && getg().bubble != nil " +
			"{\n\t\tlocksimGosched()\n\t}\n\tcheckTimeouts()\n\tmcall(gosched_m)\n}\n",
	},
	{
		"runtime/proc.go",
		"const randomizeScheduler = raceenabled\n",
		"const randomizeScheduler = false // a run is to be repeatable under -race too\n",
	},
	{
		"runtime/proc.go",
		"const forcePreemptNS = 10 * 1000 * 1000 // 10ms\n",
		"const forcePreemptNS = 1000 * 1000 * 1000 // 1s: a preempted goroutine changes places with others\n",
	},
	{
		"runtime/select.go",
		"\t\tj := cheaprandn(uint32(norder + 1))\n",
		"\t\tj := locksimOrder(uint32(norder+1), sys.GetCallerPC())\n",
	},
	{
		"net/dial.go",
		"func (d *Dialer) DialContext(ctx context.Context, network, address string) (Conn, error) {\n" +
			"\tctx, cancel := d.dialCtx(ctx)\n\tdefer cancel()\n",
		"func (d *Dialer) DialContext(ctx context.Context, network, address string) (Conn, error) {\n" +
			"\tctx, cancel := d.dialCtx(ctx)\n\tdefer cancel()\n" +
			"\tif locksimDial != nil {\n\t\tif c, ok, err := locksimDial(ctx, network, address); ok {\n\t\t\treturn c, " +
			"err\n\t\t}\n\t}\n",
	},
	{
		"net/sock_posix.go",
		"\ts, err := sysSocket(family, sotype, proto)\n",
		"\tif err := locksimRefuse(net, laddr, raddr); err != nil {\n\t\treturn nil, err\n\t}\n\ts, err := " +
			"sysSocket(family, sotype, proto)\n",
	},
	{
		"os/file_posix.go",
		"\tif e := f.pfd.Fsync(); e != nil {\n",
		"\tif locksimSync != nil && locksimSync(f) {\n\t\treturn nil\n\t}\n\tif e := f.pfd.Fsync(); e != nil {\n",
	},
	{
		"os/file.go",
		"\tf, err := openFileNolog(name, flag, perm)\n",
		"\tflag, through := locksimFlag(name, flag)\n\tf, err := openFileNolog(name, flag, perm)\n",
	},
	{
		"os/file.go",
		"\tf.appendMode = flag&O_APPEND != 0\n",
		"\tf.appendMode = flag&O_APPEND != 0\n\tif through {\n\t\tlocksimOpened(f)\n\t}\n",
	},
	{
		"os/file.go",
		"\tn, e := f.write(b)\n",
		"\tn, e := f.write(b)\n\tif locksimWrote != nil {\n\t\tlocksimWrote(f)\n\t}\n",
	},
	{
		"os/file.go",
		"\t\toff += int64(m)\n\t}\n\treturn\n}\n\n// WriteTo implements",
		"\t\toff += int64(m)\n\t}\n\tif locksimWrote != nil {\n\t\tlocksimWrote(f)\n\t}\n\treturn\n}\n\n// WriteTo " +
			"implements",
	},
	{
		"math/rand/rand.go",
		"//go:linkname runtime_rand runtime.rand\nfunc runtime_rand() uint64\n",
		"",
	},
	{
		"math/rand/v2/rand.go",
		"//go:linkname runtime_rand runtime.rand\nfunc runtime_rand() uint64\n",
		"",
	},
}

// additions are the files that are added, by their paths in GOROOT/src.
var additions = map[string]string{
	"runtime/locksim.go":              "std/runtime.go.txt",
	"time/locksim.go":                 "std/time.go.txt",
	"net/locksim.go":                  "std/net.go.txt",
	"os/locksim.go":                   "std/os.go.txt",
	"math/rand/locksim.go":            "std/rand.go.txt",
	"math/rand/v2/locksim.go":         "std/rand.go.txt",
	"crypto/internal/rand/locksim.go": "std/cryptorand.go.txt",
}
