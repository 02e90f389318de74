"""A stand-in of `datasets`: as much of it as a job touches before it trains."""

import json
from pathlib import Path


class Dataset:
    def __init__(self, rows):
        self.rows = list(rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return self.rows[at]

    @property
    def column_names(self):
        return list(self.rows[0]) if self.rows else []

    def select(self, indices):
        return Dataset(self.rows[at] for at in indices)

    def map(self, function=None, batched=False, batch_size=4, num_proc=None):
        assert num_proc is None, "several processes in a dry run"
        if not batched:
            return Dataset(function(dict(row)) for row in self.rows)
        made = []
        for at in range(0, len(self.rows), batch_size):
            part = self.rows[at : at + batch_size]
            out = function({name: [row[name] for row in part] for name in part[0]})
            made += [
                dict(zip(out, values, strict=True)) for values in zip(*out.values(), strict=True)
            ]
        return Dataset(made)

    def filter(self, function=None, num_proc=None):
        assert num_proc is None, "several processes in a dry run"
        return Dataset(row for row in self.rows if function(row))


class DatasetDict(dict):
    pass


def load_dataset(path, data_files=None, split=None, num_proc=None):
    assert path == "json"
    assert num_proc is None, "several processes in a dry run"
    names = [data_files] if isinstance(data_files, str) else data_files
    lines = [line for name in names for line in Path(name).read_text("utf-8").splitlines()]
    whole = Dataset(json.loads(line) for line in lines)
    return whole if split else DatasetDict(train=whole)
