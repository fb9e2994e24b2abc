package main

// corners are runs on real servers, made by hand on 29 November 2026.
var corners = []struct{ run, expected, live string }{
	{"redlock-clock-jump", "corrupted", "corrupted in 3 of 3"},
	{"redlock-restart", "corrupted", "corrupted in 3 of 3"},
	{"redlock-restart-delayed", "safe", "safe in 3 of 3"},
	{"gc-pause --lock redlock", "corrupted", "corrupted in 3 of 3"},
}

func onRealServers() []string {
	lines := []string{"## On five real servers", "",
		"Four corners of these tables are scenarios of the library, in which what decides is placed and not drawn. Each " +
			"was played three times on five processes of Redis 7.0.15, with the clients as processes of their own, " +
			"durations a tenth of those of the file, and without a fence:", "",
		"| | in the simulated world | on real servers |", "|---|---|---|"}
	for _, c := range corners {
		lines = append(lines, "| `locksim run "+c.run+" --live --times 3 --fencing none` | "+c.expected+" | "+c.live+" |")
	}
	return lines
}
