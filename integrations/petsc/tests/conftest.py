"""What the plug-in's tests share. They need a build with WEFT_PETSC=ON and tests, in WEFT_BUILD."""
import os
import pathlib
import subprocess
import tempfile

import pytest

BUILD = pathlib.Path(os.environ["WEFT_BUILD"])
FOLDER = BUILD / "integrations/petsc"
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


@pytest.fixture(scope="session")
def plugin():
    path = FOLDER / "libweft_petsc.so"
    if not path.exists():
        pytest.skip("this build has no PETSc plug-in: tools/install-packages petsc, and build again")
    return path


@pytest.fixture(scope="session")
def session_folder():
    """Open MPI's, short enough for its sockets: two programs that start at once stumble over a common one."""
    with tempfile.TemporaryDirectory(prefix="weft") as folder:
        yield folder


@pytest.fixture(scope="session")
def cases():
    return FOLDER / "tests/cases"


@pytest.fixture
def start(plugin, cases, session_folder, tmp_path):
    """start(ranks, *words, weft=True, env={}) runs a program, the cases if the first word is an option."""

    def run(ranks, *words, weft=True, env=None, binding="none"):
        program = [] if words and not str(words[0]).startswith("-") else [cases]
        options = ["-dll_append", plugin] if weft else []
        command = ["mpirun", "--oversubscribe", "--bind-to", binding, "-n", ranks, *program, *words, *options]
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=tmp_path, timeout=300,
                              env={**os.environ, **MPI, "WEFT_CACHE": str(BUILD / "cache"), "TMPDIR": session_folder, **(env or {})})

    return run


@pytest.fixture
def succeed(start):
    """As start, for programs that must end well: returns what they print."""

    def run(*words, **options):
        done = start(*words, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
