"""SciPy allocates whatever the size line of a file claims. A limit turns that into a MemoryError before the machine suffers."""
import pathlib
import resource

import pytest


@pytest.fixture(autouse=True)
def memory_limit():
    """Two gigabytes more than this process has mapped already, for it and for the programs it starts."""
    mapped = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = mapped + (2 << 30)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
