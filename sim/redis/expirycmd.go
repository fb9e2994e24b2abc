package redis

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// expiryCommands runs the commands that set an expiry as Redis does, and those
// that read it in seconds. miniredis differs:
//
//   - It takes a TTL of 0 for none: a key set to expire at exactly the present
//     instant would stay for ever.
//   - It keeps the TTL of a key that was set to expire in the past, with which a
//     later key of that name would expire.
//   - Its durations overflow after 292 years.
//   - In MULTI it counts an instant from when the command was queued.
//   - It accepts options that exclude each other, refuses an option that is given
//     twice, reads integers with zeros and signs before them, and has other errors.
//   - It keeps a field of a hash that expires at once until the next command.
//   - It rounds seconds down, Redis to the nearest.
//
// Commands come from connections, from scripts, and from scripts in
// transactions: miniredis calls it before each of them.
type expiryCommands struct {
	data    *dataset
	peer    *server.Peer // for questions; a nested connection takes no lock, which a running script holds
	reply   bytes.Buffer
	passing bool // miniredis gets a command that was decided here
}

func newExpiryCommands(d *dataset) *expiryCommands {
	e := &expiryCommands{data: d}
	e.peer = server.NewPeer(bufio.NewWriterSize(&e.reply, 64))
	return e
}

// ofExpiry are its commands.
var ofExpiry = []string{
	"SET", "GETEX", "SETEX", "PSETEX", "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "TTL", "EXPIRETIME",
	"HEXPIRE", "HSETEX",
}

// farthest is the longest TTL in ms. Redis has 292 million years.
const farthest = 100 * 365 * 24 * int64(time.Hour/time.Millisecond)

const (
	syntaxError    = "ERR syntax error"
	notInteger     = "ERR value is not an integer or out of range"
	wrongTypeError = "WRONGTYPE Operation against a key holding the wrong kind of value"
)

// expiring is a command that sets an expiry.
type expiring struct {
	command string // in capitals
	key     string
	value   string          // that SET stores
	options map[string]bool // in capitals, without the expiry

	amount   string // the expiry as it was given
	unit     int64  // of the amount in ms; 0 if there is no expiry
	relative bool   // the amount counts from now
	n        int64  // the amount in ms, at most the farthest from now
	past     bool   // the key expires at once
}

// run runs a command that sets an expiry, and reports whether it did. miniredis
// runs the others.
func (e *expiryCommands) run(c *server.Peer, command string, args []string) bool {
	if e.passing || !slices.Contains(ofExpiry, command) {
		return false
	}
	state := connStateOf(c)
	if command == "HEXPIRE" || command == "HSETEX" {
		return e.expireFields(c, state, command, args)
	}
	if inMs := "P" + command; len(args) == 1 && (command == "TTL" || command == "EXPIRETIME") {
		if state.inMulti {
			queueAsScript(c, e.data, command, args)
		} else if ms, _ := strconv.ParseInt(strings.TrimPrefix(e.ask(state.db, inMs, args[0]), ":"), 10, 64); ms < 0 {
			c.WriteInt(int(ms)) // no key, or no expiry
		} else {
			c.WriteInt(int((ms + 500) / 1000))
		}
		return true
	}
	x, problem := parseExpiring(command, args)
	if x == nil {
		return false
	}
	amountProblem := x.resolve(e.data.node.Now().UnixMilli())
	switch {
	case state.inMulti && (problem+amountProblem != "" || !x.relative || command == "GETEX" || x.options["GT"] ||
		x.options["LT"]):
		queueAsScript(c, e.data, command, args)
	case problem != "":
		c.WriteError(problem)
	case command == "GETEX": // reads before it looks at the amount
		e.getEx(c, state.db, x, amountProblem)
	case amountProblem != "":
		c.WriteError(amountProblem)
	case strings.HasPrefix(command, "EXPIRE"), strings.HasPrefix(command, "PEXPIRE"):
		e.expire(c, state.db, x)
	default:
		e.set(c, state.db, x)
	}
	return true
}

func (e *expiryCommands) set(c *server.Peer, db int, x *expiring) {
	args := []string{"SET", x.key, x.value}
	for _, o := range []string{"NX", "XX", "GET", "KEEPTTL"} {
		if x.options[o] {
			args = append(args, o)
		}
	}
	e.pass(c, append(args, x.expiry()...)...)
	if x.past && e.ask(db, "EXISTS", x.key) == ":0" {
		// miniredis has deleted the key, but keeps its TTL.
		e.ask(db, "SET", x.key, "")
		e.ask(db, "DEL", x.key)
	}
}

