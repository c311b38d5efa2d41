// Package folder is where the processes of one user and one domain meet.
//
// There is no daemon and no table that everybody writes. Each process owns one
// announcement file and one control socket in the domain folder, both named by
// its participant id. The file says what the process has; a lock on it, held
// by the kernel for as long as the process lives, says that it lives. Nobody
// maps these files and nobody waits for them: a reader reads one of two
// checksummed copies. What process ids mean is never asked, so containers that
// share nothing but the folder meet as well.
//
// The byte layout of the file and the rules of reading, reaping and remaking
// are in docs/shm-protocol.md; what a process announces and what is said over
// a [Conn] is the business of package control.
//
// The package exists on Linux. Elsewhere every operation returns
// [ErrUnsupported].
//
// It must not import transports, executors or anything that knows topics.
package folder
