//go:build !linux

package action_test

import "errors"

func child(string) error { return errors.New("two processes meet on Linux only") }
