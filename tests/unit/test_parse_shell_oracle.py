"""The evaluator against bash itself, on scripts written here."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from trainrx.parse.shell import read_script

_BASH = shutil.which("bash")
_SCRIPTS = [
    "show a 'b c' \"d $((1+2))\" e\\ f",
    "X='a  b'; show $X \"$X\" x$X",
    "A=(1 '2 3' 4); A+=(5); show \"${A[@]}\" ${A[@]} \"${A[*]}\" ${#A[@]} \"${A[@]:1:2}\"",
    "F=/a/b/c.tar.gz; show ${F##*/} ${F#*/} ${F%.*} ${F%%.*}",
    "F=/a/b/c.tar.gz; show ${F/b/X} ${F//\\//-} ${F: -3} ${F:2:3}",
    "show ${U:-d} ${U-e} ${U:+f} ${U:=g} $U ${U:+h} ${U:-i}",
    'E=; show ${E:-d} x${E-e}x "${E:+f}"',
    "n=7; show $((n/2)) $((-n/2)) $((n%4)) $((2**10)) $((n<<2)) $((n>3&&n<9)) $((n==7?1:2))",
    "show $((0x1f)) $((010)) $((2#101)) $((~5)) $((!0)) $((1,2)) $((5&3|8^1))",
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
    "a=5; b=3; show $((a+3)) $((a>b?a:0)); unset a; show ${a:-none}",
    "V=1.2.3; show ${V%%.*} ${V#*.} ${V%.*}; D=/x/y/; show ${D%/}",
    "show --j '{\"a\": {\"b\": 1}}' --l '[1, 2]' k=v a.b=c 'x=[a,b]'",
]  # fmt: skip


def by_bash(script: str) -> list[list[str]]:
    program = (
        "show() { for w in \"$@\"; do printf '%s\\0' \"$w\"; done; printf '\\1\\0'; }\n" + script
    )
    result = subprocess.run(
        ["env", "-i", _BASH or "bash", "--norc", "--noprofile", "-f"],
        input=program.encode(),
        capture_output=True,
        timeout=10,
        check=True,
    )
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
