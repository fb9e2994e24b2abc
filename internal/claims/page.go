package claims

import (
	"fmt"
	"regexp"
	"strings"
)

// language is what a page says around its rows.
type language struct {
	text     func(Text) string
	other    string // the link to the page in the other language
	title    string
	intro    string
	chapters map[Chapter]string
	holds    map[Holds]string
	head     string // of the table
	source   string // of a claim without quoted words
	instead  string // before words that correct the claim
	needs    string
	shows    string
	stop     string
}

// broken are the ends of the lines of a Chinese text, which YAML joins with a blank.
var broken = regexp.MustCompile(`([\p{Han}，。；：、？（）“”]) ([\p{Han}，。；：、？（）“”])`)

var english = language{
	text:  func(t Text) string { return t.EN },
	other: "English | [中文](CLAIMS.zh.md)",
	title: "What they say, and what a run shows",
	intro: `<!-- Made from internal/claims/claims.yaml: go test ./internal/claims -update -->

Sentences about distributed locks that many have read, each with what it needs in order to hold, and with a run that
shows it. Most of them are true where they were meant, and some say too much for one word. Words in quotation marks
stand in the source; a sentence without them is its advice in our words. Above ‘This source says instead’ the
headline is an opinion that is often repeated; no one is quoted with it, and the source has it right.

Each command is given in the root of a clone, where ` + "`locksim`" + ` stands for ` + "`go run ./cmd/locksim`" + `, and below it is
what it prints, among other lines. Tests run all of them. A run is one schedule: it shows that something can happen,
and where nothing happens it is an example and no proof. What runs is the mechanism, in our lock or in one that is
wrong on purpose, unless a name of a library says otherwise; ` + "[Other people's locks](LIBRARIES.md)" + ` has libraries as
they are. In the rows of Consul, Kubernetes and NATS the Go client runs as it is. The server of NATS is its own;
those of Consul and Kubernetes are models, of which each answers as the real code does.

A claim, in a run, is what the lock has promised to a client, and a belief is what the client still acts on; the two
numbers in a line such as ` + "`none corrupted corrupted 0 / 3`" + ` count how often two claims and two beliefs overlapped.
After ` + "`--fencing`" + ` stand the ways in which the store refuses late writes, such as ` + "`check`, `seal` and `claim`" + `; with
` + "`none`" + ` it takes them. [Concepts](../docs/explanation/concepts.md) explains them.`,
	chapters: map[Chapter]string{Articles: "What the articles say", Vendors: "What the vendors say"},
	holds:    map[Holds]string{HoldsAsItStands: "holds", HoldsIf: "holds on a condition", HoldsNot: "not as it stands"},
	head:     "| sentence | does it hold? |\n|---|---|\n",
	source:   "In our words, after [%s](%s).",
	instead:  "This source says instead:",
	needs:    "It needs",
	shows:    "A run shows",
	stop:     ": ",
}

var chinese = language{
	text:  func(t Text) string { return broken.ReplaceAllString(t.ZH, "$1$2") },
	other: "[English](CLAIMS.md) | 中文",
	title: "他们怎么说，运行又显示什么",
	intro: `<!-- Made from internal/claims/claims.yaml: go test ./internal/claims -update -->

关于分布式锁、许多人读过的句子，每一句都写明它成立需要什么，并附上一次能看到结果的运行。它们大多在原来的语境里是对的，只是有些说得太满。
引号里的话出自来源；没有引号的，是我们转述的建议。凡写有“这个来源的说法则是”的，标题是一种常被重复的看法，不引自任何人；来源说的是对的。

每条命令都在克隆的根目录执行，` + "`locksim`" + ` 即 ` + "`go run ./cmd/locksim`" + `；命令下面是它输出的其中几行，测试会全部运行一遍。一次运行只是一种
调度：它说明某事可能发生；什么也没发生时，它只是例子，不是证明。运行的是机制本身，用的是我们的锁或故意写错的锁，除非写明了库的名字；
` + "[他人的锁](LIBRARIES.md)" + `一页里才是原样的库。在 Consul、Kubernetes 和 NATS 的各条里，运行的是原样的 Go 客户端。NATS 的服务器是它自己的；
Consul 和 Kubernetes 的服务器按它们的文档建模，没有与真实的服务器比对过。

运行里的 claim 是锁对客户端的承诺，belief 是客户端仍据以行事的判断；` + "`none corrupted corrupted 0 / 3`" + ` 这样的一行里，两个数字是两个
claim 和两个 belief 各重叠了几次。` + "`--fencing`" + ` 之后是存储拒绝迟到的写的各种方式，如 ` + "`check`、`seal` 和 `claim`" + `；` + "`none`" + ` 则照单全收。
详见 ` + "[Concepts](../docs/explanation/concepts.md)" + `（英文）。`,
	chapters: map[Chapter]string{Articles: "文章怎么说", Vendors: "厂商怎么说"},
	holds:    map[Holds]string{HoldsAsItStands: "成立", HoldsIf: "有条件成立", HoldsNot: "照字面不成立"},
	head:     "| 说法 | 成立吗？ |\n|---|---|\n",
	instead:  "这个来源的说法则是：",
	source:   "我们的转述，出处：[%s](%s)。",
	needs:    "前提",
	shows:    "运行显示",
	stop:     "：",
}

// English is reports/CLAIMS.md.
func English() string { return english.page() }

// Chinese is reports/CLAIMS.zh.md.
func Chinese() string { return chinese.page() }

func (l language) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n# %s\n\n%s\n", l.other, l.title, l.intro)
	for _, chapter := range []Chapter{Articles, Vendors} {
		fmt.Fprintf(&b, "\n## %s\n\n%s", l.chapters[chapter], l.head)
		for _, c := range of(chapter) {
			fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", l.text(c.Says), c.ID, l.holds[c.Holds])
		}
		for _, c := range of(chapter) {
			l.section(&b, c)
		}
	}
	return b.String()
}

func (l language) section(b *strings.Builder, c Claim) {
	fmt.Fprintf(b, "\n<a id=\"%s\"></a>\n### %s\n\n", c.ID, strings.TrimRight(l.text(c.Says), ".。"))
	if c.Quote == "" {
		fmt.Fprintf(b, l.source+"\n\n", c.Source.Title, c.Source.URL)
	} else {
		if c.Corrects {
			b.WriteString(l.instead + "\n\n")
		}
		fmt.Fprintf(b, "> “%s” — [%s](%s)\n\n", c.Quote, c.Source.Title, c.Source.URL)
	}
	fmt.Fprintf(b, "**%s**%s%s\n\n", l.needs, l.stop, l.text(c.Needs))
	fmt.Fprintf(b, "**%s** (%s)%s%s\n\n```console\n", l.shows, l.holds[c.Holds], l.stop, l.text(c.Shows))
	for _, r := range c.Runs {
		fmt.Fprintf(b, "$ %s\n%s\n", r.Command, strings.Join(r.Prints, "\n"))
	}
	b.WriteString("```\n")
}

func of(chapter Chapter) []Claim {
	var all []Claim
	for _, c := range All() {
		if c.Chapter == chapter {
			all = append(all, c)
		}
	}
	return all
}
