// Package roslog is the part of logging that knows no node: log levels by the names of loggers, the format in which ROS 2 programs write
// to the console, and a console writer that does not block.
//
// The files: levels.go is who may say what, format.go is a line of text, console*.go brings it out.
//
// It imports nothing of this module.
package roslog

import (
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// Level is a log level, numbered as in rcl_interfaces/msg/Log.
type Level uint8

// The log levels.
const (
	Unset Level = 0
	Debug Level = 10
	Info  Level = 20
	Warn  Level = 30
	Error Level = 40
	Fatal Level = 50
)

// SlogFatal is the level of package log/slog that stands for Fatal.
const SlogFatal = slog.LevelError + 4

// String names the level in capitals, as the console has it.
func (l Level) String() string {
	switch l {
	case Unset:
		return "UNSET"
	case Debug:
		return "DEBUG"
	case Info:
		return "INFO"
	case Warn:
		return "WARN"
	case Error:
		return "ERROR"
	case Fatal:
		return "FATAL"
	}
	return fmt.Sprintf("LEVEL%d", uint8(l))
}

// Valid says whether there is such a level.
func (l Level) Valid() bool { return l <= Fatal && l%10 == 0 }

// LevelOf is the level that a level of log/slog stands for: what lies between two counts as the lower one.
func LevelOf(l slog.Level) Level {
	switch {
	case l < slog.LevelInfo:
		return Debug
	case l < slog.LevelWarn:
		return Info
	case l < slog.LevelError:
		return Warn
	case l < SlogFatal:
		return Error
	}
	return Fatal
}

// slog is the lowest level of log/slog that a logger of this level lets through.
func (l Level) slog() slog.Level {
	switch l {
	case Unset:
		return slog.LevelDebug * 100 // everything
	case Debug:
		return slog.LevelDebug
	case Info:
		return slog.LevelInfo
	case Warn:
		return slog.LevelWarn
	case Error:
		return slog.LevelError
	}
	return SlogFatal
}

// Separator stands between the parts of a logger's name.
const Separator = "."

// LoggerName is the name of a node's logger: its full name with dots.
func LoggerName(fullName string) string {
	return strings.ReplaceAll(strings.TrimPrefix(fullName, "/"), "/", Separator)
}

// Levels are the log levels of the loggers of a process. A logger without a level of its own has that of the nearest one above it, "a" above
// "a.b", and in the end the level of the process.
type Levels struct {
	mu      sync.Mutex
	process Level
	own     map[string]Level
	loggers map[*Logger]struct{}
}

// Logger is a name with the level that holds for it. Reading it costs an atomic load.
type Logger struct {
	Name string

	lowest atomic.Int64 // slog.Level
}

// NewLevels makes levels with that of the process; Unset means Info.
func NewLevels(process Level) *Levels {
	if process == Unset {
		process = Info
	}
	return &Levels{process: process, own: map[string]Level{}, loggers: map[*Logger]struct{}{}}
}

// Logger makes a logger that follows the levels until it is dropped.
func (l *Levels) Logger(name string) *Logger {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := &Logger{Name: name}
	l.loggers[g] = struct{}{}
	l.apply(g)
	return g
}

// Drop ends the following: the logger keeps its level.
func (l *Levels) Drop(g *Logger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.loggers, g)
}

// Enabled says whether a message of that level passes.
func (g *Logger) Enabled(level slog.Level) bool { return int64(level) >= g.lowest.Load() }

// Set gives a logger a level, whether there is one of that name or not; Unset takes it away. The empty name is the process.
func (l *Levels) Set(name string, level Level) error {
	if !level.Valid() {
		return fmt.Errorf("log level %d of logger %q: want 0 (unset), 10 (debug), 20 (info), 30 (warn), 40 (error) or 50 (fatal)", level, name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case name == "" && level == Unset:
		l.process = Info
	case name == "":
		l.process = level
	case level == Unset:
		delete(l.own, name)
	default:
		l.own[name] = level
	}
	for g := range l.loggers {
		l.apply(g)
	}
	return nil
}

// Own is the level that a logger was given; Unset if none. The empty name is the process.
func (l *Levels) Own(name string) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	if name == "" {
		return l.process
	}
	return l.own[name]
}

// Effective is the level that holds for a logger.
func (l *Levels) Effective(name string) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.effective(name)
}

func (l *Levels) effective(name string) Level {
	for name != "" {
		if level, ok := l.own[name]; ok {
			return level
		}
		name = name[:max(strings.LastIndex(name, Separator), 0)]
	}
	return l.process
}

func (l *Levels) apply(g *Logger) { g.lowest.Store(int64(l.effective(g.Name).slog())) }

// All gives the loggers that were given a level.
func (l *Levels) All() map[string]Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.own)
}