// expiry is the option of SET or GETEX.
func (x *expiring) expiry() []string {
	switch {
	case x.unit == 0:
		return nil
	case x.past:
		return []string{"PXAT", "1"}
	case x.relative:
		return []string{"PX", strconv.FormatInt(x.n, 10)}
	}
	return []string{"PXAT", strconv.FormatInt(x.n, 10)}
}

func (e *expiryCommands) getEx(c *server.Peer, db int, x *expiring, amountProblem string) {
	kind := e.ask(db, "TYPE", x.key)
	switch {
	case kind == "+none":
		e.pass(c, "GET", x.key)
	case kind != "+string":
		c.WriteError(wrongTypeError)
	case amountProblem != "":
		c.WriteError(amountProblem)
	case x.options["PERSIST"]:
		e.pass(c, "GETEX", x.key, "PERSIST")
	case x.past:
		e.pass(c, "GET", x.key)
		e.ask(db, "DEL", x.key)
	default:
		e.pass(c, append([]string{"GETEX", x.key}, x.expiry()...)...)
	}
}

func (e *expiryCommands) expire(c *server.Peer, db int, x *expiring) {
	if x.options["GT"] || x.options["LT"] {
		// Redis compares milliseconds, and an equal instant is neither.
		is, _ := strconv.ParseInt(strings.TrimPrefix(e.ask(db, "PEXPIRETIME", x.key), ":"), 10, 64)
		end := x.n
		if x.relative {
			end += e.data.node.Now().UnixMilli()
		}
		switch forever := is == -1; {
		case is == -2, x.options["XX"] && forever, x.options["GT"] && (forever || end <= is), x.options["LT"] && !forever &&
			end >= is:
			c.WriteInt(0)
			return
		}
	}
	command := "PEXPIRE"
	if !x.relative {
		command = "PEXPIREAT"
	}
	args := []string{command, x.key, strconv.FormatInt(x.n, 10)}
	if x.past {
		args = []string{"PEXPIRE", x.key, "-1"}
	}
	for _, o := range []string{"NX", "XX"} {
		if x.options[o] {
			args = append(args, o)
		}
	}
	e.pass(c, args...)
}

// expireFields runs HEXPIRE and HSETEX if the fields expire at once, and refuses
// a negative amount. Redis deletes the fields; the reply to HEXPIRE has a 2 for
// each of them.
func (e *expiryCommands) expireFields(c *server.Peer, state connState, command string, args []string) bool {
	list := slices.IndexFunc(args, func(a string) bool { return strings.EqualFold(a, "FIELDS") })
	at := 1 // of the amount
	if command == "HSETEX" {
		at = 1 + slices.IndexFunc(args, func(a string) bool {
			return slices.Contains([]string{"EX", "PX", "EXAT", "PXAT"}, strings.ToUpper(a))
		})
	}
	if list < 0 || at == 0 || at >= list {
		return false
	}
	n, err := strconv.ParseInt(args[at], 10, 64)
	now := e.data.node.Now()
	switch option := strings.ToUpper(args[at-1]); {
	case err != nil:
		return false
	case n > 0 && (option != "EXAT" || n > now.Unix()) && (option != "PXAT" || n > now.UnixMilli()):
		return false
	case state.inMulti:
		queueAsScript(c, e.data, command, args)
		return true
	case n < 0:
		c.WriteError("ERR invalid expire time, must be >= 0")
		return true
	}
	if command == "HSETEX" {
		args = slices.Clone(args)
		args[at] = "1" // miniredis refuses 0
	}
	reply := e.ask(state.db, append([]string{command}, args...)...)
	fields := args[min(list+2, len(args)):]
	switch {
	case reply[0] == '-':
		c.WriteError(reply[1:])
	case command == "HSETEX":
		if reply == ":1" {
			for i := 0; i < len(fields); i += 2 {
				e.deleteField(state.db, args[0], fields[i])
			}
		}
		c.WriteInt(int(reply[1] - '0'))
	default:
		codes := strings.Split(reply, "\r\n:")[1:]
		c.WriteLen(len(codes))
		for i, code := range codes {
			switch code {
			case "1":
				e.deleteField(state.db, args[0], fields[i])
				c.WriteInt(2)
			case "0":
				c.WriteInt(0)
			default:
				c.WriteInt(-2)
			}
		}
	}
	return true
}

// deleteField deletes a field. HDEL alone would keep its TTL in miniredis.
func (e *expiryCommands) deleteField(db int, key, field string) {
	e.ask(db, "HPERSIST", key, "FIELDS", "1", field)
	e.ask(db, "HDEL", key, field)
}

