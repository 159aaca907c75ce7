"""Where the course's tests find a student's functions."""

import solution


def run(name, *arguments):
    return getattr(solution, name)(*arguments)
