"""Which arguments a command takes at which releases."""

from __future__ import annotations

import msgspec
import pytest

from trainrx.catalog.catalog import Catalog, catalog
from trainrx.catalog.signature import Signature, releases_taking
from trainrx.knowledge.catalogs import PackageOptions
from trainrx.model.catalog import Contents, Option
from trainrx.model.facts import Origin
from trainrx.model.job import RawArg

RELEASES = ("1.0.0", "1.1.0", "2.0.0", "2.1.0")


def option(name, *spans, defaults=(("1.0.0", None),), commands=("train",), **more):
    return Option(
        name=name,
        commands=commands,
        spans=spans or (("1.0.0", None),),
        types=more.pop("types", (("1.0.0", "int"),)),
        defaults=defaults,
        **more,
    )


def small(*options):
    contents = Contents(package="small", releases=RELEASES, commands={"train": (("1.0.0", None),)})
    return Catalog(contents, PackageOptions("small", b"\n".join(map(msgspec.json.encode, options))))


@pytest.mark.parametrize(
    ("text", "releases"),
    [
        ("1.1.0", ["1.1.0"]),
        ("==1.1.0", ["1.1.0"]),
        ("1.1.0+cu124", ["1.1.0"]),
        ("1.x", ["1.0.0", "1.1.0"]),
        ("1", ["1.0.0", "1.1.0"]),
        ("2.1", ["2.1.0"]),
        (">=1.1,<2.1", ["1.1.0", "2.0.0"]),
        ("2.1.0.dev0", ["2.0.0"]),
        ("9.0.0", ["2.1.0"]),
        ("1.0.7", ["1.0.0"]),
        (None, list(RELEASES)),
        ("", list(RELEASES)),
        ("main", list(RELEASES)),
        ("v" * 500, list(RELEASES)),
    ],
)
def test_a_version_text_means_the_releases_it_may_be(text, releases):
    known = small()

    bits = known.of(text)

    assert [release for i, release in enumerate(RELEASES) if bits >> i & 1] == releases


@pytest.mark.parametrize(
    ("releases", "range_"),
    [
        (["1.1.0"], "==1.1.0"),
        (["1.0.0", "1.1.0"], "<2.0.0"),
        (["1.1.0", "2.0.0"], ">=1.1.0,<2.1.0"),
        (["2.0.0", "2.1.0"], ">=2.0.0"),
        (RELEASES, ""),
    ],
)
def test_releases_are_described_as_a_range(releases, range_):
    bits = sum(1 << RELEASES.index(release) for release in releases)

    assert small().describe(bits) == range_
    assert small().of(range_) == bits


def test_a_default_is_settled_only_where_all_releases_agree():
    known = small(option("rank", defaults=(("1.0.0", 8), ("2.0.0", 16))))
    (rank,) = known.find("rank", "train")

    both = known.known(rank, known.all)
    old = known.known(rank, known.of("1.x"))

    assert (both.settled, both.default) == (False, None)
    assert (old.settled, old.default) == (True, 8)


def test_a_default_computed_at_start_is_open():
    known = small(option("workers", defaults=(("1.0.0", {"expr": "os.cpu_count()"}),)))
    (workers,) = known.find("workers")

    assert not known.known(workers, known.all).settled


def test_true_and_one_are_different_defaults():
    known = small(option("flag", defaults=(("1.0.0", True), ("2.0.0", 1))))
    (flag,) = known.find("flag")

    assert not known.known(flag, known.all).settled


def test_dashes_and_aliases_find_the_same_option():
    known = small(option("max_len", aliases=("seq-len",)))

    assert known.find("--max-len") == known.find("seq_len") == known.find("max_len")


def test_an_option_that_came_back_is_missing_in_between():
    known = small(option("x", ("1.0.0", "1.1.0"), ("2.1.0", None)))
    (x,) = known.find("x")

    assert [i for i in range(4) if known.bits(x) >> i & 1] == [0, 3]


def names(framework, command, version, **versions):
    taken = Signature(framework, command, catalog(framework).of(version), versions)
    return {known.name for known in taken}


@pytest.mark.parametrize(
    ("version", "there", "gone"),
    [
        ("2.6.1", "sft_type", "train_type"),
        ("3.2.1", "train_type", "sft_type"),
        ("4.6.0", "tuner_type", "train_type"),
    ],
)
def test_a_command_takes_the_names_of_its_release(version, there, gone):
    found = names("ms-swift", "sft", version)

    assert there in found
    assert gone not in found


def test_inherited_arguments_follow_the_package_they_come_from():
    old = names("ms-swift", "sft", "4.6.0", transformers="4.57.6")
    new = names("ms-swift", "sft", "4.6.0", transformers="5.23.0")

    assert "num_train_epochs" in old & new
    assert "overwrite_output_dir" in old - new


def test_without_a_version_at_hand_inheritance_is_that_of_the_time():
    assert "evaluation_strategy" in names("ms-swift", "sft", "3.0.0")


def raw(name):
    return RawArg(name=name, values=("1",), origin=Origin(source="run.sh"))


@pytest.mark.parametrize(
    ("given", "range_"),
    [
        (["train_type"], ">=3.0.0,<4.1.0"),
        (["train_type", "vllm_mode", "num_infer_workers"], ">=3.5.0,<3.6.0"),
        (["learning_rate", "num_train_epochs"], ""),
        (["no_such_argument"], ""),
        # one name of another release among many: the others tell
        (["sft_type", "train_type", "vllm_mode"], ">=3.5.0,<4.1.0"),
    ],
)
def test_the_names_in_use_tell_the_release(given, range_):
    bits = releases_taking([raw(name) for name in given], "ms-swift", "rlhf")

    life = catalog("ms-swift").has_command("rlhf")
    told = catalog("ms-swift").describe(bits) if bits != life else ""
    assert told == range_


def test_an_unknown_package_knows_nothing_and_says_nothing():
    taken = Signature("no-such-package", "train")

    assert len(taken) == 0
    assert taken.get("lr") is None
    assert catalog("no-such-package").of("1.0") == 0