// pass makes miniredis run a command that was decided here.
func (e *expiryCommands) pass(c *server.Peer, args ...string) {
	e.passing = true
	e.data.mini.Server().Dispatch(c, args)
	e.passing = false
}

// ask runs a command of the server's own. The reply is valid until the next
// one.
func (e *expiryCommands) ask(db int, args ...string) string {
	if e.peer.Ctx == nil {
		e.peer.Ctx = nestedContext()
	}
	if connStateOf(e.peer).db != db {
		e.pass(e.peer, "SELECT", strconv.Itoa(db))
		e.peer.Flush()
	}
	e.reply.Reset()
	e.pass(e.peer, args...)
	e.peer.Flush()
	return strings.TrimSuffix(e.reply.String(), "\r\n")
}

// parseExpiring parses a command. It returns nil for one that miniredis can
// have as it is: another command, one without options, or one with too few
// arguments.
func parseExpiring(command string, args []string) (x *expiring, problem string) {
	x = &expiring{command: command, options: map[string]bool{}, unit: 1, relative: true}
	switch {
	case command == "SET" && len(args) > 2:
		x.key, x.value, x.unit = args[0], args[1], 0
		return x, x.parseOptions(args[2:], "NX", "XX", "GET", "KEEPTTL")
	case command == "GETEX" && len(args) > 1:
		x.key, x.unit = args[0], 0
		return x, x.parseOptions(args[1:], "PERSIST")
	case command == "SETEX" && len(args) == 3, command == "PSETEX" && len(args) == 3:
		x.key, x.amount, x.value = args[0], args[1], args[2]
		if command == "SETEX" {
			x.unit = 1000
		}
		return x, ""
	case len(args) < 2:
	case command == "EXPIREAT", command == "PEXPIREAT":
		x.relative = false
		fallthrough
	case command == "EXPIRE", command == "PEXPIRE":
		x.key, x.amount = args[0], args[1]
		if command[0] == 'E' {
			x.unit = 1000
		}
		return x, x.parseConditions(args[2:])
	}
	return nil, ""
}

// parseOptions parses the options of SET or GETEX. allowed are those beside the
// expiry.
func (x *expiring) parseOptions(args []string, allowed ...string) (problem string) {
	expiry := ""
	for i := 0; i < len(args); i++ {
		o := strings.ToUpper(args[i])
		switch {
		case o == "EX" || o == "PX" || o == "EXAT" || o == "PXAT":
			if i+1 == len(args) || expiry != "" && expiry != o || x.options["KEEPTTL"] || x.options["PERSIST"] {
				return syntaxError
			}
			i++
			expiry, x.amount = o, args[i] // the last one counts
			x.relative = len(o) == len("EX")
			x.unit = 1
			if o[0] == 'E' {
				x.unit = 1000
			}
		case !slices.Contains(allowed, o),
			o == "NX" && x.options["XX"], o == "XX" && x.options["NX"],
			(o == "KEEPTTL" || o == "PERSIST") && expiry != "":
			return syntaxError
		default:
			x.options[o] = true
		}
	}
	return ""
}

// parseConditions parses the options of EXPIRE and its siblings.
func (x *expiring) parseConditions(args []string) (problem string) {
	for _, a := range args {
		o := strings.ToUpper(a)
		if !slices.Contains([]string{"NX", "XX", "GT", "LT"}, o) {
			return "ERR Unsupported option " + a
		}
		x.options[o] = true
	}
	switch o := x.options; {
	case o["NX"] && (o["XX"] || o["GT"] || o["LT"]):
		return "ERR NX and XX, GT or LT options at the same time are not compatible"
	case o["GT"] && o["LT"]:
		return "ERR GT and LT options at the same time are not compatible"
	}
	return ""
}

// resolve finds n and past at an instant in ms since 1970. A key expires when
// its TTL has passed: one that expires now is gone.
func (x *expiring) resolve(now int64) (problem string) {
	if x.unit == 0 {
		return ""
	}
	n, err := strconv.ParseInt(x.amount, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != x.amount {
		return notInteger
	}
	base := int64(0)
	if x.relative {
		base = now
	}
	negative := strings.Contains(x.command, "EXPIRE")
	if n <= 0 && !negative || n > math.MaxInt64/x.unit || n < math.MinInt64/x.unit || n*x.unit > math.MaxInt64-base {
		return fmt.Sprintf("ERR invalid expire time in '%s' command", strings.ToLower(x.command))
	}
	x.n = n * x.unit
	x.past = base+x.n <= now
	if !x.past && base+x.n-now > farthest {
		x.relative, x.n = true, farthest
	}
	return ""
}
