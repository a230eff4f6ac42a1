"""The stability gate: whether what was measured can be trusted.

Two things are looked at. While a load runs, CPU time that neither the harness nor anything it
started has used (other programs, and what a hypervisor took) counts as foreign; and over the
repetitions of a row the raw baseline, the same work without any proxy, must not wander. Past either
limit no figure of the row is printed.
"""
import os
import statistics
import time

from system import processes

# Of one CPU. A quiet machine stays below 0.03; one other busy program is at least 0.2.
FOREIGN_LIMIT = 0.12
# Third quartile over first of a row's raw figures: what half of them keep within. The largest over
# the smallest would grow with the number of repetitions, and a median does not care for either.
RAW_SPREAD_LIMIT = 1.4
RETRIES = 2  # of one repetition that was disturbed
QUIET_SECONDS = 1.0
QUIET_WAIT_SECONDS = 30


class TooNoisy(Exception):
    pass


FOREIGN = "other programs"  # how every reason begins that the records do not show


def busy_seconds():
    """User, nice, system and stolen time of all CPUs. Interrupt time is left out: the kernel books
    loopback traffic there without saying whose it is."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, _, _, steal = (int(x) for x in file.readline().split()[1:9])
    return (user + nice + system + steal) / processes.TICKS


class Watch:
    """Measures foreign CPU time from construction to `foreign()`."""

    def __init__(self):
        self.own = processes.cpu_seconds(os.getpid())
        self.busy = busy_seconds()
        self.start = time.monotonic()

    def foreign(self):
        """As a share of one CPU; ticks are coarse, so it can be a little below zero."""
        own = processes.cpu_seconds(os.getpid()) - self.own
        busy = busy_seconds() - self.busy
        return (busy - own) / max(time.monotonic() - self.start, 1e-9)


def is_disturbed(foreign):
    return foreign > FOREIGN_LIMIT


def wander(raw):
    """Why a row's raw figures cannot be trusted; empty when they can."""
    raw = [x for x in raw if x]
    if len(raw) < 2:
        return ""
    first, _, third = statistics.quantiles(raw, n=4, method="inclusive")
    if third <= RAW_SPREAD_LIMIT * first:
        return ""
    return (f"the quartiles of the raw baseline are {first:.3g} and {third:.3g} "
            f"(at most {RAW_SPREAD_LIMIT:g}x apart)")


def require_quiet(wait_seconds=QUIET_WAIT_SECONDS):
    """Returns once the machine is quiet; raises when it does not get so."""
    end = time.monotonic() + wait_seconds
    while True:
        watch = Watch()
        time.sleep(QUIET_SECONDS)
        foreign = watch.foreign()
        if not is_disturbed(foreign):
            return
        if time.monotonic() > end:
            raise TooNoisy(f"{FOREIGN} use {foreign:.2f} of a CPU "
                           f"(at most {FOREIGN_LIMIT:g})")


def undisturbed(measure):
    """Calls measure() until nothing foreign disturbs it and returns its record with the foreign
    share; raises when every try was disturbed."""
    worst = []
    for _ in range(1 + RETRIES):
        watch = Watch()
        record = measure()
        foreign = watch.foreign()
        if not is_disturbed(foreign):
            record["foreign_cpu"] = round(foreign, 3)
            return record
        worst.append(foreign)
    raise TooNoisy(f"{FOREIGN} used {min(worst):.2f} of a CPU in the quietest of "
                   f"{len(worst)} tries (at most {FOREIGN_LIMIT:g})")
