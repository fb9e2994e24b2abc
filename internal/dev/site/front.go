package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"html/template"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"locksim/internal/playground/page"
)

//go:embed assets/document.html
var documentHTML string

//go:embed assets/document.css
var documentCSS string

//go:embed assets/front.html
var frontHTML string

//go:embed assets/front.css
var frontCSS string

var (
	documentTemplate = template.Must(template.New("document").Parse(documentHTML))
	frontTemplate    = template.Must(template.New("front").Parse(frontHTML))
)

// words are those of the front page in a language.
type words struct {
	Page, Readme, Lang, Query                                string
	Other, OtherPage, OtherLang                              string
	Title, Heading, First, Second, Third                     string
	Playground, Gallery, Libraries, Truth, Docs              string
	Demo, After, Try, Judged, Signs, AllLibraries            string
	Yours, InClone, InModule, Schedules, Review              string
	Adapter, Choose, Limits, LimitsText, LimitsLink, Chinese string
}

var languages = []words{
	{
		Page: "index.html", Readme: "readme.html", Lang: "en", Other: "中文", OtherPage: "index.zh.html", OtherLang: "zh",
		Title: "locksim: does your lock hold?", Heading: "Does your distributed lock hold?",
		First: "locksim runs the code of your lock, unmodified, in a simulated world of processes, networks and " +
			"servers, and makes go wrong what goes wrong in production.",
		Second: "It tells you whether two clients ever had the lock at once, what that broke, and whether a check at " +
			"your store would have saved the data.",
		Third:      "Each failure is one number, a seed, with which everybody sees the same run again.",
		Playground: "Playground", Gallery: "Gallery", Libraries: "Other people's locks", Truth: "Ground truth",
		Docs:   "Documentation",
		Demo:   "Ten seconds of a lock with a ten second lease",
		After:  "No lock with a lease can prevent this. A store that checks a number can: it refuses the late write.",
		Try:    "Drag the pause yourself",
		Judged: "Other people's locks, against their own promises",
		Signs: "✓ kept in every run that tested it, ✗ broken, † broken by a finding that those runs do not show, · " +
			"it promises nothing there, – does not apply. Columns are kinds of trouble; none is none at all.",
		AllLibraries: "All libraries, with the runs behind each sign and the smallest story of each failure",
		Yours:        "Test your lock",
		InClone:      "in a clone of locksim", InModule: "in your module: a test, an adapter of some twenty lines",
		Schedules: "2,000 schedules of faults; the first that breaks it, made minimal",
		Review:    "the design review, as a page",
		Adapter:   "How", Choose: "Which lock should I take?", Limits: "What it does not do",
		LimitsText: "A pass means that no violation was seen in these runs, and proves nothing about others.",
		LimitsLink: "Limits",
	},
	{
		Page: "index.zh.html", Readme: "readme.zh.html", Lang: "zh", Query: "?zh", Other: "English", OtherPage: "index.html",
		OtherLang: "en", Chinese: "yes",
		Title: "locksim：你的锁靠得住吗？", Heading: "你的分布式锁靠得住吗？",
		First:      "locksim 把你的锁的代码原封不动地放进由进程、网络和服务器组成的模拟世界里运行，并让生产环境中会出的错在那里发生。",
		Second:     "它告诉你有没有两个客户端同时持有锁，弄坏了什么，以及存储端的一道检查能不能保住数据。",
		Third:      "每个失败就是一个数字（种子），任何人都能用它看到同一次运行。",
		Playground: "演练场", Gallery: "案例集", Libraries: "别人的锁", Truth: "对照真实错误", Docs: "文档（英文）",
		Demo:         "一把租约十秒的锁",
		After:        "任何带租约的锁都防不住这一点。会比较编号的存储可以：它拒绝这次迟到的写入。",
		Try:          "自己拖动停顿的时长",
		Judged:       "别人的锁，按它们自己的承诺评判",
		Signs:        "✓ 在每次有效运行中都守住了，✗ 破坏了，† 有一个已知发现会破坏它而这些运行没有显示，· 在这里没有承诺，– 不适用。各列是故障类别；none 表示没有任何故障。",
		AllLibraries: "全部锁库，以及每个符号背后的运行和每个失败的最短经过", Yours: "测试你的锁",
		InClone: "在 locksim 的克隆中", InModule: "在你的模块中：一个测试，约二十行的适配器", Schedules: "2,000 种故障时序；第一个违反承诺的会缩到最小",
		Review:  "设计评审，一张网页",
		Adapter: "怎么做", Choose: "该用哪种锁？", Limits: "它不做什么",
		LimitsText: "通过只表示这些运行里没有见到违反承诺的情况，对其他运行什么也没有证明。", LimitsLink: "Limits",
	},
}

func (s *site) front(context.Context) error {
	for _, w := range languages {
		demo, err := page.Demo(w.Chinese != "")
		if err != nil {
			return err
		}
		table, err := s.verdicts()
		if err != nil {
			return err
		}
		var b bytes.Buffer
		err = frontTemplate.Execute(&b, map[string]any{"W": w, "CSS": template.CSS(demo.CSS + frontCSS),
			"JS": template.JS(demo.JS), "Demo": template.HTML(demo.HTML), "Table": table})
		if err == nil {
			err = s.put(w.Page, b.Bytes())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// verdicts is the table of the README with a sign for each lock under each kind of trouble.
func (s *site) verdicts() (template.HTML, error) {
	doc, src, err := s.parse("README.md")
	if err != nil {
		return "", err
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		table, ok := n.(*extast.Table)
		if !ok || plain(table.FirstChild().FirstChild(), src) != "lock" {
			continue
		}
		var b bytes.Buffer
		if err := markdown.Renderer().Render(&b, src, ast.Node(table)); err != nil {
			return "", err
		}
		out := strings.NewReplacer("<th>", "<th><span>", "</th>", "</span></th>", "<td>✓</td>", `<td class="kept">✓</td>`,
			"<td>✗</td>", `<td class="broken">✗</td>`, "<td>·</td>", `<td class="open">·</td>`).Replace(b.String())
		return template.HTML(out), nil
	}
	return "", errors.New("README.md has no table whose first column is called lock")
}
