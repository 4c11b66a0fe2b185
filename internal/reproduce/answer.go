package reproduce

import (
	"encoding/json"
	"fmt"
	"slices"
)

// An Answer is what the claims together say: the content of answer.json.
type Answer struct {
	Sentences []Sentence `json:"sentences"`
	Items     []Item     `json:"items"`
}

// A Sentence is one finding.
type Sentence struct {
	Lead    string   `json:"lead"` // what was found
	Rest    string   `json:"rest"` // by which numbers
	Verdict Verdict  `json:"verdict"`
	Claims  []string `json:"claims"` // ids of the claims on which it rests
}

// An Item is a figure or table of the paper.
type Item struct {
	Name   string `json:"name"`   // in the paper, such as "Figure 5"
	Figure string `json:"figure"` // the name of the figure that shows it
	Shows  string `json:"shows"`
	Lines  []Line `json:"lines"` // empty if it has no number
}

// A Line is one number of an item.
type Line struct {
	Quantity string   `json:"quantity"`
	Paper    string   `json:"paper"`
	Here     string   `json:"here"`
	Verdict  Verdict  `json:"verdict"`
	Claims   []string `json:"claims"`
}

// ParseAnswer returns the answer in data, the content of answer.json. It
// returns an error unless there are sentences and items, all of them with their
// texts, known verdicts, and claims that are in the list.
func ParseAnswer(data []byte, claims []Claim) (*Answer, error) {
	var a Answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	if len(a.Sentences) == 0 || len(a.Items) == 0 {
		return nil, fmt.Errorf("answer: %d sentences and %d items", len(a.Sentences), len(a.Items))
	}
	for _, s := range a.Sentences {
		if err := rests(s.Lead, s.Verdict, s.Claims, claims); err != nil {
			return nil, err
		}
	}
	for _, i := range a.Items {
		if i.Name == "" || i.Figure == "" {
			return nil, fmt.Errorf("answer: item %q shown by figure %q", i.Name, i.Figure)
		}
		for _, l := range i.Lines {
			if err := rests(l.Quantity, l.Verdict, l.Claims, claims); err != nil {
				return nil, fmt.Errorf("%w, in %s", err, i.Name)
			}
		}
	}
	return &a, nil
}

// rests returns an error unless a part of the answer has a text and a known
// verdict, and rests on claims that are in the list.
func rests(text string, v Verdict, ids []string, claims []Claim) error {
	if text == "" || !slices.Contains(Verdicts, v) || len(ids) == 0 {
		return fmt.Errorf("answer: %q has the verdict %q and %d claims", text, v, len(ids))
	}
	for _, id := range ids {
		if !slices.ContainsFunc(claims, func(c Claim) bool { return c.ID == id }) {
			return fmt.Errorf("answer: %q rests on the claim %q, which is not there", text, id)
		}
	}
	return nil
}
