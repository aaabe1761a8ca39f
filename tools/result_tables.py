"""Markdown made from result files, for tools/update-docs. A request is written in a comment of the text:

  <!-- results: FILE.json[, FILE.json] | KIND | KEY VALUE | ... -->
  <!-- end -->

KIND, each with its keys (files are those of bench/results):
  table     our speed over the fastest peer's, a line a matrix, f64 and f32 in one cell, the best in bold
              against PREFIX   only peers whose names start so (cusparse:csr); without it all
              columns A, B     formats, and: nonzeros, best (the fastest of all our formats), share (of the bandwidth, of the
                               fastest format shown), peer (the fastest peer)
              matrices A, B    only these, in this order; without it all
  headline  what `table` comes to over all matrices of these files: geometric mean, wins and losses
              against PREFIX, called WORDS
  setup     set-up of formats in products of their own: partition + the rest
              columns A, B; matrices A, B
  about     what the file tells about itself
              command TEXT, kept COMMIT   where the file does not tell: schema 1
"""
import os
import re

from results import TIE, BadFile, geometric_mean, load

TYPES = ("f64", "f32")


def split(text):
    return [part.strip() for part in text.split(",") if part.strip()]


class Request:
    def __init__(self, text, root, folder):
        files, kind, *options = [part.strip() for part in re.sub(r"\s+", " ", text).split(" | ")] + ([] if "|" in text else [""])
        self.kind = kind
        self.options = {key: value for key, _, value in (option.partition(" ") for option in options)}
        self.results = [load(root / "bench/results" / name) for name in split(files)]
        self.folder = os.path.relpath(root / "bench/results", folder)
        known = {"table": {"against", "columns", "matrices"}, "headline": {"against", "called"}, "setup": {"columns", "matrices"}, "about": {"command", "kept"}}
        if kind not in known:
            raise BadFile(f"results: '{kind}' is no kind of text, expected one of {', '.join(known)}")
        if wrong := set(self.options) - known[kind]:
            raise BadFile(f"results: {kind} has no '{min(wrong)}', expected {', '.join(sorted(known[kind]))}")

    def cases(self):
        """{matrix: {type: case}} of the matrices asked for."""
        found = {}
        for results in self.results:
            for case in results.cases:
                found.setdefault(case.name, {}).setdefault(case.type, case)
        wanted = split(self.options.get("matrices", "")) or list(found)
        for name in wanted:
            if name not in found:
                raise BadFile(f"{self.results[0].file_name}: no matrix {name}, expected one of {', '.join(found)}")
        return {name: found[name] for name in wanted}

    def columns(self, pseudo=()):
        names = split(self.options.get("columns", ""))
        known = {m.name for results in self.results for case in results.cases for m in case.ours().values()}
        for name in names:
            if name not in known and name not in pseudo:
                raise BadFile(f"{self.results[0].file_name}: no format {name}, expected one of {', '.join(sorted(known))}")
        return names


def fastest(case, names=None):
    return min((m for m in case.ours().values() if m.counts() and (names is None or m.name in names)), key=lambda m: m.median, default=None)


def ratio(case, m, against):
    """How many times as fast as the fastest peer; None when one of the two does not count."""
    peer = case.fastest_peer(against)
    return peer.median / m.median if peer and m and m.counts() else None


def times(value):
    return f"{value:.2f}x"


def word_for(m):
    return "-" if m is None else "refused" if m.failure else "WRONG" if not m.correct else "-"


def bold(cells):
    """['**1.2x**', '**1.3x**'] reads better as one."""
    text = " ".join(cells)
    return "**" + text.replace("**", "") + "**" if len(cells) > 1 and all(cell.startswith("**") for cell in cells) else text


class Table:
    """Lines of a table with the cells of both types side by side."""
    PSEUDO = {"nonzeros": "nonzeros", "best": "fastest of ours", "share": "of bandwidth", "peer": "fastest peer"}

    def __init__(self, request):
        self.request = request
        self.against = request.options.get("against", "")
        self.columns = request.columns(self.PSEUDO)
        self.formats = [name for name in self.columns if name not in self.PSEUDO]

    def one(self, column, case):
        """The cell of one type."""
        if column in ("nonzeros", "best", "share", "peer"):
            return getattr(self, column)(case)
        m = case.ours().get(column)
        value = ratio(case, m, self.against)
        if value is None:
            return word_for(m)
        leads = len(self.formats) > 1 and m is fastest(case, self.formats)
        return f"**{times(value)}**" if leads else times(value)

    def nonzeros(self, case):
        return f"{case.nonzeros / 1e6:.3g} M"

    def best(self, case):
        m = fastest(case)
        value = ratio(case, m, self.against)
        return f"`{m.name}` {times(value)}" if value else "-"

    def share(self, case):
        m = fastest(case, self.formats or None)
        return f"{100 * m.share:.0f} %" if m and m.share else "-"

    def peer(self, case):
        peer = case.fastest_peer(self.against)
        return f"`{peer.name}`" if peer else "-"

    def cell(self, column, cases):
        cells = [self.one(column, cases[kind]) for kind in TYPES if kind in cases]
        if column in ("nonzeros", "peer") and len(set(cells)) == 1:
            return cells[0]
        words = [cell.split(" ", 1) for cell in cells]
        if column == "best" and len(words) == 2 and words[0][0] == words[1][0]:
            return f"{cells[0]} {words[1][1]}"
        return cells[0] if len(set(cells)) == 1 and cells[0] in ("-", "refused", "WRONG") else bold(cells)

    def lines(self):
        titles = [self.PSEUDO.get(column, f"`{column}`") for column in self.columns]
        yield f"| matrix | {' | '.join(titles)} |"
        yield "|---" * (len(titles) + 1) + "|"
        for name, cases in self.request.cases().items():
            yield f"| `{name}` | {' | '.join(self.cell(column, cases) for column in self.columns)} |"


