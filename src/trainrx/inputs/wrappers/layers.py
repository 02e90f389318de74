r"""The wrappings a log may bear, one table: what stands before a line, and when that is one.

A prefix that nothing else prints counts wherever it stands. One that a program may print itself
(a stamp, a name, a number) counts only where nearly all lines bear it and something proves that
it was put there afterwards.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from trainrx.inputs.wrappers.records import LogRecord, record_of

Matches = Sequence[re.Match[bytes]]

SAMPLE = 240
"""Lines of a piece of a log by which its wrapping is told."""
LEAST = 3
DEEPEST = 5
"""Wrappings within each other: CI around compose around a launcher's labels is three."""
MOST_HOSTS = 64
OFTEN = 4
"""Lines a name stands before, on average, if it is that of a source."""

_ISO = rb"(?P<time>20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?:Z|[+-]\d\d:?\d\d)"
_GAP = rb"(?: |(?=\r|\Z))"
_SYSLOG = (
    rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?"
)
_NAME = rb"[A-Za-z0-9_][\w.-]{0,120}"
_FINE = re.compile(rb"[^\n]{0,80}?:\d\d\.\d{6,9}(?:Z|[+-]\d\d:?\d\d)")
_PRINTED = re.compile(
    rb"\s*(?:File \"[^\"\n]{1,300}\", line \d|Traceback \(most recent|$)|\s{4,}\S|\r"
    rb"|\s*(?:[^|%:\n]{1,80}: *)?\d{1,3}%\|"
)
"""What no program puts a stamp in front of: frames of a traceback, blank lines, bars."""
_HOST = re.compile(rb"(?=[\w.-]*[\d.-])(?!\w*(?:Error|Exception|Warning)\b)|localhost$")
_NO_HOST = re.compile(rb"(?:GPU|(?i:cuda|rank|node_rank|step|epoch|iter|batch|layer))\W?\d*$")


def _anything(_found: Matches) -> bool:
    return True


def _fine(found: Matches) -> bool:
    """Tell whether stamps are finer than programs print them (GitHub 7 digits, GitLab 6)."""
    return sum(1 for one in found if _FINE.match(one[0])) * 2 >= len(found)


def _stamped_afterwards(found: Matches) -> bool:
    return any(_PRINTED.match(one.string, one.end()) for one in found)


def _stamped(found: Matches) -> bool:
    return _fine(found) or _stamped_afterwards(found)


def _few_names(found: Matches) -> bool:
    names = Counter(one["host"] for one in found)
    return len(names) <= MOST_HOSTS and len(names) * OFTEN <= max(len(found), OFTEN)


def _hosts(found: Matches) -> bool:
    names = {one["host"] for one in found}
    return _few_names(found) and all(_HOST.match(n) and not _NO_HOST.match(n) for n in names)


def _columns(found: Matches) -> bool:
    """Tell whether a bar stands in one column, as where all names are padded alike."""
    return _few_names(found) and len({one["bar"] and one.start("bar") for one in found}) == 1


def _pods(found: Matches) -> bool:
    names = {one["host"] for one in found}
    return _few_names(found) and all(b"-" in name for name in names)


def _labels(found: Matches) -> bool:
    """Tell labels of ranks from the numbers of a list or of lines, which count up."""
    numbers = [int(one["rank"]) for one in found]
    return len(set(numbers)) * 2 <= len(numbers)


class Layer(NamedTuple):
    """A kind of wrapping.

    Attributes:
        name: what puts it there.
        text: what stands before each line, a regex; groups `time`, `host`, `rank`, `part` (P: the
            line goes on in the next), `more` (the line goes on from the one before).
        source: where the form is documented.
        share: of the lines between the first and the last that bear it, how many must.
        least: how many must in all.
        proof: what else must hold of the lines that bear it.
        record: reads a line that is a record as a whole.
    """

    name: str
    text: bytes
    source: str
    share: float = 0.02
    least: int = LEAST
    proof: Callable[[Matches], bool] = _anything
    record: Callable[[bytes], LogRecord | None] | None = None

    @property
    def prefix(self) -> re.Pattern[bytes]:
        """Give the regex, compiled: most logs bear none of them."""
        return _compiled(self.text)


@cache
def _compiled(text: bytes) -> re.Pattern[bytes]:
    return re.compile(text)


@cache
def any_of(layers: tuple[Layer, ...]) -> re.Pattern[bytes]:
    """Give a regex for what any of some wrappings puts before a line; without groups."""
    return _compiled(b"|".join(re.sub(rb"\?P<\w+>", b"?:", one.text) for one in layers))


