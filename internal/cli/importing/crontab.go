// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"fmt"
	"hash/fnv"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// entry is a line of a crontab that runs a command.
type entry struct {
	line int

	// description is what the comments right above it say.
	description string

	// schedule and zone are as ours have them.
	schedule, zone string

	// command is what the shell gets, and stdin its standard input.
	command, stdin string

	// shell runs the command in a directory, and env is set for it.
	shell, directory string
	env              []corev1.EnvVar

	name string
}

// remark is what is said about a line: that it is lost, or read in another way.
type remark struct {
	line int
	text string
}

// setting is a line that sets a variable: blanks around the sign, and quotes, are left out.
var setting = regexp.MustCompile(`^("[^"]*"|'[^']*'|[^\s=]+)\s*=\s*(.*)$`)

// notCarriedOver are the variables that cron itself reads, and what to do in their place.
var notCarriedOver = map[string]string{
	"MAILTO":                    "no mail is sent; see status.recentRuns, the events and the alerts",
	"MAILFROM":                  "no mail is sent",
	"CONTENT_TYPE":              "no mail is sent",
	"CONTENT_TRANSFER_ENCODING": "no mail is sent",
	"RANDOM_DELAY":              "no run is delayed",
	"START_HOURS_RANGE":         "a run that was missed is not put off to these hours",
	"LOGNAME":                   "the image and the Pod's securityContext say who runs it",
	"USER":                      "the image and the Pod's securityContext say who runs it",
}

// crontab reads a crontab as crontab(5) describes it.
type crontab struct {
	// isSystem says that there is a column with the user, as in /etc/crontab.
	isSystem bool

	entries []entry
	remarks []remark

	// lost counts the commands that are not imported.
	lost int

	// What the lines so far say of those that follow.
	zone, shell, home string
	env               []corev1.EnvVar
	comments          []string
}

// parseCrontab reads a crontab. The zone is that of lines before which no CRON_TZ is set.
func parseCrontab(text, zone string, isSystem bool) *crontab {
	c := &crontab{isSystem: isSystem, zone: zone, shell: "/bin/sh"}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		line = strings.TrimSpace(line)
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			c.comment(strings.TrimSpace(strings.TrimLeft(comment, "#")))
			continue
		}
		if match := setting.FindStringSubmatch(line); match != nil {
			c.set(number, unquote(match[1]), unquote(match[2]))
		} else if line != "" {
			c.add(number, line)
		}
		c.comments = nil
	}
	c.nameEntries()
	return c
}

// sentence is how a comment starts that describes a command, other than a line, a table or the
// names of the fields, which crontabs come with.
var sentence = regexp.MustCompile(`^[\pL\pN]`)

// comment takes a comment for the entry right below it. One that is empty or a heading ends those
// before it.
func (c *crontab) comment(text string) {
	if !sentence.MatchString(text) || strings.HasPrefix(strings.Join(strings.Fields(text), " "), "m h dom mon dow") {
		c.comments = nil
		return
	}
	c.comments = append(c.comments, text)
}

func unquote(text string) string {
	for _, quote := range []string{`"`, `'`} {
		if len(text) > 1 && strings.HasPrefix(text, quote) && strings.HasSuffix(text, quote) {
			return text[1 : len(text)-1]
		}
	}
	return text
}

// set is a variable for the lines that follow.
func (c *crontab) set(line int, name, value string) {
	if name == "HOME" {
		c.home = value // cron starts the command there
	}
	switch why, isCrons := notCarriedOver[name]; {
	case isCrons:
		c.remark(line, "%s is not carried over: %s", name, why)
	case name == "CRON_TZ":
		c.zone = value
	case name == "SHELL":
		c.shell = value
	default:
		c.env = slices.DeleteFunc(slices.Clone(c.env), func(v corev1.EnvVar) bool { return v.Name == name })
		c.env = append(c.env, corev1.EnvVar{Name: name, Value: escape(value)})
	}
}

