"""What the documentation shows is true: programs are the ones that were compiled, commands run, links lead somewhere."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["WEFT_BUILD"])
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "bench/results/README.md"]

# Commands that the text may show and that .ci/run runs itself: running them from inside a test would not end.
RUN_BY_CI = re.compile(r"(make|git|\.ci/run|tools/|cmake|ctest|sudo|FUZZ_SECONDS=|STEPS=)")
# Of the tools, the one that makes what a later command reads.
RUN_HERE = re.compile(r"tools/count-instructions .*--record ")
# Commands that need a GPU, a mesh of the reader's own, many minutes, or PETSc (integrations/petsc/tests runs those).
NEEDS_MORE = re.compile(r"--device gpu|fem:part\.msh|--suite |libweft_petsc")


def blocks():
    """(name, comment before the block, language, body) of every fenced block."""
    fence = re.compile(r"(?:<!-- ([^\n]*?) -->\n)?^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    for path in DOCUMENTS:
        text = path.read_text()
        for match in fence.finditer(text):
            line = text.count("\n", 0, match.start(2)) + 1
            yield pytest.param(match[1] or "", match[2], match[3], id=f"{path.relative_to(ROOT)}:{line}")


def test_programs_and_tables_are_what_they_claim():
    result = subprocess.run([ROOT / "tools/update-docs", BUILD, "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def compiles(fragment, folder):
    """A few lines of a program: includes go to the top, the rest into a function."""
    lines = fragment.splitlines()
    includes = [line for line in lines if line.startswith("#include")]
    body = [line for line in lines if not line.startswith("#include")]
    source = folder / "fragment.cpp"
    source.write_text("\n".join(["#include <weft/weft.hpp>", *includes, "void fragment();", "void fragment() {", *body, "}\n"]))
    return subprocess.run(["g++", "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'include'}", source], capture_output=True, text=True)


@pytest.mark.parametrize("comment, language, body", list(blocks()))
def test_block_is_compiled_or_run(comment, language, body, tmp_path):
    if language in ("cpp", "cmake"):
        if comment.startswith("part of: "):
            source = (ROOT / comment.removeprefix("part of: ")).read_text()
            assert body in source, "the text shows lines that its source does not hold"
        elif not comment.startswith("file: "):
            assert language == "cpp", "this must come from a file that a test uses: see tools/update-docs"
            result = compiles(body, tmp_path)
            assert result.returncode == 0, result.stderr
    elif language in ("sh", "console") or body.startswith("weft "):
        prompts = [line.removeprefix("$ ") for line in body.splitlines() if language != "console" or line.startswith("$ ")]
        commands = [line for line in prompts if RUN_HERE.match(line) or not (RUN_BY_CI.match(line) or NEEDS_MORE.search(line))]
        if any(RUN_HERE.match(line) for line in commands):
            if not shutil.which("valgrind") or not (BUILD / "bench/weft_count_products").exists():
                pytest.skip("no valgrind here, or a build without weft_count_products")
            (tmp_path / "build").mkdir()
            (tmp_path / "build/release").symlink_to(BUILD.resolve())
            (tmp_path / "tools").symlink_to(ROOT / "tools")
        environment = dict(os.environ, PATH=f"{BUILD / 'bin'}:{os.environ['PATH']}")
        result = subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(commands)], cwd=tmp_path, env=environment,
                                capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, f"{body}\n{result.stdout}\n{result.stderr}"
    else:
        assert language in ("text", "json"), f"say what kind of block this is (found '{language}')"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    targets = re.findall(r"\]\(([^)\s]+)\)", path.read_text()) + re.findall(r'(?:src|srcset|href)="([^"]+)"', path.read_text())
    for target in targets:
        if re.match(r"(https?:|mailto:|#)", target):
            continue
        assert (path.parent / target.split("#")[0]).exists(), f"{target} is missing"


def test_every_page_is_linked_from_the_index():
    index = (ROOT / "docs/index.md").read_text()
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page.name != "index.md":
            assert f"({page.name})" in index, f"docs/index.md does not link {page.name}"


def test_every_generator_is_described_as_it_is_called():
    listed = subprocess.run([BUILD / "bin/weft", "gen", "--list"], capture_output=True, text=True, check=True).stdout
    rows = [line.split()[:2] for line in listed.split("\n\n")[0].splitlines()[2:]]
    called = {f"gen:{name}" + (arguments if arguments.startswith("[") else f":{arguments}") for name, arguments in rows if name != "fem"}
    described = re.findall(r"^\| `(gen:[^`]+)` \|", (ROOT / "docs/generators.md").read_text(), re.MULTILINE)
    assert sorted(described) == sorted(called)


def test_the_tuning_page_shows_the_values_compiled_in():
    header, page = (ROOT / "src/formats/csr/tuning.hpp").read_text(), (ROOT / "docs/tuning.md").read_text()
    numbers = re.search(r"speculative\{\.f32 = \{(\d+), (\d+), (\d+)\}, \.f64 = \{(\d+), (\d+), (\d+)\}\}", header)
    for place, letter in enumerate(["W", "S", "B"], start=1):
        shown = [cell.strip() for cell in re.search(rf"^\| {letter} \|(.*)\|$", page, re.MULTILINE)[1].split("|")]
        assert shown[-2:] == [numbers[place], numbers[place + 3]]


def test_versions_agree():
    version = re.search(r'WEFT_VERSION "([^"]+)"', (ROOT / "include/weft/version.hpp").read_text()).group(1)
    assert re.search(rf"^version: {re.escape(version)}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert f"VERSION {version} " in (ROOT / "CMakeLists.txt").read_text()


def test_presets_are_valid_json():
    json.loads((ROOT / "CMakePresets.json").read_text())


def test_architecture_lists_the_rooms_in_their_order():
    listed = re.findall(r"^\| `([^`]+)/` \|", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    rooms = re.search(r"^ROOMS = \[(.*?)\]", (ROOT / "tools/check-rooms").read_text(), re.DOTALL | re.MULTILINE)[1]
    assert listed == [room for room in re.findall(r'"([^"]+)"', rooms) if (ROOT / room).exists()]
