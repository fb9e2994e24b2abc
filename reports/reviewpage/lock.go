package reviewpage

import (
	"fmt"
	"maps"
	"slices"

	"locksim/internal/prose"
	"locksim/reports/scene"
	"locksim/scenarios/outcome/reviews"
)

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// lockBlocks say how the lock works and what it needs.
func lockBlocks(r *reviews.Review) []Block {
	about := r.Lock.About
	if about == "" {
		about = "This lock has no description; locksim knows only its adapter."
	}
	needs := fmt.Sprintf("It needs %s and mints no fencing tokens, so that of the fences only claim and cas can be put "+
		"before the data.", prose.Count(r.Lock.Nodes, "server"))
	if r.Lock.Tokens {
		needs = fmt.Sprintf("It needs %s, and every grant carries a fencing token.", prose.Count(r.Lock.Nodes, "server"))
	}
	return []Block{paragraph("%s", about), paragraph("%s", needs)}
}

// promiseBlocks say what the lock promises, by which it is judged.
func promiseBlocks(r *reviews.Review) []Block {
	l := r.Lock
	if !l.Promises {
		return []Block{paragraph("The lock promises nothing. Everything below is judged as if it promised that claims "+
			"never overlap, that the lock is free again at the end, that no rightful holder is refused, and that the data is "+
			"right in mode %s.", l.Judged)}
	}
	var blocks []Block
	for _, part := range scene.Promise(l.Promise, false) {
		text := part.Text
		if len(part.Words) > 0 {
			text += " " + prose.Commas(part.Words) + "."
		}
		blocks = append(blocks, Block{Text: text, Items: part.Items})
	}
	return append(blocks, paragraph("It promises nothing under: %s.", commas(l.Unpromised)))
}

// Advice is an advice as a card.
type Advice struct {
	Use, Means string
	Verdict    string
	Kind       reviews.Verdict
	Text       string
}

// useMeans explains the uses.
var useMeans = map[reviews.Use]string{
	reviews.ForEfficiency:  "Work that is done twice is only waste.",
	reviews.ForCorrectness: "A violation costs money or data.",
}

// adviceCards are the recommendations.
func adviceCards(r *reviews.Review) []Advice {
	var cards []Advice
	for _, a := range r.Advice {
		verdict := string(a.Verdict)
		if a.Fence != "" {
			verdict += ": " + string(a.Fence)
		}
		cards = append(cards, Advice{Use: "For " + string(a.Use), Means: useMeans[a.Use], Verdict: verdict, Kind: a.Verdict,
			Text: a.Text})
	}
	return cards
}

// ruleBlocks are the figures behind each recommendation, and the rules that it follows from.
func ruleBlocks(r *reviews.Review) []Block {
	blocks := []Block{paragraph("Each recommendation follows from fixed rules.")}
	for _, a := range r.Advice {
		blocks = append(blocks, Block{Heading: "For " + string(a.Use), Items: a.Reasons},
			Block{Text: "These rules were tried, one after the other. The first whose condition holds decides:",
				Items: ruleItems(a), Numbered: true})
	}
	return blocks
}

// ruleItems are the rules for a use, up to the one that decided.
func ruleItems(a reviews.Advice) []string {
	var out []string
	for _, rule := range reviews.Rules(a.Use) {
		text := fmt.Sprintf("If %s", rule.Text)
		if rule.ID == a.Rule {
			return append(out, text+". This holds, and decides.")
		}
		out = append(out, text+". This does not hold.")
	}
	return out
}

func questionBlocks(r *reviews.Review) []Block {
	if len(r.Questions) == 0 {
		return []Block{paragraph("The figures raise none.")}
	}
	var items []string
	for _, q := range r.Questions {
		items = append(items, q.Text)
	}
	return []Block{{Items: items, Numbered: true}}
}
