package tagus

import (
	"context"
	"log/slog"
	"time"

	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/rosargs"
	"github.com/tagus-ros/tagus/internal/roslog"
)

// LevelFatal is the level of log/slog that is FATAL in ROS 2. The others are slog's own:
// what lies between two of them counts as the lower one.
const LevelFatal = roslog.SlogFatal

// Logger is where the node logs: to the console in the form of ROS 2, or to the handler of
// [WithLogHandler], and to /rosout. Its name is the node's full name with dots. What it
// lets through is the level of --log-level, else INFO; logging what it does not let
// through costs next to nothing.
//
// Logging never waits: neither for who listens to /rosout nor, on Linux, for who reads the
// console. While nobody does, up to a megabyte of lines is kept; more are counted, and the
// count is written once it goes on. RCUTILS_CONSOLE_OUTPUT_FORMAT,
// RCUTILS_COLORIZED_OUTPUT and RCUTILS_LOGGING_USE_STDOUT count as for other programs.
func (n *Node) Logger() *slog.Logger { return n.logger }

// ChildLogger is a logger of a part of the node: its name is that of the node's logger
// with ".name" behind, and so it can have a level of its own.
func (n *Node) ChildLogger(name string) *slog.Logger {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.childLoggers[name]
	if l == nil {
		h := *n.logger.Handler().(*logHandler)
		h.rename(h.logger.Name + roslog.Separator + name)
		l = slog.New(&h)
		if n.closed { // nobody would drop it
			n.d.logs.levels.Drop(h.logger)
		}
		if n.childLoggers == nil {
			n.childLoggers = make(map[string]*slog.Logger)
		}
		n.childLoggers[name] = l
	}
	return l
}

// dropLoggers ends that the node's loggers follow changes of levels.
func (n *Node) dropLoggers() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.childLoggers {
		n.d.logs.levels.Drop(l.Handler().(*logHandler).logger)
	}
	n.d.logs.levels.Drop(n.logger.Handler().(*logHandler).logger)
}

// logs is how a domain logs.
type logs struct {
	levels  *roslog.Levels
	console *roslog.Console // nil: nothing goes there
	user    slog.Handler    // in place of the console, or nil
}

// newLogs makes it as the command line says.
func newLogs(args *rosargs.Args, user slog.Handler) (*logs, error) {
	l := &logs{levels: roslog.NewLevels(roslog.Level(args.LogLevel)), user: user}
	for _, g := range args.LoggerLevels {
		if err := l.levels.Set(g.Logger, roslog.Level(g.Level)); err != nil {
			return nil, err
		}
	}
	if user == nil && !args.NoStdoutLogs {
		l.console = roslog.Standard()
	}
	return l, nil
}

// flush gives a console that takes lines slowly a little time.
func (l *logs) flush() {
	if l.console != nil {
		l.console.Flush(time.Second)
	}
}

// logger makes a logger that goes to r too, if that is not nil.
func (l *logs) logger(name string, r *rosout) *slog.Logger {
	h := &logHandler{logs: l, rosout: r}
	h.rename(name)
	return slog.New(h)
}

// logHandler brings what one logger says to where it goes.
type logHandler struct {
	logs   *logs
	logger *roslog.Logger
	rosout *rosout      // or nil
	user   slog.Handler // that of the logs with what this logger adds, or nil
	attrs  string       // as text, each with a space before it
	group  string       // "a.b.", before the keys of attributes
}

// rename makes h the handler of another logger, which has no attributes.
func (h *logHandler) rename(name string) {
	h.logger = h.logs.levels.Logger(name)
	h.attrs, h.group = "", ""
	if h.logs.user != nil {
		h.user = h.logs.user.WithAttrs([]slog.Attr{slog.String("logger", name)})
	}
}

// Enabled says whether anything becomes of a message of that level.
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.logger.Enabled(level) && (h.logs.console != nil || h.rosout != nil || h.user != nil && h.user.Enabled(ctx, level))
}

// Handle writes and publishes.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	l := roslog.Line{Level: roslog.LevelOf(r.Level), Time: r.Time.UnixNano(), Logger: h.logger.Name, Message: r.Message}
	if r.Time.IsZero() {
		l.Time = clock.Wall()
	}
	console := h.logs.console
	if console != nil || h.rosout != nil {
		if h.attrs != "" || r.NumAttrs() > 0 {
			l.Message = h.text(&r)
		}
		if h.rosout != nil || console.NeedsLocation() {
			s := siteOf(r.PC)
			l.Function, l.File, l.Line = s.function, s.file, s.line
		}
	}
	if console != nil {
		console.Print(&l)
	}
	if h.rosout != nil {
		h.rosout.publish(&l)
	}
	if h.user != nil && h.user.Enabled(ctx, r.Level) {
		return h.user.Handle(ctx, r)
	}
	return nil
}

// WithAttrs is for log/slog.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	b := []byte(h.attrs)
	for _, a := range attrs {
		b = appendAttr(b, h.group, a)
	}
	with.attrs = string(b)
	if h.user != nil {
		with.user = h.user.WithAttrs(attrs)
	}
	return &with
}

// WithGroup is for log/slog.
func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.group += name + "."
	if h.user != nil {
		with.user = h.user.WithGroup(name)
	}
	return &with
}