func (c *crontab) remark(line int, format string, args ...any) {
	c.remarks = append(c.remarks, remark{line, fmt.Sprintf(format, args...)})
}

// lose says why a line is not imported.
func (c *crontab) lose(line int, format string, args ...any) {
	c.remark(line, "not imported: "+format, args...)
	c.lost++
}

// add reads the line of a command.
func (c *crontab) add(line int, text string) {
	fields := 5
	switch {
	case strings.HasPrefix(text, "@every"):
		fields = 2
	case strings.HasPrefix(text, "@"):
		fields = 1
	}
	words, rest := cut(text, fields)
	e := entry{line: line, description: strings.Join(c.comments, "\n"), zone: c.zone, shell: c.shell, directory: c.home}
	e.schedule = sundays(words)
	parsed, err := schedule.ParseNew(e.schedule, c.zone)
	if err == nil {
		err = checkDays(parsed, words)
	}
	if err != nil {
		c.lose(line, "%v", err)
		return
	}
	var user []string // the column of a system crontab
	if c.isSystem {
		user, rest = cut(rest, 1)
	}
	e.command, e.stdin = splitPercent(rest)
	if strings.TrimSpace(e.command) == "" {
		c.lose(line, "there is no command behind the schedule")
		return
	}
	if strings.Contains(unescaped.FindString(rest), `\\`) {
		c.remark(line, `of \\ in a command, \ is left, as Debian's cron does it; others, such as cronie, leave both`)
	}
	if !c.isSystem && strings.HasPrefix(e.command, "root ") {
		c.remark(line, "if root is a user here, and not a command, add --system")
	}
	if len(user) > 0 {
		c.remark(line, "user %s is not carried over: set runAsUser in the Pod's securityContext", user[0])
	}
	e.env = c.env
	c.entries = append(c.entries, e)
}

// cut takes so many words off a text.
func cut(text string, count int) (words []string, rest string) {
	for range count {
		text = strings.TrimLeft(text, " \t")
		end := strings.IndexAny(text, " \t")
		if end < 0 {
			end = len(text)
		}
		if end > 0 {
			words = append(words, text[:end])
		}
		text = text[end:]
	}
	return words, strings.TrimLeft(text, " \t")
}

// The places of the fields of days.
const dayOfMonth, dayOfWeek = 2, 4

// checkDays returns an error if a schedule would run on other days than cron runs it. For cron, a
// day has to match both fields of days if one of them starts with *, such as */2, and else one of
// them. Here, it has to match both if one of them is *.
func checkDays(parsed schedule.Schedule, words []string) error {
	if len(words) <= dayOfWeek {
		return nil
	}
	fields, _ := parsed.Fields()
	if both := strings.ContainsAny(words[dayOfMonth][:1]+words[dayOfWeek][:1], "*?"); both != fields.EitherDay {
		return nil
	}
	crons, ours := "both", "either"
	if !fields.EitherDay {
		crons, ours = ours, crons
	}
	return fmt.Errorf("day of month %q beside day of week %q: cron runs it on days that match %s, and a CronJob on those that match %s: "+
		"write * for one of the two, and let the command check that", words[dayOfMonth], words[dayOfWeek], crons, ours)
}

// sundays joins the words of a schedule. Sunday, which cron also has as 7, is 0 for us.
func sundays(words []string) string {
	if len(words) > dayOfWeek {
		days := strings.Split(words[dayOfWeek], ",")
		for i, day := range days {
			if from, ok := strings.CutSuffix(day, "-7"); ok {
				days[i] = from + "-6,0"
			} else if day == "7" {
				days[i] = "0"
			}
		}
		words[dayOfWeek] = strings.Join(days, ",")
	}
	return strings.Join(words, " ")
}

// unescaped is what is before the first % without a backslash.
var unescaped = regexp.MustCompile(`^([^%\\]|\\.?)*`)

