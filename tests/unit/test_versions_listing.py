from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from trainrx.versions.listing import canonical_package, in_range, read_versions
from trainrx.versions.ranges import Timeline, is_exact, read_range

# https://pytorch.org/docs: form printed by python -m torch.utils.collect_env
COLLECT_ENV = """\
PyTorch version: 2.5.1+cu124
Is debug build: False
CUDA used to build PyTorch: 12.4
ROCM used to build PyTorch: N/A

OS: Ubuntu 22.04.5 LTS (x86_64)
Libc version: glibc-2.35
Python version: 3.10.12 (main, Nov 20 2023, 15:14:05) [GCC 11.4.0] (64-bit runtime)
CUDA runtime version: 12.4.131
GPU models and configuration:
GPU 0: NVIDIA A100-SXM4-80GB
GPU 1: NVIDIA A100-SXM4-80GB

Nvidia driver version: 550.54.15
Versions of relevant libraries:
[pip3] numpy==1.26.4
[conda] torch                     2.5.1                    pypi_0    pypi
"""
LLAMAFACTORY_ENV = """\
- `llamafactory` version: 0.9.2.dev0
- Platform: Linux-5.15.0-130-generic-x86_64-with-glibc2.35
- Python version: 3.11.11
- PyTorch version: 2.6.0+cu124 (GPU)
- Transformers version: 4.49.0
- GPU type: NVIDIA A800-SXM4-80GB
- GPU number: 8
- GPU memory: 79.33GB
- DeepSpeed version: 0.16.4
"""
DS_REPORT = """\
torch install path ............... ['/opt/conda/lib/python3.10/site-packages/torch']
torch version .................... 2.4.0+cu121
deepspeed info ................... 0.15.4, unknown, unknown
torch cuda version ............... 12.1
nvcc version ..................... 12.1
"""


def texts(text: str) -> dict[str, str]:
    return read_versions(text, "v.txt").texts()


@pytest.mark.parametrize(
    ("line", "name", "version"),
    [
        ("ms-swift==3.2.1", "ms-swift", "3.2.1"),
        ("ms_swift==3.2.1", "ms-swift", "3.2.1"),
        ("ms-swift 3.x", "ms-swift", "3.x"),
        ("ms-swift==3.2", "ms-swift", "3.2"),
        ("swift==2.6.1", "ms-swift", "2.6.1"),
        ("trl==1.0", "trl", "1.0"),
        ("torch                     2.5.1+cu124", "torch", "2.5.1+cu124"),
        ("ms-swift    3.2.1.dev0    /root/ms-swift", "ms-swift", "3.2.1.dev0"),
        ("- `transformers` version: 4.49.0", "transformers", "4.49.0"),
        ("transformers: 4.49.0", "transformers", "4.49.0"),
        ("vllm version 0.7.3", "vllm", "0.7.3"),
        ("numpy  1.26.4  py310h5f9d8c6_0  conda-forge", "numpy", "1.26.4"),
        ("numpy=1.26.4=py310h5f9d8c6_0", "numpy", "1.26.4"),
        ("[pip3] nvidia-nccl-cu12==2.21.5", "nvidia-nccl-cu12", "2.21.5"),
        (
            "flash_attn @ file:///w/flash_attn-2.7.4.post1-cp310-cp310-linux_x86_64.whl",
            "flash-attn",
            "2.7.4.post1",
        ),
        ("Cuda compilation tools, release 12.4, V12.4.131", "cuda-toolkit", "12.4"),
    ],
)
def test_forms_of_a_version_line(line, name, version):
    assert texts(line)[name] == version


@pytest.mark.parametrize(
    "line",
    ["Package    Version", "------- -----", "# torch==1.0", "GPU memory: 79.33GB", "8 GPUs", ""],
)
def test_other_lines_name_no_package(line):
    assert texts(line) == {}


def test_collect_env():
    found = read_versions(COLLECT_ENV, "env.txt")

    assert found.texts() == {
        "torch": "2.5.1+cu124",
        "cuda": "12.4",
        "glibc": "2.35",
        "python": "3.10.12",
        "cuda-toolkit": "12.4.131",
        "driver": "550.54.15",
        "numpy": "1.26.4",
    }
    assert [name for name, _ in found.gpus] == ["NVIDIA A100-SXM4-80GB"]
    assert found.gpu_count == 2


