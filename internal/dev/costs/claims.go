package main

import "strings"

// claim is a figure of articles as a ratio, and the rows whose ratios are beside it.
type claim struct {
	says, ratio string
	of          func(*measured) float64
	load        load
	pairs       [][2]string // the row that is divided, and the one by which
}

// claims are those of the articles.
var claims = []claim{
	{"Redis “100,000 a second”, ZooKeeper and etcd “10,000”", "Redis grants 10 × as many", rate, loads[3],
		[][2]string{{"single poll", "etcd 1"}, {"single poll", "etcd 3"}, {"single poll", "zookeeper 1"},
			{"single poll", "zookeeper 3"}}},
	{"Redis “below 1 ms”, ZooKeeper and etcd “5 to 10 ms”", "they take 5 to 10 × as long, or longer", acquire50, loads[0],
		[][2]string{{"etcd 1", "single poll"}, {"etcd 3", "single poll"}, {"zookeeper 1", "single poll"},
			{"zookeeper 3", "single poll"}}},
	{"a Redlock costs N round trips", "Redlock-5 takes 5 × as long as one Redis", acquire50, loads[0],
		[][2]string{{"redlock", "single poll"}}},
}

// claims are lines of a table.
func (r results) claims() (lines []string) {
	for _, c := range claims {
		var here []string
		for _, p := range c.pairs {
			if s, ok := r.between(p[0], p[1], c.load, c.of); ok {
				here = append(here, rowNamed(p[0]).on.name+" ÷ "+rowNamed(p[1]).on.name+": "+s.String())
			}
		}
		if len(here) == 0 {
			here = []string{"not measured"}
		}
		lines = append(lines, tableLine(c.says, c.ratio, strings.Join(here, "<br>")))
	}
	if cells := r.of("single poll", loads[3]); len(cells) > 0 {
		lines = append(lines, tableLine("Redis “100,000 a second”", "a grant for each SET that the server can do",
			"grants on Redis ÷ SETs: "+over(cells, rate).String()))
	}
	return lines
}

// rowNamed is the row of an id.
func rowNamed(id string) row {
	for _, r := range rows {
		if r.id == id {
			return r
		}
	}
	panic("there is no row " + id)
}
