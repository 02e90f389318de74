"""What of rows is said to be lost, given what a framework made of them."""

from __future__ import annotations

from trainrx.dry_run.losses import FileRow, FileRows, compared, odd_values, row_of
from trainrx.dry_run.run import without_hooks
from trainrx.dry_run.texts import bare, leaves

TURNS = ("please tell me about house number {}", "house number {} has a red roof and two doors")


def talk(number, *more):
    texts = [text.format(number) for text in TURNS] + list(more)
    roles = ("user", "assistant") * 4
    pairs = zip(roles, texts, strict=False)
    return {"messages": [{"role": role, "content": text} for role, text in pairs]}


def encoded(row, *, left_out=(), mute=()):
    """Give a sample as a template makes it: the answers are learnt from."""
    turns = [turn for at, turn in enumerate(row["messages"]) if at not in left_out]
    read = "".join(f"<|{turn['role']}|>\n{turn['content']}\n" for turn in turns)
    answers = [turn["content"] for turn in turns if turn["role"] == "assistant"]
    learnt = "".join(text for at, text in enumerate(answers) if at not in mute)
    return {"read": read, "learnt": learnt}


def file(rows, **options):
    held = tuple(FileRow(number, number, row) for number, row in enumerate(rows, 1))
    return FileRows(name="a.jsonl", rows=held, **options)


def kinds(rows, samples, **options):
    return [(loss.kind, loss.rows) for loss in compared(file(rows, **options), samples).losses]


ROWS = [talk(number) for number in range(1, 11)]


def test_nothing_is_lost_where_all_arrives():
    found = compared(file(ROWS), [encoded(row) for row in ROWS])

    assert found.losses == ()
    assert {(use.column, use.read, use.learnt) for use in found.uses} == {
        ("messages[user].content", 10, 0),
        ("messages[assistant].content", 10, 10),
    }


def test_a_row_without_any_text_is_lost():
    samples = [encoded(row) for row in ROWS if row is not ROWS[3]]

    assert kinds(ROWS, samples) == [("row-lost", (4,))]


def test_a_row_that_shares_texts_with_others_is_lost_all_the_same():
    rows = [{**row, "system": "you know all about houses"} for row in ROWS]
    samples = [
        {"read": row["system"] + encoded(row)["read"], "learnt": encoded(row)["learnt"]}
        for row in rows
        if row is not rows[3]
    ]

    assert kinds(rows, samples) == [("row-lost", (4,))]


def test_rows_nobody_asked_for_are_not_lost():
    assert kinds(ROWS, [encoded(row) for row in ROWS[:9]], chosen=True) == []
    assert kinds(ROWS, [encoded(row) for row in ROWS[:4]]) == []


def test_a_turn_that_is_missing_is_lost():
    rows = [*ROWS[:9], talk(10, "and which colour has its door?", "the door of it is green now")]
    samples = [encoded(row) for row in rows[:9]] + [encoded(rows[9], left_out=(2, 3))]

    assert kinds(rows, samples) == [("text-lost", (10,)), ("text-lost", (10,))]


def test_an_answer_that_is_masked_is_not_learnt():
    samples = [encoded(row) for row in ROWS[:9]] + [{**encoded(ROWS[9]), "learnt": "<|im_end|>"}]

    assert kinds(ROWS, samples) == [("not-learnt", (10,))]


def test_a_sample_without_labels_is_said_so():
    samples = [encoded(row) for row in ROWS[:9]] + [{**encoded(ROWS[9]), "learnt": ""}]

    assert ("nothing-learnt", (10,)) in kinds(ROWS, samples)


def test_of_a_talk_the_last_answer_alone_may_be_learnt():
    rows = [*ROWS[:9], talk(10, "and which colour has its door?", "the door of it is green now")]
    samples = [encoded(row) for row in rows[:9]] + [encoded(rows[9], mute=(0,))]

    assert kinds(rows, samples) == []


def test_a_last_answer_that_is_masked_is_told():
    more = ("and which colour has its door?", "the door of house {} is green now")
    rows = [talk(n, more[0], more[1].format(n)) for n in range(1, 11)]
    samples = [encoded(row, mute=(1,)) for row in rows]

    assert kinds(rows, samples) == [("not-learnt", (1, 2, 3, 4, 5))]