LAYERS: tuple[Layer, ...] = (
    Layer(
        "json",
        rb"\s{0,8}\{\s?\"",
        "https://docs.docker.com/engine/logging/drivers/json-file/",
        record=record_of,
    ),
    Layer(
        "cri",
        _ISO + rb" std(?:out|err) (?P<part>[FP])" + _GAP,
        "https://grafana.com/docs/loki/latest/send-data/promtail/stages/cri/",
    ),
    Layer(
        "gh run view",
        rb"[^\t\n]{1,160}\t[^\t\n]{1,160}\t(?:\xef\xbb\xbf)?" + _ISO + _GAP,
        "https://cli.github.com/manual/gh_run_view",
        share=0.5,
    ),
    Layer(
        "gitlab",
        _ISO + rb" \d\d[OE](?:(?P<more>\+)| ?)",
        "https://docs.gitlab.com/ci/jobs/job_logs/",
    ),
    Layer(
        "fluentd",
        (
            rb"(?P<time>20\d\d-\d\d-\d\d[T ][\d:.]{8,18}) ?[\dZ:+-]{0,6}[\t ]"
            rb"[A-Za-z][\w.*/-]{0,200}:?[\t ](?=\{\")"
        ),
        "https://docs.fluentd.org/formatter/out_file",
    ),
    Layer(
        "loki",
        (
            _ISO + rb" \{(?:\}|(?=[A-Za-z_]\w{0,80}=\")"
            rb"(?:[^}\n]{0,2000}?\bpod=\"(?P<host>[^\"\n]{1,253})\")?[^}\n]{0,2000}\}) ?"
        ),
        "https://grafana.com/docs/loki/latest/query/logcli/",
    ),
    Layer(
        "journald",
        (
            rb"(?:" + _SYSLOG + rb"|" + _ISO + rb"|\[ {0,8}\d{1,9}\.\d{6}\]|\d{10}\.\d{6}) "
            rb"(?P<host>(?:[\w.-]{1,80} )?[\w.@/-]{1,80}\[\d{1,9}\]): ?"
        ),
        "https://manpages.debian.org/stretch/systemd/journalctl.1",
    ),
    Layer(
        "aws logs tail",
        _ISO + rb" (?P<host>[\w.$\[\]-]{1,200}(?:/[\w.$\[\]-]{1,200})+) ",
        "https://docs.aws.amazon.com/cli/latest/reference/logs/tail.html",
        share=0.8,
        proof=_few_names,
    ),
    Layer(
        "ci stamps",
        rb"(?:\xef\xbb\xbf)?" + _ISO + _GAP,
        "https://github.com/actions/runner/blob/main/src/Runner.Common/Logging.cs",
        share=0.9,
        proof=_stamped,
    ),
    Layer(
        "kubectl --prefix",
        (
            rb"\[pod/(?P<host>[\w.-]{1,253})/[\w.-]{1,80}\](?: |(?=\r|\Z))(?:"
            + _ISO
            + rb"(?: |(?=\r|\Z)))?"
        ),
        "https://kubernetes.io/docs/reference/kubectl/generated/kubectl_logs/",
    ),
    Layer(
        "supervisor",
        rb"(?P<host>" + _NAME + rb") \| std(?:out|err) \| ?",
        "https://github.com/coderanger/supervisor-stdout/blob/master/supervisor_stdout.py",
        share=0.3,
    ),
    Layer(
        "compose",
        rb"(?P<host>" + _NAME + rb")(?:@[\w.-]{1,80})? {0,60}(?P<bar>\|)" + _GAP,
        "https://docs.docker.com/reference/cli/docker/compose/logs/",
        share=0.5,
        proof=_columns,
    ),
    Layer(
        "stern",
        (
            rb"(?:[a-z0-9-]{1,63} )??(?P<host>[a-z0-9][a-z0-9.-]{2,200}[a-z0-9]) "
            rb"[a-z0-9][a-z0-9-]{0,62} (?:\xe2\x94\x82 ?)?"
        ),
        "https://github.com/stern/stern",
        share=0.8,
        least=5,
        proof=_pods,
    ),
    Layer(
        "skypilot",
        (rb"\((?P<host>[\w.-]{1,80}(?:, rank=\d{1,5})?, pid=\d{1,10}(?:, ip=[\w.:]{2,45})?)\) ?"),
        "https://docs.skypilot.co/en/latest/running-jobs/distributed-jobs.html",
    ),
    Layer(
        "mpirun",
        (
            rb"\[(?:\d{1,9},|\d{1,9},mpirank:|[\w.-]{1,80}@\d{1,9},)(?P<rank>\d{1,5})(?:,[\w.-]{1,80})?\]"
            rb"<std(?:out|err|diag)>:"
        ),
        "https://manpages.ubuntu.com/manpages/trusty/man1/orterun.1.html",
        least=1,
    ),
    Layer(
        "torchrun --tee",
        rb"\s?\[(?:default|trainer|worker)(?P<rank>\d{1,5})\]:",
        "https://docs.pytorch.org/docs/stable/elastic/run.html",
        least=1,
    ),
    Layer(
        "srun --label",
        rb"\s{0,3}(?:(?P<rank>\d{1,5}):(?: |(?=\r|\Z)))",
        "https://manpages.ubuntu.com/manpages/plucky/man1/srun.1.html",
        share=0.5,
        least=5,
        proof=_labels,
    ),
    Layer(
        "mpiexec -prepend-rank",
        rb"\[(?P<rank>\d{1,5})\]:?" + _GAP,
        "https://www.mpich.org/static/docs/latest/www1/mpiexec.html",
        share=0.5,
        least=5,
        proof=_labels,
    ),
    Layer(
        "jenkins",
        rb"(?:\[" + _ISO + rb"\]" + _GAP + rb"|\d\d:\d\d:\d\d(?:  |(?=\r|\Z)))",
        "https://plugins.jenkins.io/timestamper/",
        share=0.8,
        proof=_stamped_afterwards,
    ),
    Layer(
        "ts",
        (
            rb"(?:\[?(?P<time>20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?)"
            rb"(?:Z|[+-]\d\d:?\d\d)?\]?|" + _SYSLOG + rb"|\d\d:\d\d:\d\d(?:\.\d{1,6})?)" + _GAP
        ),
        "https://manpages.debian.org/trixie/moreutils/ts.1.en.html",
        share=0.9,
        least=5,
        proof=_stamped_afterwards,
    ),
    Layer(
        "pdsh",
        rb"(?P<host>" + _NAME + rb"):" + _GAP,
        "https://manpages.debian.org/stable/pdsh/pdsh.1.en.html",
        share=0.6,
        least=5,
        proof=_hosts,
    ),
)


