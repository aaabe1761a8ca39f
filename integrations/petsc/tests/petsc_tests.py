#!/usr/bin/env python3
"""Runs PETSc's own tests, as their sources describe them, with AIJ and through the plug-in, and compares what they print.

    petsc_tests.py PLUGIN [--table FILE] [--jobs N] [PROGRAM...]

PLUGIN is libweft_petsc.so. The sources are those of Debian's libpetsc3.18-dev-examples (PETSC_EXAMPLES names another folder
that holds `mat/tests` and `ksp/ksp/tutorials`); the programs are compiled as they are. Each variant of a /*TEST ... TEST*/ block runs three
times, on the ranks that the block says:

    AIJ      as PETSc's harness would
    blocks   with -mat_seqaij_type seqaijweft: every sequential AIJ matrix and block, stored as sell
    type     with -mat_type aijweft where the variant names an AIJ type or none, stored as Weft chooses

Variants for types of GPUs are also run as AIJ, where no other variant is that already. Nothing is too small for Weft here (-mat_weft_small 0). The block's filter is applied, `aijweft` is read as `aij`; then text and whole numbers
must be the same and other numbers agree to 1e-6. Where AIJ itself prints other numbers here than PETSc's stored output has, and the plug-in
others again, rounding decides what is printed, and the outcome is `rounding`. Exit code 1: something differs, or fails with AIJ.
"""
import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(os.environ.get("PETSC_EXAMPLES", "/usr/share/petsc/3.18/share/petsc/examples/src"))
PROGRAMS = [*(f"mat/tests/ex{number}" for number in (2, 5, 18, 59, 123, 132, 172, 182, 250, 251, 301)),
            *(f"ksp/ksp/tutorials/ex{number}" for number in (2, 5, 7, 9, 54, 56))]
TIME_LIMIT = 120
RELATIVE, ABSOLUTE = 1e-6, 1e-10
MARK = "<!-- table: petsc_tests.py --table -->\n"
WRONG = ("DIFFERENT", "AIJ FAILS")
AIJ_TYPES = {"aij", "seqaij", "mpiaij"}

Variant = collections.namedtuple("Variant", "program name ranks args filter requires stored")
Outcome = collections.namedtuple("Outcome", "variant status note plans")


# --- What the sources say --------------------------------------------------------------------------------------------------

def parse_blocks(text):
    """The tree of a /*TEST block: {"key": [values], "children": [(kind, tree)]}."""
    found = re.search(r"/\*TEST\n(.*?)TEST\*/", text, re.DOTALL)
    root = {"children": []}
    stack = [(-1, root)]
    for line in (found[1] if found else "").splitlines():
        line = re.sub(r"(^|\s)#.*", "", line)
        if not line.strip():
            continue
        indent, (key, _, value) = len(line) - len(line.lstrip()), line.strip().partition(":")
        while indent <= stack[-1][0]:
            stack.pop()
        if key in ("test", "testset", "build"):
            node = {"children": []}
            stack[-1][1]["children"].append((key, node))
            stack.append((indent, node))
        else:
            stack[-1][1].setdefault(key, []).append(value.strip())
    return root


def inherited(outer, inner):
    """The keys of a test inside a testset: arguments and requirements add up, the rest is the innermost."""
    both = {key: values for key, values in outer.items() if key != "children"}
    for key, values in inner.items():
        if key in ("args", "requires", "suffix"):
            both[key] = both.get(key, []) + values
        elif key != "children":
            both[key] = values
    return both


def leaves(tree, outer=None):
    keys = inherited(outer or {}, tree)
    for kind, child in tree["children"]:
        if kind == "build":
            keys.setdefault("requires", []).extend(child.get("requires", []))
    for kind, child in tree["children"]:
        if kind == "test":
            yield inherited(keys, child)
        elif kind == "testset":
            if any(kind == "test" for kind, _ in child["children"]):
                yield from leaves(child, keys)
            else:
                yield inherited(keys, child)


def loops(text):
    """Every text that {{a b}} in it stands for."""
    pieces = re.split(r"\{\{(.*?)\}(?:separate output|shared output)?\}", text)
    choices = [[piece] if index % 2 == 0 else piece.split() for index, piece in enumerate(pieces)]
    return ["".join(words) for words in itertools.product(*choices)]


def variants(program):
    source = (EXAMPLES / program).with_suffix(".c").read_text()
    for keys in leaves(parse_blocks(source)):
        args, suffix = " ".join(keys.get("args", [])), "_".join(keys.get("suffix", [])) or "1"
        expanded = [(int(ranks), one) for ranks in loops(keys.get("nsize", ["1"])[-1]) for one in loops(args)]
        for number, (ranks, one) in enumerate(expanded):
            name = suffix + (f" ({number + 1} of {len(expanded)})" if len(expanded) > 1 else "")
            stored = keys.get("output_file", [f"output/{pathlib.Path(program).name}_{suffix}.out"])[-1]
            yield Variant(program, name, ranks, one, keys.get("filter", [""])[-1], " ".join(keys.get("requires", [])), stored)


GPU = {"cuda", "kokkos_kernels", "viennacl", "hip", "!hip"}


