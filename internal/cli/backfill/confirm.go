// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// confirm asks before it runs ticks of which nothing is known, such as those before the creation of
// the CronJob: they may have run. Without a terminal, --yes is required. A program that runs the
// command, such as ui, has asked the user itself.
func (c *command) confirm(ctx context.Context, w *work) error {
	count := 0
	for _, next := range w.wanted {
		if next.state == unknown {
			count++
		}
	}
	switch {
	case c.yes || count == 0 || c.Source == env.Program:
		return nil
	case c.Source != env.Terminal:
		return fmt.Errorf("nothing is known of %d of the ticks: add --yes to run them all the same", count)
	}
	fmt.Fprintf(c.ErrOut, "Nothing is known of %d of them. Run them all the same? [y/N] ", count)
	return awaitYes(ctx, c.In)
}

// awaitYes reads an answer. Any but yes is an error.
func awaitYes(ctx context.Context, from io.Reader) error {
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(from).ReadString('\n') // after an error the line is not a yes
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return &env.ExitError{Code: env.Interrupted, Err: errors.New("interrupted, and nothing was started")}
	case line := <-answer:
		if line == "y" || line == "yes" {
			return nil
		}
	}
	return errors.New("nothing was started")
}
