#!/usr/bin/env python
"""Django's command line for Dissensus."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output (`… | head`) has seen enough. What is still to be written at the
        # end goes nowhere, and the status is that of a program that the closed pipe ended.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + 13)


if __name__ == "__main__":
    main()
