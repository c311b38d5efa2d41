// Package arena is the recycled payload memory of a process: slots that are
// written once by this process and read in place by this and other processes.
//
// There is one arena per process. It is one sealed, sparse memory file of four
// times the limit, mapped read-write for the owner and once more read-only for
// readers of the same process; peers get a descriptor that was opened read-only.
// That guards against accidents, not against another process of the same user,
// or root, that means harm. All bookkeeping is on the owner's heap: nothing a
// peer could write decides where a slot lies or whether it is free.
//
// Slots come in the size classes of package pool, from one list per class, last
// in first out, so that the next message goes where the last one left the cache
// hot. Pages are committed when a range is first used and counted exactly. They
// are kept: giving memory back on every release is what makes receive paths slow.
// Ranges that stayed idle go back only when more than the retention bound is
// idle and they were unused for TrimAfter, by a one-shot timer; and at the limit,
// idle ranges of one class are taken back to serve another rather than fail. A
// range that was given back may serve any class.
//
// Get and Unref allocate nothing and make no system call while a slot of the
// class is free. The package must import only memfd, pool, invariants, the
// standard library and golang.org/x/sys; what a slot contains is the data path's
// business.
//
// Locks, outermost first: Arena.reclaimMu, Arena.mu, class.mu. No system call is
// made under the last two, but for the unmapping at the end.
package arena
