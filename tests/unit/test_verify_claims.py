"""What entries claim is looked up in catalogs, sources and releases."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from packaging.version import Version

from trainrx.knowledge.load import load, read_folders
from trainrx.knowledge.places import shipped
from trainrx.knowledge.ranking import UNVERIFIED, with_fit
from trainrx.knowledge.verified import digest_of, holding, kind_of, read_verified, unverified
from trainrx.reason.score import logit
from trainrx.render.explain import verified_text
from verify.claims import Claim, claims_of, identifiers
from verify.ends import off
from verify.look import Looker
from verify.names import missing
from verify.reach import edges
from verify.sources import Sources, prints
from verify.table import SEEN, read_seen

FILE = "https://github.com/example/tool/blob/v1.2.0/tool/read.py"
SOURCE = """
def read(rank, name):
    if rank < 0:
        raise ValueError(
            f"The rank {rank} of {name} "
            "is below zero."
        )
    max_rank = 8
"""
WRITTEN = read_folders([shipped()[0]], [shipped()[1]])


@pytest.fixture
def looker(tmp_path: Path) -> Looker:
    (tmp_path / "tool-1.2.0" / "tool").mkdir(parents=True)
    (tmp_path / "tool-1.2.0" / "tool" / "read.py").write_text(SOURCE)
    return Looker(Sources([tmp_path]))


def test_a_message_is_found_in_pieces_and_with_its_placeholders_filled_in() -> None:
    line = "[rank3]: ValueError: The rank -1 of job is below zero."

    assert prints(SOURCE, [line])
    assert not prints(SOURCE, ["ValueError: The rank -1 of job is above eight."])
    assert prints(
        'printf("device %d of %s has " "no peer access", a, b);',
        ["device 3 of h has no peer access"],
    )


def test_a_source_holds_the_names_it_is_said_to_hold(looker: Looker) -> None:
    there = looker.outcome(Claim("source", FILE, texts=("max_rank",)))
    gone = looker.outcome(Claim("source", FILE, texts=("max_rank", "min_rank")))
    nowhere = looker.outcome(Claim("source", FILE.replace("read", "write")))
    elsewhere = looker.outcome(Claim("source", FILE.replace("1.2.0", "9.9.9")))

    assert [one.state for one in (there, gone, nowhere, elsewhere)] == [
        "holds",
        "fails",
        "fails",
        "unseen",
    ]
    assert gone.said == "lacks min_rank"


def test_what_was_seen_is_told_again_without_the_source(looker: Looker) -> None:
    claims = [
        Claim("source", FILE, texts=("max_rank",)),
        Claim("message", FILE, "tool", ("no such line",)),
    ]
    first = [looker.outcome(claim) for claim in claims]

    again = Looker(Sources([]), looker.seen())

    assert [again.outcome(claim) for claim in claims] == first
    assert again.outcome(Claim("source", FILE, texts=("min_rank",))).state == "unseen"


def test_a_name_is_looked_for_within_its_range() -> None:
    assert missing("ms-swift", "sft_type", "<3") == ""
    assert missing("ms-swift", "sft_type", ">=4") == "no release of ms-swift >=4 takes it"
    assert missing("ms-swift", "no_such_thing", "") == "no release of ms-swift takes it"
    assert missing("no-such-package", "sft_type", "") is None


def test_a_range_ends_where_the_package_gained_or_lost_the_name() -> None:
    assert off("transformers", "evaluation_strategy", "<4.51") == ""
    assert off("transformers", "evaluation_strategy", "<4.50") == "it went with 4.51.0"
    assert off("peft", "corda_config", ">=0.15") == ""
    assert off("torch", "device_id", ">=2.5") == "it came with 2.3.0, 2.6.0"
    assert off("transformers", "no_such_thing", "<5") is None
    assert off("no-such-package", "device_id", ">=2") is None


def test_a_fix_is_held_to_the_names_it_is_offered_for() -> None:
    cause = WRITTEN.causes["argument-gone-from-library"]
    ends = {claim.text for claim in claims_of(cause) if claim.kind == "end"}

    assert {"evaluation_strategy", "corda_config"} < ends
    assert not ends & {"packing", "tokenizer"}


def test_the_ends_of_a_range_are_looked_at_from_both_sides() -> None:
    releases = [Version(text) for text in ("0.9", "1.0", "1.1", "1.2rc1", "1.2", "1.3")]

    assert [(str(one.release), one.within) for one in edges(">=1.0,<1.3", releases)] == [
        ("0.9", False),
        ("1.0", True),
        ("1.2", True),
        ("1.3", False),
    ]
    assert [str(one.release) for one in edges(">=1.3", releases)] == ["1.2", "1.3"]
    assert edges(">=2", releases) == ()
    assert [one.within for one in edges(">=1.0,<1.3", releases, whole=True)] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_what_a_source_lacks_is_not_looked_for_in_it() -> None:
    assert identifiers("PyTorch reads max_steps or raises a StepError") == (
        "max_steps",
        "StepError",
    )
    assert identifiers("max_seq_length is gone, max_length takes its place") == ()


def test_nothing_that_entries_claim_is_known_to_be_wrong() -> None:
    looker = Looker(Sources([]), read_seen(SEEN))
    kinds = (WRITTEN.symptoms, WRITTEN.causes, WRITTEN.guards, WRITTEN.levers, WRITTEN.ranges)

    found = [
        (entry.id, looker.outcome(claim))
        for kind in kinds
        for entry in kind.values()
        for claim in claims_of(entry)
    ]

    assert [
        (ident, one.claim.where, one.said) for ident, one in found if one.state == "fails"
    ] == []
    assert sum(one.state == "holds" for _, one in found) > 2000


def test_an_entry_is_verified_for_what_it_claims_and_no_longer_once_that_changes() -> None:
    table = read_verified(shipped()[0])
    cause = next(c for c in WRITTEN.causes.values() if holding(c, table))
    weighed = msgspec.structs.replace(cause, prior=0.123, updated="2030-01-01")
    other = msgspec.structs.replace(cause, explains=(*cause.explains, "cuda-oom"))

    assert holding(weighed, table) == holding(cause, table)
    assert holding(other, table) == ()
    assert unverified([cause, other], table) == {cause.id}
    assert digest_of(cause) != digest_of(other)
    assert kind_of(cause) == "cause"


def test_an_unverified_cause_counts_a_little_less() -> None:
    known = load()
    ident = next(iter(sorted(known.unverified)))
    causes = {ident: known.causes[ident]}

    more = with_fit(causes, known.fitted)[ident]
    less = with_fit(causes, known.fitted, known.unverified)[ident]

    assert logit(more.prior) - logit(less.prior) == pytest.approx(UNVERIFIED)


def test_a_page_says_whether_its_entry_was_verified() -> None:
    table = read_verified(shipped()[0])
    cause = next(c for c in WRITTEN.causes.values() if holding(c, table))

    assert holding(cause, table)[0].on in verified_text(holding(cause, table), "en")
    assert "未核实" in verified_text((), "zh")