def setup_lines(request):
    def one(m):
        if m is None or not m.counts():
            return word_for(m)
        partition, rest = m.partition / m.median, (m.setup - m.partition) / m.median
        return f"{partition:,.0f} + {rest:,.0f}" if partition >= 1 else f"{rest:.0f}" if rest >= 10 else f"{rest:.1f}"

    columns = request.columns()
    yield f"| matrix, type | {' | '.join(f'`{column}`' for column in columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    for name, cases in request.cases().items():
        for kind, case in cases.items():
            yield f"| `{name}`, {kind} | {' | '.join(one(case.ours().get(column)) for column in columns)} |"


def headline_lines(request):
    against, called = request.options.get("against", ""), request.options.get("called", "the fastest peer")
    ratios = {}  # {type: {matrix: ratio}}; a matrix may be in several files, with other formats in each
    for results in request.results:
        for case in results.cases:
            if value := ratio(case, fastest(case), against):
                of_type = ratios.setdefault(case.type, {})
                of_type[case.name] = max(value, of_type.get(case.name, 0))
    kinds = [kind for kind in TYPES if kind in ratios]
    if not kinds:
        raise BadFile(f"{request.results[0].file_name}: no peer {against}, expected one to compare with")

    def each(count):
        """'16 and 15', or '7' when all types agree."""
        counts = [str(count(ratios[kind].values()) or "none") for kind in kinds]
        return " and ".join(counts) if len(set(counts)) > 1 else counts[0]

    means = " and ".join(f"{times(geometric_mean(ratios[kind].values()))} ({kind})" for kind in kinds)
    lost = [f"`{name}` {times(value)} ({kind})" for kind in kinds for name, value in ratios[kind].items() if value <= 1 / TIE]
    yield (f"- **{means}** the speed of {called}: geometric mean over {each(len)} matrices, the fastest of our formats on each. "
           f"Faster on {each(lambda values: sum(value >= TIE for value in values))}, within 5 % on {each(lambda values: sum(1 / TIE < value < TIE for value in values))}, "
           f"slower on {each(lambda values: sum(value <= 1 / TIE for value in values))}{': ' + ', '.join(lost) if lost else ''}.")


def bandwidth(results):
    return f"{results.bandwidth / 1e12:.2f} TB/s" if results.bandwidth >= 1e12 else f"{results.bandwidth / 1e9:.1f} GB/s"


def command_of(results):
    """The command that gives such a file, put together from what it holds."""
    def unique(names):
        return list(dict.fromkeys(names))

    types = unique(case.type for case in results.cases)
    formats = unique(m.name for case in results.cases for m in case.ours().values())
    peers = unique(m.name.split(":")[0] for case in results.cases for m in case.peers().values())
    device = "" if "thread" in results.device or not results.machine.get("gpus") else " --device gpu"
    threads = "" if device else f" --threads {results.machine.get('threads')}"
    words = ["weft bench", *unique(case.source if case.source.startswith("gen:") else case.name.split(" ")[0] for case in results.cases)]
    return " ".join(words) + (f"{device}{threads} --type {'both' if len(types) > 1 else types[0]} --formats {','.join(formats)}"
                              f"{' --peers ' + ','.join(peers) if peers else ''} --seconds {results.parameters.get('seconds', 0.5)}")


def source_lines(request):
    """Where the numbers above come from."""
    for results in request.results:
        path = f"{request.folder}/{results.file_name}" if request.folder != "." else results.file_name
        line = f"<sub>[{results.file_name}]({path}), {results.device}, {bandwidth(results)} measured"
        if results.command:
            line += f", commit {results.commit or 'unknown'}: `{results.command}`"
        else:
            anchor = re.sub(r"[^\w-]", "", results.file_name.lower())
            line += f"; [how it was measured]({request.folder}/README.md#{anchor})"
        yield line + "</sub>"


def about_lines(request):
    for results in request.results:
        machine, kept = results.machine, request.options.get("kept", "")
        types = [kind for kind in TYPES if any(case.type == kind for case in results.cases)]
        versions = sorted({f"{m.name.split(':')[0]} {m.version}" for case in results.cases for m in case.peers().values() if m.version})
        driver = f", driver {machine['driver']}" if machine.get("driver") else ""
        yield (f"- {results.device}{driver}, {bandwidth(results)} measured; {machine.get('compiler', '?')}, {machine.get('threads', '?')} threads, "
               f"{machine.get('isa', '?')}{'; ' + ', '.join(versions) if versions else ''}")
        count = len(request.cases())
        yield f"- {count} {'matrix' if count == 1 else 'matrices'} in {' and '.join(types)}; schema {results.schema}"
        yield f"- commit: {results.commit or f'not told; kept since {kept}'}"
        command = results.command or request.options.get("command") or command_of(results)
        yield f"- {'command' if results.command or 'command' in request.options else 'command, put together from what the file holds'}: `{command}`"


def render(text, root, folder):
    """The lines a request comes to; `folder` is that of the document."""
    request = Request(text, root, folder)
    if request.kind == "about":
        lines = list(about_lines(request))
    elif request.kind == "headline":
        lines = list(headline_lines(request))
    else:
        body = Table(request).lines() if request.kind == "table" else setup_lines(request)
        lines = [*body, "", *source_lines(request)]
    return "\n" + "\n".join(lines) + "\n\n"
