package main

import (
	"fmt"
	"strings"
)

// each returns what find says of every word of a list, split at commas outside
// parentheses.
func each[T any](list string, find func(string) (T, error)) ([]T, error) {
	var found []T
	start, depth := 0, 0
	for i, r := range list + "," {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		}
		if i < len(list) && (r != ',' || depth != 0) {
			continue
		}
		if start < i {
			x, err := find(strings.TrimSpace(list[start:i]))
			if err != nil {
				return nil, err
			}
			found = append(found, x)
		}
		start = i + 1
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
