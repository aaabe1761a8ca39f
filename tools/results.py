"""Result files of `weft bench --json` as the scripts of this folder read them: schema 1 and 2, checked, in one shape."""
import dataclasses
import json
import math
import os
import pathlib
import re
import tempfile


TIE = 1.05  # times faster, below which two are called equal: as in bench/harness/result.hpp


class BadFile(Exception):
    """A sentence about a file that is not what it should be."""


@dataclasses.dataclass
class Measurement:
    """One format or peer on one matrix; times are of one product, 0 where there are none."""
    name: str
    peer: bool
    failure: str  # why there are no numbers, else empty
    version: str = ""  # of a peer's library
    chosen: str = ""
    recipe: str = ""  # the format with all its numbers; empty in older files
    correct: bool = True
    repeatable: bool = True  # schema 1 does not tell
    median: float = 0
    low: float = 0
    high: float = 0
    groups: int = 0
    setup: float = 0  # seconds, without moving the matrix to the device; 0: the oldest files do not tell
    partition: float = 0  # seconds of it
    upload: float = 0  # seconds to move the matrix to the device, which are not in set-up
    candidates: list = dataclasses.field(default_factory=list)  # of `auto`: (name, predicted seconds, measured seconds or 0)
    share: float = 0  # of the bandwidth measured in the same run; 0: unknown

    def counts(self):
        return not self.failure and self.correct and self.median > 0


@dataclasses.dataclass
class Case:
    """All formats and peers on one matrix with one type."""
    source: str
    type: str
    ordering: str
    nonzeros: int
    measurements: list

    @property
    def name(self):
        """The source without folders, and its order where that is not the matrix's own."""
        return re.sub(r"[^:]*/", "", self.source) + ("" if self.ordering == "none" else f" {self.ordering}")

    def ours(self):
        return {m.name: m for m in self.measurements if not m.peer}

    def peers(self, prefix=""):
        return {m.name: m for m in self.measurements if m.peer and m.name.startswith(prefix)}

    def fastest_peer(self, prefix=""):
        """None without one that counts."""
        return min((m for m in self.peers(prefix).values() if m.counts()), key=lambda m: m.median, default=None)


@dataclasses.dataclass
class Results:
    path: str
    schema: int
    command: str  # empty: schema 1 does not tell
    machine: dict
    device: str
    bandwidth: float  # bytes a second; 0: unknown
    parameters: dict
    cases: list

    @property
    def file_name(self):
        return pathlib.Path(self.path).name

    @property
    def commit(self):
        commit = str(self.machine.get("commit") or "")
        return "" if commit == "unknown" else commit


class Reader:
    """Takes values out of parsed JSON, and says which one is not what was expected."""

    def __init__(self, path):
        self.path = path

    def fail(self, where, expected):
        raise BadFile(f"{self.path}: {where}, expected {expected}")

    def get(self, parent, name, kind, where, default=None):
        value = parent.get(name, default)
        if value is None and default is not None:
            value = default
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            found = "is missing" if name not in parent else f"is {json.dumps(value)[:40]}"
            words = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
            self.fail(f"'{name}' of {where} {found}", words.get(kind, "a number"))
        return value

    def number(self, parent, name, where, default=None):
        value = self.get(parent, name, (int, float), where, default)
        if not (math.isfinite(value) and value >= 0):
            self.fail(f"'{name}' of {where} is {value}", "a number of at least 0")
        return float(value)

    def measurement(self, one, where):
        if not isinstance(one, dict):
            self.fail(f"a measurement of {where} is {json.dumps(one)[:40]}", "an object")
        m = Measurement(self.get(one, "name", str, where), self.get(one, "peer", bool, where), self.get(one, "failure", str, where, ""))
        where = f"{m.name} on {where}"
        m.version = self.get(one, "version", str, where, "")
        if m.failure:
            return m
        m.chosen = self.get(one, "chosen", str, where, "")
        m.recipe = self.get(one, "recipe", str, where, "")
        m.correct = self.get(one, "correct", bool, where)
        m.repeatable = self.get(one, "repeatable", bool, where, True)
        m.median, m.low, m.high = (self.number(one, f"{name}_seconds", where) for name in ("median", "low", "high"))
        m.groups = int(self.number(one, "groups", where))
        parts = self.get(one, "setup", dict, where, {}) or one  # schema 1 had the parts beside the sum
        if "upload_seconds" in parts:
            m.upload = self.number(parts, "upload_seconds", where, 0.0)
            m.setup = max(0.0, self.number(one, "setup_seconds", where, 0.0) - m.upload)
        m.partition = self.number(parts, "partition_seconds", where, 0.0)
        m.share = self.number(one, "bandwidth_share", where, 0.0)
        for candidate in self.get(one, "candidates", list, where, []):
            if not isinstance(candidate, dict):
                self.fail(f"a candidate of {where} is {json.dumps(candidate)[:40]}", "an object")
            seconds = (self.number(candidate, f"{kind}product_seconds", where, 0.0) for kind in ("predicted_", ""))
            m.candidates.append((self.get(candidate, "format", str, where), *seconds))
        return m

    def case(self, one):
        if not isinstance(one, dict):
            self.fail(f"a case is {json.dumps(one)[:40]}", "an object")
        case = Case(self.get(one, "source", str, "a case"), "", "", 0, [])
        case.type = self.get(one, "type", str, case.source)
        case.ordering = self.get(one, "ordering", str, case.source, "none")
        case.nonzeros = int(self.number(one, "nonzeros", case.source, 0.0))
        where = f"{case.source} {case.type}"
        case.measurements = [self.measurement(m, where) for m in self.get(one, "measurements", list, where)]
        return case

    def results(self, parsed):
        if not isinstance(parsed, dict) or parsed.get("tool") != "weft bench":
            self.fail("not a result file", "what `weft bench --json` writes")
        if parsed.get("schema") not in (1, 2):
            self.fail(f"schema {json.dumps(parsed.get('schema'))[:20]}", "1 or 2")
        if "cases" not in parsed:
            self.fail("no cases", "results of matrices and formats, not of a paper")
        device = self.get(parsed, "device", dict, "the file", {})
        return Results(self.path, parsed["schema"], self.get(parsed, "command", str, "the file", ""),
                       self.get(parsed, "machine", dict, "the file", {}), self.get(device, "name", str, "device", ""),
                       self.number(parsed, "bandwidth_bytes_per_second", "the file", 0.0),
                       self.get(parsed, "parameters", dict, "the file", {}),
                       [self.case(one) for one in self.get(parsed, "cases", list, "the file")])


def load(path):
    """Reads a result file; BadFile with one sentence for anything else."""
    try:
        text = pathlib.Path(path).read_text()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a text"
        raise BadFile(f"{path}: {reason}, expected a result file of `weft bench --json`") from None
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f"line {error.lineno}: " if isinstance(error, json.JSONDecodeError) else ""
        raise BadFile(f"{path}: {place}not JSON, expected a result file of `weft bench --json`") from None
    return Reader(str(path)).results(parsed)


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def write_whole(path, text):
    """The file appears complete or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