// splitPercent splits a command at the first % without a backslash, as Debian's cron does: what
// follows is its standard input, in which each further % ends a line, as its end does. A backslash
// before % is dropped, and in the command one before another backslash.
func splitPercent(text string) (command, stdin string) {
	command = unescaped.FindString(text)
	stdin = strings.NewReplacer(`\%`, "%", "%", "\n").Replace(strings.TrimPrefix(text[len(command):], "%"))
	if stdin != "" && !strings.HasSuffix(stdin, "\n") {
		stdin += "\n"
	}
	return strings.NewReplacer(`\\`, `\`, `\%`, "%").Replace(command), stdin
}

// escape keeps a text as it is in a container: there, $(NAME) is a variable and $$ a dollar.
func escape(text string) string {
	var escaped strings.Builder
	for i, char := range text {
		escaped.WriteRune(char)
		if next := text[i:]; char == '$' && (strings.HasPrefix(next, "$$") || strings.HasPrefix(next, "$(")) {
			escaped.WriteRune('$')
		}
	}
	return escaped.String()
}

// container returns the command of the container.
func (e *entry) container() []string {
	if e.stdin == "" {
		return []string{e.shell, "-c", escape(e.command)}
	}
	return []string{e.shell, "-c", `printf %s "$1" | ` + e.shell + ` -c "$0"`, escape(e.command), escape(e.stdin)}
}

// starters are commands that run another one, of which a name says more.
var starters = map[string]bool{
	"sudo": true, "nice": true, "ionice": true, "nohup": true, "exec": true, "env": true, "time": true, "sh": true, "bash": true,
	"python": true, "python3": true, "perl": true, "ruby": true, "php": true, "node": true,
}

// preparations are commands that only prepare what follows on the line.
var preparations = map[string]bool{
	"cd": true, "test": true, "[": true, "[[": true, "exit": true, "true": true, "set": true, "export": true, ".": true, "source": true,
	"sleep": true, "umask": true,
}

var (
	commandEnd  = regexp.MustCompile(`&&|\|\||[;|]`)
	outsideName = regexp.MustCompile(`[^a-z0-9]+`)
	extension   = regexp.MustCompile(`\.(sh|bash|py|pl|rb|php|js)$`)
)

// baseName derives a name from a command: the program's, without its directory.
func (e *entry) baseName() string {
	for _, part := range commandEnd.Split(e.command, -1) {
		for word := range strings.FieldsSeq(part) {
			word = strings.Trim(word, `"'(){}`)
			program := path.Base(word)
			if preparations[program] {
				break
			}
			if word == "" || starters[program] || strings.ContainsAny(word[:1], "-0123456789") || strings.Contains(word, "=") {
				continue
			}
			name := extension.ReplaceAllString(strings.ToLower(program), "")
			if name = strings.Trim(outsideName.ReplaceAllString(name, "-"), "-"); name != "" {
				return name
			}
		}
	}
	return "job"
}

// nameEntries gives each entry a name that no other has. Those that would have the same get a hash
// of what they run and when, so that a name stays when other lines come or go.
func (c *crontab) nameEntries() {
	const suffix = len("-4294967295-99")
	count := map[string]int{}
	for i := range c.entries {
		e := &c.entries[i]
		base := e.baseName()
		e.name = strings.Trim(base[:min(len(base), v1.MaxNameLength-suffix)], "-")
		count[e.name]++
	}
	again := map[string]int{}
	for i := range c.entries {
		e := &c.entries[i]
		if count[e.name] == 1 {
			continue
		}
		hash := fnv.New32a()
		_, _ = fmt.Fprintf(hash, "%s %s %s", e.schedule, e.zone, e.command)
		e.name += "-" + rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
		again[e.name]++
		if times := again[e.name]; times > 1 { // the same line
			e.name += fmt.Sprintf("-%d", times)
		}
	}
}
