"""An installed Weft can be used by somebody else's project: through CMake, through pkg-config, and moved elsewhere."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONSUMER = pathlib.Path(__file__).parent / "consumer"
VERSION = re.search(r'WEFT_VERSION "([^"]+)"', (ROOT / "include/weft/version.hpp").read_text()).group(1)


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="session")
def prefix(tmp_path_factory):
    """The tree that `cmake --install` leaves, moved once: nothing in it may remember where it was installed first."""
    folder = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", os.environ["WEFT_BUILD"], "--prefix", folder / "first")
    shutil.move(folder / "first", folder / "moved")
    return folder / "moved"


@pytest.fixture(scope="session")
def library_path(prefix):
    """The environment in which a program finds a shared libweft; a static one needs nothing."""
    return dict(os.environ, LD_LIBRARY_PATH=str(prefix / "lib"))


def check_consumer(program, environment):
    assert re.fullmatch(rf"weft {re.escape(VERSION)}, \S+, 4380 nonzeros: right\n", run(program, env=environment))


def test_find_package_builds_and_runs_a_consumer(prefix, library_path, tmp_path):
    run("cmake", "-S", CONSUMER, "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", tmp_path)
    check_consumer(tmp_path / "consumer", library_path)


def test_find_package_refuses_another_version(prefix, tmp_path):
    shutil.copytree(CONSUMER, tmp_path / "consumer")
    lists = tmp_path / "consumer/CMakeLists.txt"
    lists.write_text(lists.read_text().replace("weft 0.1", "weft 9.9"))
    result = subprocess.run(["cmake", "-S", lists.parent, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
                            capture_output=True, text=True)
    assert result.returncode != 0 and "9.9" in result.stderr


def test_pkg_config_builds_and_runs_a_consumer(prefix, library_path, tmp_path):
    static = [] if list(prefix.glob("lib/libweft.so*")) else ["--static"]
    environment = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
    flags = run("pkg-config", "--cflags", "--libs", *static, "weft", env=environment).split()
    run("g++", "-std=c++20", CONSUMER / "main.cpp", "-o", tmp_path / "consumer", *flags)
    check_consumer(tmp_path / "consumer", library_path)


def test_every_installed_header_compiles_on_its_own(prefix, tmp_path):
    headers = sorted((prefix / "include/weft").glob("*.hpp"))
    assert headers
    for header in headers:
        source = tmp_path / f"{header.stem}.cpp"
        source.write_text(f"#include <weft/{header.name}>\n#include <weft/{header.name}>\n")
        run("g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{prefix}/include", source)


def test_nothing_of_the_build_is_named_in_what_was_installed(prefix):
    build = os.environ["WEFT_BUILD"]
    for path in [*prefix.glob("lib/cmake/weft/*"), *prefix.glob("lib/pkgconfig/*")]:
        text = path.read_text()
        assert build not in text and str(ROOT) not in text, path


def test_the_petsc_plugin_is_installed_beside_the_library_and_found_by_doctor(prefix, library_path):
    plugin = prefix / "lib/libweft_petsc.so"
    if not (pathlib.Path(os.environ["WEFT_BUILD"]) / "integrations/petsc/libweft_petsc.so").exists():
        pytest.skip("this build has no PETSc plug-in")
    assert "PetscDLLibraryRegister_weft_petsc" in run("nm", "-D", "--defined-only", plugin)
    assert "not found" not in run("ldd", plugin)
    assert f"-dll_append {plugin}" in run(prefix / "bin/weft", "doctor", env=library_path)


def test_the_installed_tool_runs(prefix, library_path):
    assert VERSION in run(prefix / "bin/weft", "--version", env=library_path)


def declared(marked):
    """What the public headers promise: names of functions, and of classes, marked with WEFT_API."""
    functions, classes = set(), set()
    for header in sorted((ROOT / "include/weft").glob("*.hpp")):
        text = re.sub(r"//[^\n]*|#define(?:[^\n]*\\\n)*[^\n]*", "", header.read_text())
        functions |= set(re.findall(r"^WEFT_SOLVER\((\w+)\)", text, re.MULTILINE))
        classes |= set(re.findall(r"\b(?:class|struct) WEFT_API (\w+)", text))
        functions |= set(re.findall(r"WEFT_API [^;{]*?(\boperator<<|\w+)\(", text))
    return functions - classes if marked == "functions" else classes


def plain_name(symbol):
    """weft::Plan<double>::apply of 'void weft::Plan<double>::apply(...) const', without template arguments."""
    while "<" in symbol.replace("operator<<", "") and re.search(r"<[^<>]*>", symbol):
        symbol = re.sub(r"(?<!operator)<[^<>]*>", "", symbol)
    symbol = symbol.replace("(anonymous namespace)", "anonymous").replace("[abi:cxx11]", "")
    return symbol.split("(")[0].split(" ")[-1]


def test_a_shared_library_exports_what_the_headers_promise(prefix):
    libraries = list(prefix.glob("lib/libweft.so"))
    if not libraries:
        pytest.skip("this build has a static library")
    symbols = run("nm", "-DC", "--defined-only", libraries[0]).splitlines()
    names = [line.split(" ", 2)[2] for line in symbols if len(line.split(" ", 2)) == 3]
    functions, classes = declared("functions"), declared("classes")
    assert {"plan", "spmv", "read_matrix", "dot"} <= functions and {"Plan", "MatrixSource", "Error"} <= classes
    exported, unexpected = set(), []
    for name in names:
        described = re.match(r"(?:vtable|typeinfo|typeinfo name|VTT|guard variable|non-virtual thunk|virtual thunk) (?:for|to) (.*)", name)
        plain = plain_name(described.group(1) if described else name)
        if not plain.startswith("weft::"):
            # The standard library's templates are weak symbols of whoever uses them.
            continue
        parts = plain.split("::")[1:]
        if parts[0] == "detail":
            parts = parts[1:]
        if parts[0] in classes or (len(parts) == 1 and parts[0] in functions):
            exported.add(parts[0])
        else:
            unexpected.append(name)
    assert not unexpected, unexpected[:20]
    assert functions - exported == set(), f"declared in the headers, but not exported: {sorted(functions - exported)}"
    assert {"Plan", "MatrixSource", "Error", "Device"} - exported == set()