def on_a_cpu(every):
    """Variants for types of GPUs, as AIJ: those that no other variant is already."""
    seen = {(variant.program, variant.ranks, " ".join(variant.args.split())) for variant in every}
    for variant in every:
        needs = set(variant.requires.split())
        if not needs & GPU:
            continue
        args = re.sub(r"\b((?:seq|mpi)?aij)(?:cusparse|kokkos|viennacl)\b", r"\1", variant.args)
        args = " ".join(re.sub(r"-(?:vec_type \S+|use_gpu_aware_mpi \S+)", "", args).split())
        if re.search("cuda|cusparse|kokkos|viennacl", args) or (variant.program, variant.ranks, args) in seen:
            continue
        seen.add((variant.program, variant.ranks, args))
        yield variant._replace(name=variant.name + ", as aij", args=args, requires=" ".join(needs - GPU))


# --- What there is here ----------------------------------------------------------------------------------------------------

def configuration(flags):
    folders = [word[2:] for word in flags if word.startswith("-I")]
    texts = [path.read_text() for path in (pathlib.Path(folder, "petscconf.h") for folder in folders) if path.exists()]
    return set(re.findall(r"^#define (PETSC_\w+)", "\n".join(texts), re.MULTILINE))


def missing(requires, defined):
    """The first requirement that is not met, or None."""
    for word in requires.split():
        name, wanted = word.lstrip("!"), not word.startswith("!")
        inside = re.fullmatch(r"defined\((\w+)\)", name)
        if inside:
            there = bool({inside[1], "PETSC_" + inside[1]} & defined)
        elif name in ("complex", "double", "single", "__float128", "__fp16", "64bitptr"):
            there = {"double": "PETSC_USE_REAL_DOUBLE", "single": "PETSC_USE_REAL_SINGLE", "complex": "PETSC_USE_COMPLEX",
                     "__float128": "PETSC_USE_REAL___FLOAT128", "__fp16": "PETSC_USE_REAL___FP16"}.get(name) in defined
        elif name == "datafilespath":
            there = "DATAFILESPATH" in os.environ
        else:
            there = f"PETSC_HAVE_{name.upper()}" in defined
        if there != wanted:
            return word
    return None


# --- Running and comparing -------------------------------------------------------------------------------------------------

def start(command, folder):
    """(exit code, what was printed). Open MPI may fail to start when several do at the same moment: then it tries again."""
    for _ in range(3):
        try:
            done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, errors="replace",
                                  timeout=TIME_LIMIT, env=dict(os.environ, TMPDIR=folder))
        except subprocess.TimeoutExpired:
            return 124, f"no end after {TIME_LIMIT} s"
        if done.returncode == 0:
            return 0, done.stdout
        if "ORTE_SUCCESS" not in done.stderr:
            break
    return done.returncode, done.stdout + done.stderr


def plain(text):
    """Without the plug-in's own report, the name of its types, and what PETSc says about loading it."""
    kept = [line for line in text.splitlines() if not re.match("Weft:|.*PetscDLLibrary|.*libweft_petsc", line)]
    return "".join(line + "\n" for line in kept).replace("aijweft", "aij")


def run(executable, variant, args, extra):
    """(exit code, filtered output, matrices that were planned)."""
    command = f"mpirun --oversubscribe --bind-to none -n {variant.ranks} {shlex.quote(str(executable))} {extra} {args}"
    with tempfile.TemporaryDirectory() as folder:
        code, printed = start(command, folder)
        if code != 0:
            return code, printed, 0
        text = plain(printed)
        if variant.filter:
            for file in (path for path in pathlib.Path(folder).glob("*") if path.is_file()):
                file.write_text(plain(file.read_text(errors="replace")))
            text = subprocess.run(["bash", "-c", variant.filter], cwd=folder, input=text, capture_output=True, text=True).stdout
    plans = [line for line in printed.splitlines() if line.startswith("Weft:") and "nonzero" in line and "AIJ's own" not in line]
    return 0, text, len(plans)


NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


def reason(printed):
    """What a program that failed says about it."""
    sentences = [line.split("ERROR: ")[-1] for line in printed.splitlines() if "ERROR: " in line and "---" not in line]
    return " ".join(sentences[:2])[:160] or printed.strip()[-160:]


def difference(expected, found):
    """The first line that differs, or None."""
    theirs, ours = expected.splitlines(), found.splitlines()
    for left, right in itertools.zip_longest(theirs, ours):
        if left == right:
            continue
        if left is None or right is None or NUMBER.sub("#", left).split() != NUMBER.sub("#", right).split():
            return f"{left!r} became {right!r}"
        for a, b in zip(NUMBER.findall(left), NUMBER.findall(right)):
            whole = re.fullmatch(r"[-+]?\d+", a) and re.fullmatch(r"[-+]?\d+", b)
            if int(a) != int(b) if whole else abs(float(a) - float(b)) > max(ABSOLUTE, RELATIVE * abs(float(a))):
                return f"{left!r} became {right!r}"
    return None


