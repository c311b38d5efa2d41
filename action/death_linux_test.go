package action_test

import "errors"

func child(string) error { return errors.New("todo") }
