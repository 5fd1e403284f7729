"""Runs sections side by side."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from testing import places, records
from testing.counting import Tally, count, excerpt
from testing.inputs import fingerprint
from testing.sections import Section


class StoppedError(Exception):
    """Another section failed while this one ran."""


@dataclass
class Run:
    """What came of the commands of a section."""

    tally: Tally
    #: Seconds of processor time, for building and for running.
    build: float = 0
    run: float = 0


class Suite:
    """Runs sections in their order, several at a time, until one fails."""

    def __init__(self, sections: list[Section], *, skips_unchanged: bool = False) -> None:
        self.waiting = list(sections)
        self.verbose = bool(os.environ.get("V"))
        # Many sections wait more than they compute: two of them keep two cores busy.
        self.jobs = 1 if self.verbose else int(os.environ.get("JOBS", "2"))
        self.skips_unchanged = skips_unchanged
        self.total = Tally()
        self.unchanged: list[str] = []
        self.changed = threading.Condition()
        self.built_in: set[str] = set()
        self.running: set[subprocess.Popen[str]] = set()
        self.stopping = False

    def run(self) -> Tally:
        """Give the counts of all sections that ran to their end."""
        if self.skips_unchanged:
            self.skip_unchanged()
        threads = [threading.Thread(target=self.run_sections) for _ in range(self.jobs)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            self.stop()
            for thread in threads:
                thread.join()
        return self.total

    def skip_unchanged(self) -> None:
        """Leave out the sections whose inputs are as they were when they passed last."""
        for section in list(self.waiting):
            record, now = records.passed_last(section.name), fingerprint(section)
            if record and now and record.fingerprint == now:
                self.waiting.remove(section)
                self.unchanged.append(section.name)
        if self.unchanged:
            print(
                f"\n== not run, since nothing that they depend on has changed: "
                f"{', '.join(self.unchanged)} (FORCE=1 runs them)",
                flush=True,
            )

    def stop(self) -> None:
        """End what runs, and let nothing begin."""
        with self.changed:
            self.stopping = True
            for process in self.running:
                kill(process)
            self.changed.notify_all()

    def run_sections(self) -> None:
        while section := self.next_section():
            try:
                self.run_section(section)
            except StoppedError:
                return
            finally:
                with self.changed:
                    self.built_in.discard(section.builds_in)
                    self.changed.notify_all()

    def next_section(self) -> Section | None:
        """Wait for one that builds where no other does now; None when there are no more."""
        with self.changed:
            while self.waiting and not self.stopping:
                for section in self.waiting:
                    if section.builds_in not in self.built_in:
                        self.waiting.remove(section)
                        self.built_in |= {section.builds_in} - {""}
                        return section
                self.changed.wait()
        return None

    def run_section(self, section: Section) -> None:
        """Run a section, print how it went, and count it: at least one check a command."""
        report = [f"\n== {section.name}: {section.title}"]
        if self.verbose:
            print(report.pop(), flush=True)
        # Of what it is when it begins: a change while it runs is not tested.
        inputs = fingerprint(section)
        begin = time.monotonic()
        done = self.run_commands(section, report)
        took = time.monotonic() - begin
        report.append(
            f"   {done.tally} in {took:.1f} s, with {done.run:.1f} s of processor time"
            + (f" and {done.build:.1f} s for building" if section.build else "")
        )
        with self.changed:
            if self.stopping:
                return
            print("\n".join(report), flush=True)
            self.total += done.tally
        if done.tally.failed:
            self.stop()
        else:
            record = records.Record(inputs, done.tally.passed, took, done.build, done.run)
            records.keep(section.name, record)

    def run_commands(self, section: Section, report: list[str]) -> Run:
        """Run the commands of a section up to the first that fails."""
        done = Run(Tally())
        log = places.LOGS / f"{section.name}.log"
        log.write_text("")
        every = [(True, command) for command in section.build]
        every += [(False, command) for command in section.commands]
        for builds, command in every:
            code, output, seconds = self.execute(command, section)
            done.build += seconds if builds else 0
            done.run += 0 if builds else seconds
            with log.open("a") as file:
                file.write(f"$ {command}\n{output}\n")
            counted = count(output, succeeded=code == 0)
            # What is built is no check, unless it fails.
            done.tally += Tally(0, counted.failed) if builds else counted
            if counted.failed:
                if not self.verbose:
                    report.append(excerpt(output))
                report.append(
                    f"FAILED: {command} ({reason(code, section)}; {log.relative_to(places.ROOT)})"
                )
                break
        return done

    def execute(self, command: str, section: Section) -> tuple[int, str, float]:
        """Run one command in a process group of its own: a hung one goes with its children."""
        process = self.start(command, section)
        timer = threading.Timer(section.limit, kill, [process])
        timer.start()
        output: list[str] = []
        try:
            for line in lines(process):
                output.append(line)
                if self.verbose:
                    print(line, end="", flush=True)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, "".join(output), used.ru_utime + used.ru_stime
        finally:
            timer.cancel()
            with self.changed:
                self.running.discard(process)

    def start(self, command: str, section: Section) -> subprocess.Popen[str]:
        with self.changed:
            if self.stopping:
                raise StoppedError
            process = subprocess.Popen(
                shlex.split(command),
                cwd=places.ROOT,
                env=places.environment() | section.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self.running.add(process)
            return process


def reason(code: int, section: Section) -> str:
    """Say in some words why a command counts as failed."""
    if code == -signal.SIGKILL:
        return f"took more than {section.limit} s"
    return f"exit code {code}" if code else "no test ran"


def kill(process: subprocess.Popen[str]) -> None:
    """End a command and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    if process.stdout is not None:
        yield from process.stdout
