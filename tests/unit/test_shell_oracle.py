"""The evaluator against bash itself, on scripts written here."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from shell_scripts import SCRIPTS

from examples import examples
from trainrx.shell import read_script

_BASH = shutil.which("bash")
_SCRIPTS = [
    "show a 'b c' \"d $((1+2))\" e\\ f",
    "X='a  b'; show $X \"$X\" x$X",
    "A=(1 '2 3' 4); A+=(5); show \"${A[@]}\" ${A[@]} \"${A[*]}\" ${#A[@]} \"${A[@]:1:2}\"",
    "F=/a/b/c.tar.gz; show ${F##*/} ${F#*/} ${F%.*} ${F%%.*}",
    "F=/a/b/c.tar.gz; show ${F/b/X} ${F//\\//-} ${F: -3} ${F:2:3}",
    "show ${U:-d} ${U-e} ${U:+f} ${U:=g} $U ${U:+h} ${U:-i}",
    'E=; show ${E:-d} x${E-e}x "${E:+f}"',
    "n=7; show $((n/2)) $((-n/2)) $((n%4)) $((n>3&&n<9)) $((n<3||n>9)) $((n==7)) $((1,2))",
    "n=1; ((n+=4)); ((n++)); show $n $((n++)) $n",
    "for x in a b {1..3}; do show $x; done; show $x",
    "f() { local y=$1; shift; show $y \"$@\" $#; }; y=0; f 1 2 '3 4'; show $y",
    "if [ 3 -gt 2 ] && [[ abc == a* ]]; then show yes; else show no; fi",
    "case linux-x in mac*) show a;; linux*|bsd) show b;; *) show c;; esac",
    "set -- p 'q r'; show $1 \"$2\" $# \"$@\" $*; shift; show $1",
    "C='show a b'; $C c; eval \"$C 'd e'\"",
    "show {a,b}{1,2} x{,y}z {3..1} a{b}c '{a,b}'",
    "show \\\n  a \\\n  b # c\nshow d",
    "show a \\\n # gone \\\nshow b",
    "X=1 Y=2; show $X$Y; (X=5; show $X); show $X",
    "x=abc; show ${x^^} ${x^} ${#x}; K=x; show ${!K}",
    "true && show a; false && show c; false || show d; ! false && show e",
    "IFS=, read -ra P <<< 'x,y,z'; show ${#P[@]} ${P[2]}; read a b <<< '1 2 3'; show $a \"$b\"",
    "show $'t\\tn' \"a\\\"b\\$c\" 'it'\\''s' \"\" ''",
    'P="\n  --a 1\n  --b 2\n"; show $P end',
    'show "multi\nline" `echo sub`',
    "if false; then show a; elif true; then show b; fi; { show c; }; show d > /dev/stdout",
    "a=5; b=3; show $((a+3)) $((a>b)); unset a; show ${a:-none}",
    "V=1.2.3; show ${V%%.*} ${V#*.} ${V%.*}; D=/x/y/; show ${D%/}",
    "read -r h t <<< 'p  q r '; show \"$t\"; x=a.b.c; show ${x/./_} ${x//./}",
    'a=(p q); a[1]=r; a[2]=s; a+=(t); unset b; show ${#a[@]} ${a[-1]} "${a[@]:3}" ${b[@]}',
    'IFS=,; s=a,b,,c; show $s; t=(x y); show "${t[*]}"; unset IFS; show $s',
    ("for ((i=0;i<3;i++)); do ((i==1)) && continue; show $i; done; "
    "while ((i>1)); do ((i--)); show $i; done"),
    ("set -- --n 4 x; while [[ $# -gt 0 ]]; do case $1 in --n) n=$2; "
    "shift 2;; *) r=$1; shift;; esac; done; show $n $r"),
    "h() { [[ $1 ]] && return; show no; }; h; h 1",
    "C=(show 'a b'); \"${C[@]}\" c; D='show x \\\n --b'; eval $D; eval \"$D\"",
    "while read -r k v; do show $k-$v; done <<< $'a 1\\nb 2'; read -r z < <(echo q w); show $z",
    'n=$(f() { echo $1; echo $2; }; f 1 2); show "$n" $(if true; then echo y; fi)',
    "show `echo a` `echo b`c",
    "show --j '{\"a\": {\"b\": 1}}' --l '[1, 2]' k=v a.b=c 'x=[a,b]'",
]  # fmt: skip
_NOT_FOLLOWED = [
    "declare -A m=([a]=1 [b c]='x y'); m[d]=z; show ${m[a]} \"${m[b c]}\" ${#m[@]} ${m[q]:-n}",
    'a=(p q); a[4]=r; a+=(s); unset b; show ${!a[@]} ${#a[@]} ${a[-1]} "${a[@]:3}" ${b[@]}',
    "[[ v12.3 =~ ^v([0-9]+)\\.([0-9]+)$ ]] && show ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}",
    'x=a.b.c; show ${x//[ab]/-} ${x/./_} ${x//./} ${x/#*./z} ${x/%.?/w} ${x/"*"/n}',
    ("set -- -a -b 2 --c; while getopts ab: o; do show $o $OPTARG; done; "
    "shift $((OPTIND-1)); show $#"),
    "show $((0x1f)) $((010)) $((2#101)) $((~5)) $((!0)) $((1,2)) $((5&3|8^1))",
    'f() { local -n r=$1; r+=(new); }; g=(old); f g; show "${g[@]}"',
    "mapfile -t l <<< $'a b\\nc'; show ${#l[@]} \"${l[0]}\"",
    "n=7; show $((2**10)) $((n<<2)) $((n==7?1:2)) $((n+++1)) $n",
    "a=(p q); a[4]=r; show ${#a[@]}; m[k]=1; show ${m[0]}; show ${!a[@]}",
    "a=(p q r); f() { show $#; }; f ${!a[@]} x; show ${!a[@]}",
    "declare -i n=1+2; declare -u u=ab; show $n $u",
]  # fmt: skip


_SHOW = """\
show() { for w in "$@"; do printf '%s\\0' "$w"; done; printf '\\1\\0'; }
basename() { local v=${1##*/}; printf '%s\\n' "${v%${2-}}"; }
"""


def by_bash(script: str) -> list[list[str]] | None:
    """Give what the script shows; None when bash refuses it or never comes to an end."""
    try:
        result = subprocess.run(
            ["env", "-i", "PATH=", _BASH or "bash", "--norc", "--noprofile", "-f"],
            input=(_SHOW + script).encode(),
            capture_output=True,
            timeout=5,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if any(refusal in result.stderr for refusal in (b"syntax error", b"bad array", b"unbound")):
        return None
    found: list[list[str]] = [[]]
    for word in result.stdout.decode().split("\0")[:-1]:
        if word == "\1":
            found.append([])
        else:
            found[-1].append(word)
    return found[:-1]


@pytest.mark.skipif(_BASH is None, reason="no bash here")
@pytest.mark.parametrize("script", _SCRIPTS)
def test_commands_and_words_are_those_of_bash(script):
    found = [
        [word.text for word in command.words[1:]]
        for command in read_script(script, "x.sh").commands
        if command.words[0].text == "show"
    ]

    assert found == by_bash(script)


@pytest.mark.skipif(_BASH is None, reason="no bash here")
@pytest.mark.parametrize("script", _NOT_FOLLOWED)
def test_what_is_not_followed_is_unknown_and_no_other_word_is_wrong(script):
    shown = [item for item in read_script(script, "x.sh").commands if item.words[0].text == "show"]

    assert any(word.unknown for command in shown for word in command.words)
    for command, expected in zip(shown, by_bash(script) or [], strict=False):
        if not command.perhaps and len(command.words) == len(expected) + 1:
            for word, text in zip(command.words[1:], expected, strict=True):
                assert word.unknown or word.text == text


@pytest.mark.skipif(_BASH is None, reason="no bash here")
@examples(50)
@given(SCRIPTS)
def test_a_random_script_shows_what_it_shows_in_bash_unless_it_says_what_is_unknown(text):
    script = read_script(text, "x.sh")
    shown = [command for command in script.commands if command.words[0].text == "show"]
    unsure = any(command.perhaps for command in shown) or any(
        word.unknown for command in shown for word in command.words
    )

    expected = by_bash(text)

    assert (
        unsure
        or script.unread
        or expected is None
        or [[word.text for word in command.words[1:]] for command in shown] == expected
    )
