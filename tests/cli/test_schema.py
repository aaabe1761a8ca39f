"""bench/report/schema.json describes what the tool writes: neither more nor less."""
import json
import pathlib
import subprocess

import pytest

jsonschema = pytest.importorskip("jsonschema", reason="no jsonschema here: pip install -r tests/python/requirements.txt")

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "bench/report/schema.json").read_text())
FAST = ["--seconds", "0.01", "--repeat", "2"]


@pytest.fixture(scope="module")
def text_of_results(weft_bin):
    """A run with both types, a peer if there is one, a format that refuses a matrix, and auto."""
    return subprocess.run([weft_bin, "bench", "gen:arrow:20000", "gen:poisson2d:12", "--type", "both", "--formats", "csr,ell,auto",
                           "--peers", "eigen", "--json", "-", *FAST], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def results(text_of_results):
    return json.loads(text_of_results)


def fields_of_schema(schema, path=""):
    """Every place of an object that the schema knows."""
    for name, inner in schema.get("properties", {}).items():
        yield f"{path}.{name}"
        yield from fields_of_schema(inner, f"{path}.{name}")
    if "items" in schema:
        yield from fields_of_schema(schema["items"], path + "[]")


def fields_of_result(value, path=""):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{path}.{name}"
            yield from fields_of_result(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from fields_of_result(inner, path + "[]")


def test_schema_itself_is_valid_and_describes_every_field():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def described(schema, path):
        for name, inner in schema.get("properties", {}).items():
            assert inner.get("description"), f"{path}.{name} has no description"
            described(inner, f"{path}.{name}")
        if "items" in schema:
            described(schema["items"], path + "[]")

    described(SCHEMA, "")


def test_results_with_failures_and_peers_are_valid(results):
    jsonschema.validate(results, SCHEMA, cls=jsonschema.Draft202012Validator)
    failures = [m["failure"] for case in results["cases"] for m in case["measurements"]]
    assert any(failures) and not all(failures)
    assert any(m["peer"] for case in results["cases"] for m in case["measurements"]) or results["notes"]


def test_no_field_is_unknown_to_the_other_side(results):
    known, written = set(fields_of_schema(SCHEMA)), set(fields_of_result(results))
    # Only a machine with a GPU writes these.
    gpus = {field for field in known if field.startswith(".machine.gpus[]")}
    assert written - known == set()
    assert known - written - gpus == set()


@pytest.mark.parametrize("spoil", [
    lambda r: r.update(schema=3),
    lambda r: r.pop("command"),
    lambda r: r.update(surprise=1),
    lambda r: r["cases"][1]["measurements"][0].update(median_seconds=-1),
    lambda r: r["cases"][1]["measurements"][0].pop("rank"),
    lambda r: r["cases"][0]["portrait"]["cells"].append("abc"),
    lambda r: r["cases"][1]["measurements"][0].update(failure="none, but numbers there are"),
])
def test_wrong_results_are_not_valid(results, spoil):
    spoil(results)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(results, SCHEMA, cls=jsonschema.Draft202012Validator)