def test_of_several_answers_one_is_enough():
    rows = [
        {"question": f"what is house number {n} made of?", "answers": [f"house {n}: bricks, wood"]}
        for n in range(1, 11)
    ]
    rows[4]["answers"].append("some say that it was built of paper")
    samples = [{"read": row["question"] + row["answers"][0], "learnt": None} for row in rows]

    assert kinds(rows, samples) == []


def test_rows_that_are_joined_are_not_counted():
    whole = "".join(encoded(row)["read"] for row in ROWS[:8])
    found = compared(file(ROWS), [{"read": whole, "learnt": whole}])

    assert found.packed
    assert found.losses == ()


def test_a_question_within_another_one_is_not_joined_to_it():
    rows = [*ROWS, talk(11)]
    rows[10]["messages"][0]["content"] = f"for a child: {TURNS[0].format(3)}"
    found = compared(file(rows), [{**encoded(row), "learnt": ""} for row in rows])

    assert not found.packed
    assert [(loss.kind, loss.count) for loss in found.losses] == [("nothing-learnt", 11)]


def test_a_column_of_the_format_of_which_nothing_arrives_is_lost():
    rows = [{**row, "system": "you know all about houses"} for row in ROWS]
    samples = [encoded(row) for row in ROWS]

    assert kinds(rows, samples) == []
    assert kinds(rows, samples, columns=frozenset({"system"})) == [("column-lost", (1, 2, 3, 4, 5))]


def test_texts_within_texts_are_found():
    row = {"messages": '[{"role": "user", "content": "what is \\u4f60\\u597d in English"}]'}
    other = {"history": "[['what was the first question?', 'it was about the house']]"}

    assert [leaf.column for leaf in leaves(row)] == ["messages[user].content"]
    assert [leaf.column for leaf in leaves(other)] == ["history[][]", "history[][]"]
    assert bare('{"a": "\\u4f60\\n b"}') == "{a:你b}"


def test_what_is_no_text_of_its_own_is_not_looked_for():
    assert list(leaves({"label": "yes", "id": "12345", "n": 3, "none": None, "x": []})) == []
    assert list(leaves({"text": "<image>"})) == []


def test_depth_and_odd_values_do_no_harm():
    deep: object = "a text that is long enough"
    for _ in range(5000):
        deep = [deep]

    assert list(leaves({"deep": deep, "odd": {1: b"bytes", "role": 3}})) == []
    assert list(leaves({"text": "[" * 100_000})) != []


def test_a_converted_row_is_found_again():
    told = {"_prompt": ROWS[6]["messages"][:1], "_response": ROWS[6]["messages"][1:]}
    found = row_of(told, [file(ROWS)])

    assert found is not None
    assert found[1].number == 7
    assert row_of({"x": "nothing of the file at all"}, [file(ROWS)]) is None


def test_values_of_another_kind_than_in_most_rows_are_odd():
    rows = [{**row, "label": True, "system": "" if n % 2 else "s"} for n, row in enumerate(ROWS)]
    rows[6] = {**rows[6], "label": None}
    rows[8] = {"messages": [{"role": "user", "content": 7}], "system": ""}
    found = [(loss.column, loss.rows, loss.shown) for loss in odd_values(file(rows))]

    assert ("label", (7, 9), "null / bool") in found
    assert ("messages[].content", (9,), "number / text") in found
    assert "system" not in [column for column, _, _ in found]


def test_frames_of_the_hooks_are_no_part_of_the_job():
    text = (
        "Traceback (most recent call last):\n"
        '  File "/a/site-packages/datasets/arrow_dataset.py", line 3, in map\n'
        "    return update(x)\n"
        '  File "/b/child/trainrx_hooks/loading.py", line 61, in called\n'
        "    return function(*args, **options)\n"
        "           ^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        '  File "/a/train.py", line 9, in encode\n'
        "    len(None)\n"
        "TypeError: object of type 'NoneType' has no len()\n"
    )

    assert "trainrx_hooks" not in without_hooks(text)
    assert without_hooks(text).count("File") == 2
    assert without_hooks(text).endswith(text[-90:])
