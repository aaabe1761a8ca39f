import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def check(tmp_path):
    """Runs tools/check-rooms on a tree of these files, each with one include."""
    def run(files):
        (tmp_path / "tools").mkdir()
        shutil.copy(ROOT / "tools/check-rooms", tmp_path / "tools")
        for name, included in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f'#include "{included}"\n')
        done = subprocess.run([tmp_path / "tools/check-rooms"], capture_output=True, text=True)
        assert done.stderr == ""
        return done.returncode, done.stdout
    return run


def test_a_room_may_include_rooms_above_it(check):
    files = {"src/core/a.hpp": "b.hpp", "src/core/b.hpp": "<none>", "src/plan/c.cpp": "core/a.hpp",
             "bench/harness/run.hpp": "core/a.hpp", "bench/report/page.hpp": "bench/harness/run.hpp",
             "apps/weft/commands/report.cpp": "bench/report/page.hpp"}
    assert check(files) == (0, "")


@pytest.mark.parametrize("name, included, file", [
    ("src/core/a.hpp", "plan/b.hpp", "src/plan/b.hpp"), ("bench/harness/a.cpp", "bench/report/b.hpp", "bench/report/b.hpp"),
    ("bench/peers/a.cpp", "../harness/b.hpp", "bench/harness/b.hpp"), ("src/plan/a.cpp", "bench/harness/b.hpp", "bench/harness/b.hpp"),
    ("apps/weft/a.cpp", "commands/b.hpp", "apps/weft/commands/b.hpp")])
def test_a_room_that_includes_one_below_is_named(check, name, included, file):
    code, text = check({name: included, file: "<none>"})
    assert code == 1 and f"{name} includes {included}" in text


def test_tests_and_the_tools_main_may_look_further(check):
    assert check({"src/core/a_test.cpp": "plan/b.hpp", "src/plan/b.hpp": "<none>", "apps/weft/main.cpp": "commands/c.hpp",
                  "apps/weft/commands/c.hpp": "<none>"}) == (0, "")


def test_a_folder_that_is_no_room_is_named(check):
    code, text = check({"bench/attic/a.cpp": "<none>"})
    assert code == 1 and "bench/attic/a.cpp is in no room" in text
