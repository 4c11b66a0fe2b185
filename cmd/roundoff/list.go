package main

import (
	"fmt"
	"strings"
)

// each returns what find says of every word of a list, split at commas outside parentheses.
func each[T any](list string, find func(string) (T, error)) ([]T, error) {
	var found []T
	depth := 0
	for _, word := range strings.FieldsFunc(list, func(r rune) bool {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		}
		return r == ',' && depth == 0
	}) {
		x, err := find(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		found = append(found, x)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%q names nothing, want a list with commas", list)
	}
	return found, nil
}

// words returns the words between commas, nil if there is none.
func words(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
