package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// figure is a sentence of a page in two languages with numbers, and the file that has these numbers.
type figure struct {
	page   string // such as "README": README.md and README.zh.md
	en, zh string // with %s for each number
	file   string
	find   func(text string) []string
}

// match are the groups of a pattern in a text.
func match(pattern string) func(string) []string {
	re := regexp.MustCompile(pattern)
	return func(text string) []string {
		m := re.FindStringSubmatch(text)
		return m[min(1, len(m)):]
	}
}

// The pages with figures.
const readme, found = "README", "docs/explanation/found"

// figures are the sentences of these pages with numbers. A number that a test of another block or table compares is not
// among them.
var figures = []figure{
	{readme, "Go %s is all it takes", "只需要 Go %s", "go.mod", match(`(?m)^go (\d+\.\d+)`)},
	{readme, "draws %s schedules of faults", "抽取 %s 种故障时序", "docs/how-to/schedules.md",
		match(`The default is ([\d,]+) schedules`)},
	{readme, "By hand it takes under %s lines", "手写也不到 %s 行", "cmd/locksim/docs_blocks_test.go", match(`lines >= (\d+)`)},
	{found, "| go-redsync/redsync v%s |", "| go-redsync/redsync v%s |", "examples/redsync/go.mod",
		match(`go-redsync/redsync/v4 v(4\.\d+)`)},
	{found, "found by a search in run %s |", "由搜索在第 %s 次运行发现 |", "examples/redsync/redsync_test.go",
		match(`found by a search, in run ([\d,]+)`)},
	{found, "[the gallery](../../reports/gallery/README.md), with %s more", "[案例集](../../reports/gallery/README.md)，另有%s例",
		"reports/gallery/README.md", oneLess},
	{found, "Issue %s, open", "该问题编号 %s，尚未修复", "docs/reference/locks.md", match(`consul issues (\d+)`)},
	{found, "Of %s recipes as well-read articles print them, %s fail", "热门文章中的 %s 个写法，有 %s 个会出错",
		"reports/GROUNDTRUTH.md", match(`Of (\d+) recipes (\d+)\s+fail`)},
	{found, "of %s, %s are found as themselves", "%s 个中有 %s 个按其本身被找到",
		"reports/GROUNDTRUTH.md", match(`\| published bugs \| (\d+) \| (\d+) \|`)},
	{found, "(etcd issue %s)", "etcd 问题编号 %s", "internal/findings/all.go",
		match(`of ` + "`Campaign`" + ` known since 2019 \(#(\d+)\)`)},
	{found, "known since %s ", "自 %s 年起已公开", "internal/findings/all.go",
		match(`of ` + "`Campaign`" + ` known since (\d+) `)},
	{found, "Seen in Consul %s itself,", "在 Consul %s 自身中看到", "internal/findings/all.go",
		match(`Library: "Consul", Version: "v([\d.]+)"`)},
	{found, "back to %s:", "置回 %s：", "docs/reference/locks.md", match(`sets the ` + "`LockIndex`" + ` back to (\d)`)},
	{found, "most within %s runs", "大多在 %s 次运行之内", "reports/GROUNDTRUTH.md", mostWithin},
	{found, "%s mistakes, all but one of them published. From three different first seeds, a search finds each within " +
		"%s runs",
		"%s 个错误，除一个外都公开发表过。从三个不同的起始种子出发，搜索都在 %s 次运行之内找到每一个", "reports/FINDINGS.md", specimens},
	{found, "Of a sample of %s made by hand that a run can show, %s are found",
		"手工制造、运行中能够显现的错误，抽取的 %s 个中，找到 %s 个", "reports/REACH.md", match(`\| made by hand \| (\d+) \| (\d+) `)},
	{found, "of %s mechanical ones that the unit tests notice, %s.", "单元测试能发现的 %s 个机械变异中，找到 %s 个",
		"reports/REACH.md", match(`\| mechanical \| (\d+) \| (\d+) `)},
}

// oneLess is the number of stories of the gallery but for one, as a word.
func oneLess(text string) []string {
	stories := regexp.MustCompile(`(?m)^\| \d+ \|`).FindAllString(text, -1)
	if len(stories) != 13 {
		return []string{fmt.Sprintf("(%d)", len(stories)-1)}
	}
	return []string{"twelve"}
}

// mostWithin is 200 if more than half of the bugs that are found are found within 200 runs.
func mostWithin(text string) []string {
	soon, all := 0, 0
	for _, m := range regexp.MustCompile(
		`(?m)^\| \[[\w-]+\]\([^|]*\|[^|]*\| v[^|;]*: found in (\d+) runs`).FindAllStringSubmatch(text, -1) {
		all++
		if n, err := strconv.Atoi(m[1]); err == nil && n <= 200 {
			soon++
		}
	}
	if 2*soon <= all {
		return []string{fmt.Sprintf("more than 200: %d of %d", soon, all)}
	}
	return []string{"200"}
}

// specimens are the number of specimens, and the most runs until a search finds one.
func specimens(text string) []string {
	most, rows := 0, regexp.MustCompile(`(?m)^\| broken/.*\| ([^|]*) \|$`).FindAllStringSubmatch(text, -1)
	for _, row := range rows {
		for n := range strings.SplitSeq(row[1], ", ") {
			runs, err := strconv.Atoi(strings.ReplaceAll(n, ",", ""))
			if err != nil {
				return nil // one was not found
			}
			most = max(most, runs)
		}
	}
	return []string{strconv.Itoa(len(rows)), strconv.Itoa(most)}
}

// inChinese are the numbers that a README has as words.
var inChinese = map[string]string{"twelve": "十二"}

// Every number of the READMEs and of the page of what was found is in a stored result: in a block or a table that
// another test compares, or in one of the figures.
func TestReadmeNumbers(t *testing.T) {
	aside := regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)|\\bc\\d\\b|LICENSE")
	for _, name := range []string{readme + ".md", readme + ".zh.md", found + ".md", found + ".zh.md"} {
		text := (page{name, readFile(t, filepath.Join(root, name))}).prose()
		base, chinese := strings.CutSuffix(strings.TrimSuffix(name, ".md"), ".zh")
		for _, f := range figures {
			if f.page != base {
				continue
			}
			numbers := f.find(readFile(t, filepath.Join(root, f.file)))
			sentence := f.en
			if chinese {
				sentence = f.zh
			}
			if len(numbers) != strings.Count(sentence, "%s") {
				t.Errorf("%s: %s has the numbers %q of %q", name, f.file, numbers, sentence)
				continue
			}
			var values []any
			for _, n := range numbers {
				if word, ok := inChinese[n]; ok && chinese {
					n = word
				}
				values = append(values, n)
			}
			want := fmt.Sprintf(sentence, values...)
			if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%s does not say %q, which %s says", name, want, f.file)
			}
			text = strings.Replace(strings.Join(strings.Fields(text), " "), want, "", 1)
		}
		words := strings.Fields(aside.ReplaceAllString(text, ""))
		for i, w := range words {
			if strings.ContainsFunc(w, func(r rune) bool { return '0' <= r && r <= '9' }) {
				t.Errorf("%s: no file has the number in %q: add it to the figures", name,
					strings.Join(words[max(0, i-4):min(len(words), i+4)], " "))
			}
		}
	}
}
