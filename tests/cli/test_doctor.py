import json
import pathlib
import re


def test_report_stays_as_agreed(succeed, golden):
    text = succeed("doctor")
    # What depends on the machine, the build and the formats there are is left out.
    text = re.sub(r"^(  (version|compiler|PETSc|name|isa|driver|none|gpu\d+) +).*$", r"\1<text>", text, flags=re.MULTILINE)
    text = re.sub(r"(yes|no): ", "<yes or no>: ", text)
    head, peers, formats = re.split(r"\n(?:Peers of weft bench|Formats)\n", text)
    head = re.sub(r"\nGPU\n.*", "\nGPU\n", head, flags=re.DOTALL)
    peers = re.sub(r"^(  \w+).*$", r"\1 <text>", peers, flags=re.MULTILINE)
    golden("doctor", f"{head}\nPeers of weft bench\n{peers}\nFormats\n{formats.splitlines()[0]}\n")


def test_without_a_gpu_the_reason_is_told_and_nothing_fails(succeed):
    report = json.loads(succeed("doctor", "--json"))
    assert report["schema"] == 1
    assert report["machine"]["gpus"] or report["machine"]["why_no_gpu"]
    assert set(report["build"]) == {"CUDA", "emulator", "zlib", "lzma", "AMD", "METIS"}
    assert report["devices"][0]["device"] == "cpu" and report["devices"][0]["bandwidth_bytes_per_second"] > 1e8
    text = succeed("doctor")
    assert report["machine"]["why_no_gpu"] in text
    for entry in report["formats"]:
        for name in [entry["name"], *entry["variants"]]:
            assert re.search(rf"^  {re.escape(name)} ", text, re.MULTILINE), name
    assert {"csr", "coo"} <= {entry["name"] for entry in report["formats"]}


def test_the_petsc_plugin_is_found_where_it_was_built(succeed):
    plugin = json.loads(succeed("doctor", "--json"))["petsc_plugin"]
    assert plugin is None or pathlib.Path(plugin).name == "libweft_petsc.so" and pathlib.Path(plugin).exists()
    assert (f"PETSc        yes: -dll_append {plugin}" if plugin else "PETSc        no: ") in succeed("doctor")


def test_the_environment_chooses_the_instruction_set(succeed):
    assert "isa          baseline (WEFT_ISA=baseline)" in succeed("doctor", env={"WEFT_ISA": "baseline"})


def test_a_wrong_instruction_set_is_warned_about(weft):
    done = weft("doctor", env={"WEFT_ISA": "abacus"})
    assert done.returncode == 0
    assert "abacus" in done.stderr and done.stderr.startswith("weft: warning: ")
    assert weft("doctor", "--quiet", env={"WEFT_ISA": "abacus"}).stderr == ""