def layers_of(lines: Sequence[bytes]) -> tuple[Layer, ...]:
    """Tell what a log is wrapped in by some of its lines without colours, the outermost first."""
    found: list[Layer] = []
    rest = [line for line in lines if line.strip()]
    while len(found) < DEEPEST and rest:
        layer = next(_fitting(rest), None)
        if layer is None:
            break
        found.append(layer)
        rest = [one for line in rest if (one := taken_off(layer, line)).strip()]
    return tuple(found)


def taken_off(layer: Layer, line: bytes) -> bytes:
    """Give a line without what one wrapping put around it."""
    match = layer.prefix.match(line)
    if match is None:
        return line
    if layer.record is None:
        return line[match.end() :]
    record = layer.record(line)
    return line if record is None else record.text


def _fitting(lines: Sequence[bytes]) -> Iterator[Layer]:
    sure = [*filter(any_of(SURE).match, lines)]
    some = lines[:: max(1, len(lines) // FEW)]
    if not sure and not any(map(any_of(WEAK).match, some)):
        return
    for layer in LAYERS:
        weak = layer.share >= COMMON
        near = lines if weak and any(map(layer.prefix.match, some)) else sure
        found = [one for line in near if (one := layer.prefix.match(line))]
        if layer.record is not None:
            found = [one for one in found if layer.record(one.string) is not None]
        rule = not weak or (len(found) > 0 and _is_rule(layer, found, lines))
        if len(found) >= layer.least and rule and layer.proof(found):
            yield layer


def _is_rule(layer: Layer, found: Matches, lines: Sequence[bytes]) -> bool:
    """Tell whether what may be anybody's own stands before most lines, and not in an episode."""
    first, last = (one.string for one in (found[0], found[-1]))
    span = len(lines) - lines.index(first) - lines[::-1].index(last)
    return len(found) >= layer.share * span and 2 * span >= layer.share * len(lines)


FEW = 16
"""Lines, from all over a log, of which one at least bears what most do."""
COMMON = 0.3
WEAK = tuple(layer for layer in LAYERS if layer.share >= COMMON)
SURE = tuple(layer for layer in LAYERS if layer.share < COMMON)
