"""Evaluates a script without running anything: which commands would it start, with which words?"""

from __future__ import annotations

from trainrx.model.job import Word
from trainrx.parse.shell import arithmetic, substitute
from trainrx.parse.shell.assignments import assignment
from trainrx.parse.shell.conditions import Conditions, Verdict, both, either
from trainrx.parse.shell.expand import Expander
from trainrx.parse.shell.limits import MAX_DEPTH, MAX_ITERATIONS, TooMuch
from trainrx.parse.shell.parser import Parser
from trainrx.parse.shell.quotes import Lines
from trainrx.parse.shell.record import Place, Record
from trainrx.parse.shell.state import Field, Snapshot, State, Variable
from trainrx.parse.shell.syntax import (
    AndOr,
    Arithmetic,
    Assign,
    Block,
    Case,
    For,
    Function,
    If,
    Loop,
    Node,
    Pipeline,
    Raw,
    Simple,
    Subshell,
    Test,
)
from trainrx.parse.shell.unknown import known
