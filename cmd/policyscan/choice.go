package main

import (
	"fmt"
	"slices"
	"strings"
)

// oneOf returns an error that lists the choices if value is not one of them.
func oneOf(flag, value string, choices []string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	shown := choices
	const most = 12
	more := ""
	if len(shown) > most {
		shown, more = shown[:most], ", … (see policyscan list)"
	}
	return fmt.Errorf("%s is %q; choose one of %s%s", flag, value, strings.Join(shown, ", "), more)
}