def test_llamafactory_env():
    found = read_versions(LLAMAFACTORY_ENV, "env.txt")

    assert found.texts() == {
        "llamafactory": "0.9.2.dev0",
        "python": "3.11.11",
        "torch": "2.6.0+cu124",
        "transformers": "4.49.0",
        "deepspeed": "0.16.4",
    }
    assert (found.gpus[0][0], found.gpu_count) == ("NVIDIA A800-SXM4-80GB", 8)


def test_ds_report():
    assert texts(DS_REPORT) == {
        "torch": "2.4.0+cu121",
        "deepspeed": "0.15.4",
        "cuda": "12.1",
        "cuda-toolkit": "12.1",
    }


def test_version_cites_its_line():
    origin = read_versions("a==1\nvllm==0.7.3\n", "v.txt").packages["vllm"].origin

    assert (str(origin), origin.text) == ("v.txt:2", "vllm==0.7.3")


def test_line_without_a_version_is_reported():
    unread = read_versions("liger-kernel==\n", "v.txt").unread

    assert [(u.line, u.text) for u in unread] == [(1, "liger-kernel==")]


@pytest.mark.parametrize(
    ("name", "canonical"),
    [("Flash_Attn", "flash-attn"), ("LLaMA-Factory", "llamafactory"), ("vllm[all]", "vllm")],
)
def test_package_names_are_canonical(name, canonical):
    assert canonical_package(name) == canonical


@given(st.text())
def test_any_text_is_read(text):
    assert all(found.text for found in read_versions(text, "v").packages.values())


@pytest.mark.parametrize(
    ("version", "spec", "answer"),
    [
        ("3.2.1", ">=3.2.1", True),
        ("3.2.1", "<3.2.1", False),
        ("3.2", ">=3.2", True),
        ("3.2", ">=3.2.2", None),
        ("3.2", ">=3.3", False),
        ("3.2", "==3.2.*", True),
        ("3.2", "!=3.2.1", None),
        ("3.2", ">3.2", None),
        ("3.x", "<4", True),
        ("3.x", "<3.0", False),
        ("3.*", ">=3.5", None),
        ("v3.2.1", ">=3.2", True),
        ("==3.2.1", ">=3.2", True),
        ("2.5.1+cu124", ">=2.5,<2.6", True),
        ("2.5.1+cu124", "==2.5.1", True),
        ("0.9.5.dev0", ">=0.9.4", True),
        ("0.9.5.dev0", ">=0.9.5", None),
        ("0.9.5.dev0", ">=0.9.6", False),
        ("3.2.0.post2", ">3.2.0", False),
        ("4.50.0rc1", "<4.50", False),
        (">=3.0,<4.1", ">=3.0", True),
        (">=3.0,<4.1", ">=4.1", False),
        (">=3.0,<4.1", ">=4.0", None),
        ("", ">=3", None),
        ("latest", ">=3", None),
        ("3.2.1", "not a range", None),
        ("9" * 5000, ">=3", None),
    ],
)
def test_range_has_three_answers(version, spec, answer):
    assert in_range(version, spec) is answer


@given(
    st.tuples(*[st.integers(0, 12)] * 3),
    st.tuples(*[st.integers(0, 12)] * 3),
    st.sampled_from([">=", "<", "<=", ">", "==", "!="]),
)
def test_prefix_agrees_with_every_release_it_stands_for(release, bound, sign):
    version, spec = ".".join(map(str, release)), sign + ".".join(map(str, bound))
    prefix = ".".join(map(str, release[:2]))

    answer = in_range(prefix, spec)

    assert in_range(version, spec) is SpecifierSet(spec).contains(version)
    assert answer is None or answer is in_range(version, spec)


@pytest.mark.parametrize(
    ("text", "exact"), [("3.2.1", True), ("3.2", False), ("3.x", False), ("", False)]
)
def test_exact_versions_name_one_release(text, exact):
    assert is_exact(text) is exact


def test_timeline_describes_what_it_was_asked():
    line = Timeline(["<3.0", ">=3.0,<4.1", ">=4.0"])

    assert line.describe(line.within(">=3.0,<4.1")) == ">=3.0,<4.1"
    assert line.describe(line.of("3.7.2")) == ">=3.0,<4.0"
    assert line.describe(line.of(None)) == ""
    assert line.majors(line.of("2.6.1")) == {2}
    assert line.majors(line.within(">=3.0")) == {3, 4}


@pytest.mark.parametrize("text", ["nonsense", ">=", "=>3", "3.0", ">=3.*", ">=1 <2", ">=1" * 200])
def test_what_is_no_range_is_told(text):
    assert read_range(text) is None
