//go:build !linux

package machine

const hasUsage = false

func readUsage(*Counts) {}

type procFiles struct{}

func (*procFiles) open() {}

func (*procFiles) memory() Memory { return Memory{} }

func pss() *int64 { return nil }
