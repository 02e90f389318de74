"""Random scripts whose commands bash itself can tell: builtins only, and `show` for a program."""

from __future__ import annotations

from hypothesis import strategies as st

_NAMES = st.sampled_from(["x", "y", "z"])
_ARRAYS = st.sampled_from(["a", "b"])
_PLAIN = st.sampled_from(
    ["p", "q7", "--lr", "1e-4", "/m/n.tar.gz", "k=v", "a,b,c", "0", "12", "7", "-3", "A-b_C", "x:y"]
)
_SPACED = st.sampled_from(["p q", " p", "a  b", "", "*", "1 2 3", "it;s", "a|b", "#c", "{a,b}"])
_PATTERNS = st.sampled_from(["*", "?", "/*", "*/", "[a-m]", "*.", ".*", "p", "-", "[!0-9]", "*,"])


def _text(*parts: str | st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    given = [st.just(part) if isinstance(part, str) else part for part in parts]
    return st.tuples(*given).map("".join)


_NUMBER = st.integers(0, 40).map(str)
_ATOM = st.one_of(_NUMBER, _text("n"), _text("$n"), _text("${#a[@]}"), _text("m"))
_SUM = st.recursive(
    _ATOM,
    lambda inner: st.one_of(
        _text(
            inner,
            st.sampled_from([" + ", "-", " * ", "<<", " < ", ">=", "==", "&&", "||", "&", "|"]),
            inner,
        ),
        _text("(", inner, ")"),
        _text(inner, st.sampled_from([" / ", "%"]), st.sampled_from(["1", "3", "7"])),
        _text("(", inner, " ? ", inner, " : ", inner, ")"),
        _text(st.sampled_from(["-", "!", "~"]), "(", inner, ")"),
    ),
    max_leaves=4,
)

_OPERATION = st.one_of(
    _text(st.sampled_from([":-", "-", ":+", "+"]), _PLAIN),
    _text(st.sampled_from(["#", "##", "%", "%%"]), _PATTERNS),
    _text(st.sampled_from(["/", "//", "/#", "/%"]), _PATTERNS, "/", st.sampled_from(["", "R"])),
    st.sampled_from(["^", "^^", ",", ",,", ":1", ":1:2", ": -2", ":0:3", ":-"]),
)
_REFERENCE = st.one_of(
    _text("${", _NAMES, "}"),
    _text("${", _NAMES, _OPERATION, "}"),
    _text("${#", _NAMES, "}"),
    _text("${", _ARRAYS, "[", st.sampled_from(["0", "1", "n", "$n", "-1", "n+1"]), "]}"),
    _text("${", _ARRAYS, st.sampled_from(["[@]", "[*]", "[@]:1", "[@]:0:2", "[*]:1"]), "}"),
    _text("${", _ARRAYS, "[@]", st.sampled_from(["#?", "%?", "/a/R", "^^", "//[a-m]/"]), "}"),
    _text("${#", _ARRAYS, "[@]}"),
    _text("${!", _ARRAYS, "[@]}"),
    _text("${m[", st.sampled_from(["k", "j", "$x"]), "]:-none}"),
    _text("$((", _SUM, "))"),
    st.sampled_from(["$@", "$*", "$#", "$1", "${2:-none}", "${@:2}", "$(echo a b)", "${!r}"]),
    st.sampled_from(["$(basename /a/b.sh .sh)", "$(printf '%s-' 1 2)", "$(f3 z)", "`echo t`"]),
)
_PIECE = st.one_of(
    _PLAIN,
    _REFERENCE,
    _text('"', st.one_of(_PLAIN, _SPACED), _REFERENCE, '"'),
    _text('"', _REFERENCE, st.one_of(_PLAIN, _SPACED), '"'),
    _text("'", _SPACED, "'"),
    st.sampled_from(["\\ ", "\\$", "\\\\", '"\\$x"', '"\\\\"', "$'a\\tb'", "x{1,2}y", "{3..1}"]),
    st.sampled_from(["k\\\nj", '"a\\\nb"', "''", '""', "$'it\\'s'"]),
)
_WORD = st.lists(_PIECE, min_size=1, max_size=3).map("".join)
_VALUE = st.one_of(_PIECE, _WORD)
_WORDS = st.lists(_WORD, min_size=1, max_size=4).map(" ".join)

_TEST = st.one_of(
    _text("[ ", '"', _REFERENCE, '"', st.sampled_from([" = ", " != "]), _PLAIN, " ]"),
    _text("[[ ", _REFERENCE, st.sampled_from([" == ", " != "]), _PATTERNS, " ]]"),
    _text("[[ ", '"', _REFERENCE, '"', " == ", '"', _PLAIN, '"', " ]]"),
    _text("[[ ", st.sampled_from(["-z ", "-n "]), '"', _REFERENCE, '"', " ]]"),
    _text(
        "[[ ",
        st.sampled_from(["$x", "$y", "p12", "$n"]),
        " =~ ",
        st.sampled_from(
            ["^p", "[0-9]+", "^([a-z]+)([0-9]+)$", "/", "^$", "q7$", "[a-c]b?", "(e|-)"]
        ),
        " ]]",
    ),
    _text("((", _SUM, "))"),
    _text("[ $n ", st.sampled_from(["-eq", "-lt", "-ge", "-ne"]), " ", _NUMBER, " ]"),
    st.sampled_from(
        ["true", "false", "! true", "! false", "[ -n '' ]", "f2 0", "f2 1", "[ $# -gt 1 ]"]
    ),
)
_TESTS = st.one_of(
    _TEST,
    _text("! ", _TEST),
    _text(_TEST, st.sampled_from([" && ", " || "]), _TEST),
)

_SIMPLE = st.one_of(
    _text("show ", _WORDS),
    _text("show ", _WORDS),
    _text("show ", _WORD, " \\\n  ", _WORDS),
    _text(_NAMES, st.sampled_from(["=", "+="]), _VALUE),
    _text("export ", _NAMES, "=", '"', _REFERENCE, '"'),
    _text("n=$((", _SUM, "))"),
    _text("((", st.sampled_from(["n++", "++n", "n+=2", "m=n*2", "n--", "n = 3, m = 4"]), "))"),
    _text(_ARRAYS, st.sampled_from(["=(", "+=("]), st.lists(_WORD, max_size=3).map(" ".join), ")"),
    _text(
        _ARRAYS, "[", st.sampled_from(["0", "1", "3", "n"]), st.sampled_from(["]=", "]+="]), _PIECE
    ),
    _text("m[", st.sampled_from(["k", "j", "$x"]), "]=", _PIECE),
    _text("unset ", st.one_of(_NAMES, _ARRAYS)),
    _text("set -- ", _WORDS),
    st.sampled_from(["shift", "shift 2", "r=x", "r=y", "unset IFS"]),
    _text("read -r x y <<< ", '"', _REFERENCE, '"'),
    _text("IFS=", st.sampled_from([",", ":", "-"]), " read -ra a <<< ", '"', _REFERENCE, '"'),
    _text("mapfile -t b <<< ", '"', _REFERENCE, '"'),
    _text('eval "show ', st.one_of(_PLAIN, _text("\\$", _NAMES)), '"'),
    _text("eval ", _NAMES, "=", _PLAIN),
    _text("f1 ", _WORDS),
    _text("x=$(f3 ", _WORDS, ")"),
    _text(_NAMES, "=", _PLAIN, " show ", _REFERENCE),
    _text("{ read -r x; read -r y; } <<E\n", _PLAIN, " ", _REFERENCE, "\n$n\nE"),
)
_HEAD = """\
x=p; y='a,b c'; z=; OPTARG=; n=3; m=(1); unset m
declare -A m=([k]=v [j]='w w'); a=(1 'b c' /d/e.f); b=(); r=x
f1() { local y=$1 t="$#"; shift; show f1 "$y" "$@" $t; x=$y; }
f2() { return $1; }
f3() { echo "<$1>" $#; }
set -- one 'two 2' three
"""


def _block(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, min_size=1, max_size=3).map("\n".join)
    # Loops within a loop that counts would count its counter.
    plain = st.lists(_SIMPLE, min_size=1, max_size=3).map("\n".join)
    leave = st.sampled_from(["break", "continue", ":"])
    arguments = 'while [[ $# -gt 0 ]]; do case "$1" in one) x=$2; shift 2 || break;; '
    options = st.sampled_from(["-a -b 1 x", "-ab2", "-b", "x -a"])
    rounds = st.sampled_from(["2", "n%4", "${#a[@]}%4"])
    return st.one_of(
        _text("if ", _TESTS, "; then\n", body, "\nelse\n", body, "\nfi"),
        _text("if ", _TESTS, "; then\n", body, "\nelif ", _TESTS, "; then\n", body, "\nfi"),
        _text(
            "case ",
            _VALUE,
            " in ",
            _PATTERNS,
            ") ",
            body,
            ";; p*|",
            _PLAIN,
            ")\n",
            body,
            "\n;; esac",
        ),
        _text("for z in ", _WORDS, "; do\n", body, "\ndone"),
        _text("for z in ", _WORDS, "; do\n", _TEST, " && ", leave, "\n", body, "\ndone"),
        _text('for z in "${a[@]}"; do ', body, "\ndone"),
        _text("for ((i=0; i<", rounds, "; i++)); do show $i\n", plain, "\ndone"),
        _text("i=0; while ((i<2)); do ((i++)); ", _TEST, " && ", leave, "\n", plain, "\ndone"),
        _text("g() {\n", _TEST, " && return\n", body, "\n}; g ", _WORDS),
        _text("( ", body, "\n)"),
        _text("{ ", body, "\n}"),
        _text(_TESTS, " && { ", body, "\n}"),
        _text(_TESTS, " || { ", body, "\n}"),
        _text(arguments, st.sampled_from(["t*) show $1; shift;;", ""]), " *) shift;; esac; done"),
        _text(
            "OPTIND=1; while getopts 'ab:' o ",
            options,
            " 2>/dev/null; do show $o $OPTARG; done",
        ),
        _text("declare -n ref=", _ARRAYS, "; ref+=(", _WORD, "); unset -n ref"),
    )


_STATEMENT = st.recursive(_SIMPLE, _block, max_leaves=5)
SCRIPTS = st.lists(_STATEMENT, min_size=1, max_size=6).map(
    lambda found: _HEAD + "\n".join(found) + '\nshow end $x "$y" "${a[@]}" $n "$*"\n'
)