def rounding_decides(variant, expected, found):
    """Whether AIJ here prints other numbers than PETSc stored, and the plug-in differs from AIJ in numbers only."""
    stored = (EXAMPLES / variant.program).parent / variant.stored
    if not stored.exists() or NUMBER.sub("#", expected).split() != NUMBER.sub("#", found).split():
        return False
    return difference(stored.read_text(), expected) is not None


def of_type(args):
    """The arguments with Weft's type for an AIJ one, or None where the variant is about another type."""
    named = re.search(r"-mat_type\s+(\S+)", args)
    if not named:
        return "-mat_type aijweft " + args
    if named[1] not in AIJ_TYPES:
        return None
    return re.sub(r"-mat_type\s+\S+", f"-mat_type {named[1]}weft", args)


def judge(variant, executable, defined, plugin):
    lack = missing(variant.requires, defined)
    if lack:
        return Outcome(variant, "does not apply", f"needs {lack}", 0)
    code, expected, _ = run(executable, variant, variant.args, "")
    if code != 0:
        return Outcome(variant, "AIJ FAILS", reason(expected), 0)
    plugged = f"-dll_append {shlex.quote(str(plugin))} -mat_weft_small 0 -mat_weft_view"
    ways = [("blocks", variant.args, f"{plugged} -mat_weft_format sell -mat_seqaij_type seqaijweft"), ("type", of_type(variant.args), plugged)]
    plans, ran = 0, []
    for way, args, extra in ways:
        if args is None:
            continue
        code, found, planned = run(executable, variant, args, extra)
        wrong = reason(found) if code != 0 else difference(expected, found)
        if wrong and code == 0 and rounding_decides(variant, expected, found):
            return Outcome(variant, "rounding", f"{way}: {wrong}", plans + planned)
        if wrong:
            return Outcome(variant, "DIFFERENT", f"{way}: {wrong}", plans)
        plans += planned
        ran.append(way)
    return Outcome(variant, "same", " and ".join(ran), plans)


def compiled(program, folder, flags, libraries):
    source = (EXAMPLES / program).with_suffix(".c")
    executable = pathlib.Path(folder, program.replace("/", "-"))
    subprocess.run(["mpicc", "-O1", "-w", *flags, str(source), "-o", str(executable), *libraries, "-lm"], check=True)
    return executable


def pkg_config(what):
    return shlex.split(subprocess.run(["pkg-config", what, "PETSc"], check=True, capture_output=True, text=True).stdout)


# --- The table -------------------------------------------------------------------------------------------------------------

def table(outcomes):
    counts = collections.Counter((outcome.variant.program, outcome.status) for outcome in outcomes)
    lines = ["| program | variants | same | does not apply | rounding | different | matrices planned by Weft |", "|---|--:|--:|--:|--:|--:|--:|"]
    for program in dict.fromkeys(outcome.variant.program for outcome in outcomes):
        of_program = [outcome for outcome in outcomes if outcome.variant.program == program]
        cells = [counts[program, status] for status in ("same", "does not apply", "rounding")]
        cells.append(len(of_program) - sum(cells))
        lines.append(f"| {program} | {len(of_program)} | {cells[0]} | {cells[1]} | {cells[2]} | {cells[3]} | {sum(outcome.plans for outcome in of_program)} |")
    lines += ["", "| program | variant | ranks | outcome | how, or why not | planned |", "|---|---|--:|---|---|--:|"]
    for outcome in outcomes:
        variant, note = outcome.variant, outcome.note.replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {variant.program} | {variant.name} | {variant.ranks} | {outcome.status} | {note} | {outcome.plans} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugin", type=pathlib.Path)
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    parser.add_argument("--table", type=pathlib.Path, help="write the table there, as Markdown; into a file with a mark for it, there")
    parser.add_argument("--jobs", type=int, default=2, help="variants at a time")
    options = parser.parse_intermixed_args()
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1",
                      OMPI_MCA_btl_vader_single_copy_mechanism="none", OMP_WAIT_POLICY="passive")
    plugin, flags, libraries = options.plugin.resolve(strict=True), pkg_config("--cflags"), pkg_config("--libs")
    defined = configuration(flags)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        os.environ.setdefault("WEFT_CACHE", folder)
        executables = dict(zip(options.programs, pool.map(lambda program: compiled(program, folder, flags, libraries), options.programs)))
        every = [variant for program in options.programs for variant in variants(program)]
        every = sorted([*every, *on_a_cpu(every)], key=lambda variant: options.programs.index(variant.program))
        outcomes = list(pool.map(lambda variant: judge(variant, executables[variant.program], defined, plugin), every))
    text = table(outcomes)
    if options.table:
        before, mark, rest = (options.table.read_text() if options.table.exists() else "").partition(MARK)
        options.table.write_text(before + mark + text + (rest[rest.index("<!-- end -->"):] if mark else ""))
    print(text.split("\n\n")[0])
    for outcome in outcomes:
        if outcome.status in WRONG:
            print(f"{outcome.variant.program} {outcome.variant.name}: {outcome.status}: {outcome.note}")
    sys.exit(any(outcome.status in WRONG for outcome in outcomes))


if __name__ == "__main__":
    main()
