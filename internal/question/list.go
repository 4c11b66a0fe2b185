package question

import (
	"fmt"
	"strings"
)

// Each returns the result of find for every word of a list. Commas outside
// parentheses separate the words.
func Each[T any](list string, find func(string) (T, error)) ([]T, error) {
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

// Words returns the words between commas, nil for an empty list.
func Words(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// OneOrTwo returns what a list of one element, for A and for B, or of one for
// Each names. what is that in the plural.
func OneOrTwo[T any](list, what string, find func(string) (T, error)) (x, y T, err error) {
	found, err := Each(list, find)
	switch {
	case err != nil:
		return x, y, err
	case len(found) > 2:
		return x, y, fmt.Errorf("%q are %d %s, want one of A and B or one of each", list, len(found), what)
	}
	return found[0], found[len(found)-1], nil
}
