package main

import (
	"slices"
	"strings"
)

// nearest gives the up to three candidates that a misspelt word probably means, the likeliest first.
func nearest(word string, candidates []string) []string {
	type scored struct {
		name string
		cost int
	}
	var near []scored
	low := strings.ToLower(word)
	for _, c := range candidates {
		cost := distance(low, strings.ToLower(c))
		if tail := last(low); last(strings.ToLower(c)) == tail { // the same name in another place
			cost = min(cost, 2)
		}
		if cost <= max(2, len(last(word))/3) {
			near = append(near, scored{c, cost})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.cost - b.cost })
	var out []string
	for _, n := range near[:min(3, len(near))] {
		if n.cost > 0 && near[0].cost == 0 { // that very name, but for capitals
			break
		}
		out = append(out, n.name)
	}
	return out
}

func last(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// distance is the number of letters to change, add or take away to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// didYouMean asks about candidates, on a line of its own.
func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "\nDid you mean " + strings.Join(near, " or ") + "?"
}
