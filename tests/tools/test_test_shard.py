"""tools/test-shard against a program that prints what GoogleTest prints."""
import sys

import pytest

PROGRAM = f'''#!{sys.executable}
import os, sys, time
tests = ["Suite.passes", "Suite.fails", "Suite.dies", "Suite.leaves", "Suite.hangs", "Suite.skips", "Suite.last"]
if "--gtest_list_tests" in sys.argv:
    print("Running main() from gtest_main.cc")
    print("Suite.")
    for name in tests + ["Suite.DISABLED_never"]:
        print("  " + name.split(".")[1] + "  # GetParam() = 4 bytes")
    sys.exit(0)
flags = open(sys.argv[1].split("=", 1)[1]).read().strip()
chosen = flags.split("=", 1)[1].split(":")
failed = False
for name in tests:
    if name not in chosen:
        continue
    print("[ RUN      ]", name)
    print("said by " + name, end="", flush=True)
    result = "[       OK ]"
    if name.endswith("fails"):
        print("\\n" + "noise\\n" * 5000)
        failed, result = True, "[  FAILED  ]"
    if name.endswith("dies"):
        os.abort()
    if name.endswith("leaves"):
        os._exit(0)
    if name.endswith("hangs"):
        time.sleep(60)
    if name.endswith("skips"):
        result = "[  SKIPPED ]"
    print(result, name + ", where GetParam() = 4 (0 ms)")
print("[==========]", len(chosen), "tests from 1 test suite ran. (0 ms total)", flush=True)
if os.environ.get("LEAK"):
    print("a leak of 8 bytes")
    sys.exit(23)
sys.exit(1 if failed else 0)
'''


@pytest.fixture
def shard(script, tmp_path):
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return lambda *arguments, **options: script("test-shard", program, *arguments, **options)


def test_tests_that_pass_are_counted_and_not_printed(shard):
    done = shard("--only", "passes|skips|last")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "3 tests: 2 passed, 1 skipped, 0 failed\n"


def test_every_test_is_in_one_shard(shard):
    counts = [int(shard("--shard", f"{index}/3", "--exclude", "fails|dies|leaves|hangs").stdout.split()[0]) for index in range(3)]
    assert sum(counts) == 3


def test_the_environment_leaves_out_more(shard, monkeypatch):
    monkeypatch.setenv("WEFT_TEST_EXCLUDE", "last")
    assert shard("--only", "passes|last").stdout.startswith("1 tests: 1 passed")


def test_a_failure_is_named_and_its_output_cut(shard):
    done = shard("--only", "passes|fails")
    assert done.returncode == 1
    assert "said by Suite.fails" in done.stdout and "said by Suite.passes" not in done.stdout
    assert done.stdout.endswith("2 tests: 1 passed, 0 skipped, 1 failed:\n  Suite.fails\n")
    assert "lines more" in done.stdout and done.stdout.count("\n") < 100


@pytest.mark.parametrize("how", ["dies", "leaves"])
def test_a_program_that_ends_in_a_test_fails_and_the_rest_still_runs(shard, how):
    done = shard("--only", f"passes|{how}|last")
    assert done.returncode == 1
    assert f"[   DIED   ] Suite.{how}" in done.stdout
    assert done.stdout.endswith(f"3 tests: 2 passed, 0 skipped, 1 failed:\n  Suite.{how}\n")


def test_a_test_that_hangs_is_named(shard):
    done = shard("--only", "passes|hangs", "--timeout", "1")
    assert done.returncode == 1
    assert "Suite.hangs: the program took more than 1 s" in done.stdout


def test_what_is_found_after_the_last_test_fails(shard, monkeypatch):
    monkeypatch.setenv("LEAK", "1")
    done = shard("--only", "passes")
    assert done.returncode == 1
    assert "a leak of 8 bytes" in done.stdout and "outside any test" in done.stdout
