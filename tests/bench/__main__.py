"""What the engine costs beside the model: run by hand, prints figures beside their targets.

    python -m tests.bench [start] [steps] [growth] [stream] [memory] [--rounds N] [--peers]

A scripted model answers at once, so what is left is our own. Own time of a step: from the last
byte of the model's answer to the next request, complete at the model. CPU is that of the engine
and the relay. The figures are those of this machine; compare within one run.
"""

import argparse
import json
import os
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.model_server import file_name, file_text
from tests.bench.processes import Editor, Message, ModelServer, cpu_s, pss_mib

PHASES = ("start", "steps", "growth", "stream", "memory")
PEERS = Path(__file__).parents[3] / "shared" / "bench"


@dataclass
class Bench:
    """A model, a home and a workspace; and the figures found so far."""

    model: ModelServer
    env: dict[str, str]
    workspace: Path
    rounds: int
    figures: dict[str, list[float]] = field(default_factory=dict)
    runs: int = 0

    def note(self, name: str, value: float) -> None:
        """Add a figure."""
        self.figures.setdefault(name, []).append(value)
        sys.stderr.write(f"  {name}: {value:,.2f}\n")

    def editor(self) -> Editor:
        """Start an editor and shake hands."""
        editor = Editor(self.env, self.workspace)
        editor.initialize()
        return editor

    def session(self, editor: Editor) -> str:
        """Begin a session."""
        uri = self.workspace.as_uri()
        created = editor.request("kova/session/create", {"workspace": uri})
        return str(created["sessionId"])

    def turn(
        self, editor: Editor, session: str, *, reads: int = 0, deltas: int = 20, pace_ms: float = 0
    ) -> "Turn":
        """Run a turn and check that nothing of it was lost."""
        self.runs += 1
        name = f"r{self.runs}"
        plan = {"run": name, "reads": reads, "deltas": deltas, "pace_ms": pace_ms}
        heard: list[tuple[float, bytes]] = []
        pids = (editor.engine_pid(), editor.process.pid)
        before_s = sum(map(cpu_s, pids))
        bytes_before = editor.bytes_read
        editor.request(
            "kova/turn/start",
            {
                "sessionId": session,
                "input": [{"type": "text", "text": f"BENCH{json.dumps(plan)}"}],
            },
            lambda at, body: heard.append((at, body)),
        )
        while not any(b'"turn.completed"' in body[:400] for _, body in heard[-40:]):
            heard += editor.read()
        took_s = sum(map(cpu_s, pids)) - before_s
        turn = Turn(self.model.log(name), heard, took_s, editor.bytes_read - bytes_before)
        turn.check(reads, deltas)
        return turn


@dataclass
class Turn:
    """A turn as model and editor saw it."""

    log: Message
    heard: list[tuple[float, bytes]]
    cpu_s: float
    wire_bytes: int

    def check(self, reads: int, deltas: int) -> None:
        """Fail when a file did not reach the model, or a delta the editor."""
        text = "".join(text for _, text in self.deltas())
        asked = len(self.log["received_at"])
        if self.log["missing"] or asked != reads + 1 or len(text) != deltas * 7:
            raise RuntimeError(
                f"incomplete: {asked - 1} of {reads} reads, {self.log['missing']} results "
                f"missing, {len(text) // 7} of {deltas} deltas"
            )

    def deltas(self) -> Iterator[tuple[float, str]]:
        """Yield the moment and the text of each delta event."""
        for at, body in self.heard:
            if b'"item.delta"' in body:
                payload = json.loads(body)["params"]["payload"]
                if payload["kind"] == "reply":
                    yield at, payload["text"]

    def own_ms(self, first: int = 0, last: int | None = None) -> list[float]:
        """Return our own time of each step."""
        ended, came = self.log["answered_at"], self.log["received_at"]
        return [(came[n + 1] - ended[n]) * 1000 for n in range(len(came) - 1)][first:last]

    def latencies_ms(self) -> list[float]:
        """Return the way of each delta, from the model's send to the editor's read."""
        found: list[float] = []
        for at, text in self.deltas():
            for _ in range(len(text) // 7):
                found.append((at - self.log["sent_at"][len(found)]) * 1000)
        return found


def start(bench: Bench) -> None:
    """Relay start to `initialize` answered, warm and cold."""
    keeper = bench.editor()
    settle()
    for _ in range(bench.rounds * 4):
        editor = Editor(bench.env, bench.workspace)
        bench.note("start warm ms", editor.initialize())
        editor.close()
    for _ in range(bench.rounds):
        keeper.stop_engine()
        keeper.close()
        keeper = Editor(bench.env, bench.workspace)
        bench.note("start cold ms", keeper.initialize())
        bench.note("cold CPU s", cpu_s(keeper.engine_pid()))
    keeper.close()


def steps(bench: Bench) -> None:
    """Own time and CPU of a step, over 50 reads."""
    editor = bench.editor()
    editor.stop_engine()
    editor.close()
    editor = bench.editor()
    session = bench.session(editor)
    settle()
    at = time.monotonic()
    first = bench.turn(editor, session, reads=3)
    bench.note("first prompt to request ms", (first.log["received_at"][0] - at) * 1000)
    for _ in range(bench.rounds):
        turn = bench.turn(editor, bench.session(editor), reads=50)
        bench.note("own ms per step", statistics.median(turn.own_ms()))
        bench.note("own ms per step, p95", percentile(turn.own_ms(), 95))
        bench.note("CPU ms per step", turn.cpu_s * 1000 / 51)
        bench.note("wire KB per step", turn.wire_bytes / 51_000)
        bench.note("first request KB", turn.log["request_bytes"][0] / 1000)
    editor.close()


def growth(bench: Bench) -> None:
    """A turn of 1,000 reads: does a step stay cheap; then memory and resume."""
    editor = bench.editor()
    session = bench.session(editor)
    turn = bench.turn(editor, session, reads=1000)
    for first, last in ((0, 50), (450, 500), (950, 1000)):
        bench.note(f"own ms, steps {first + 1}-{last}", statistics.median(turn.own_ms(first, last)))
    bench.note("CPU s for 1,000 steps", turn.cpu_s)
    bench.note("last request KB", turn.log["request_bytes"][-1] / 1000)
    bench.note("engine MiB after 1,000", pss_mib(editor.engine_pid()))
    for _ in range(bench.rounds * 2):
        bench.note("resume warm ms", resume_ms(bench, session))
    for _ in range(bench.rounds):
        editor.stop_engine()
        editor.close()
        bench.note("resume cold ms", resume_ms(bench, session))
        editor = bench.editor()
    editor.close()


def resume_ms(bench: Bench, session: str) -> float:
    """Return the time from a relay's start to the first page of a session."""
    editor = Editor(bench.env, bench.workspace)
    editor.initialize()
    editor.request("kova/session/attach", {"sessionId": session})
    took_ms = (time.monotonic() - editor.started_at) * 1000
    editor.close()
    return took_ms


def stream(bench: Bench) -> None:
    """5,000 deltas at once, and 200 at a pace of 5 ms."""
    editor = bench.editor()
    session = bench.session(editor)
    bench.turn(editor, session)
    for _ in range(bench.rounds):
        base = bench.turn(editor, session, deltas=1).cpu_s
        flood = bench.turn(editor, session, deltas=5000)
        bench.note("CPU us per delta", (flood.cpu_s - base) * 1e6 / 5000)
        first, last = flood.log["sent_at"][0], list(flood.deltas())[-1][0]
        bench.note("flood wall s", last - first)
        bench.note("flood wire MB", flood.wire_bytes / 1e6)
        paced = bench.turn(editor, session, deltas=200, pace_ms=5)
        bench.note("paced latency ms", statistics.median(paced.latencies_ms()))
        bench.note("paced latency ms, p95", percentile(paced.latencies_ms(), 95))
        bench.note("paced CPU ms per delta", (paced.cpu_s - base) * 1000 / 200)
    editor.close()


def memory(bench: Bench) -> None:
    """Of the idle engine, of each relay, of each further editor."""
    editor = bench.editor()
    editor.stop_engine()
    editor.close()
    editor = bench.editor()
    bench.session(editor)
    settle()
    pid = editor.engine_pid()
    bench.note("engine MiB idle", pss_mib(pid))
    bench.note("relay MiB", pss_mib(editor.process.pid))
    before = pss_mib(pid)
    others = [bench.editor() for _ in range(5)]
    for other in others:
        bench.session(other)
    settle()
    bench.note("MiB per further editor", (pss_mib(pid) - before) / len(others))
    for one in (*others, editor):
        one.close()


def settle() -> None:
    """Let background work of the engine end."""
    select.select([], [], [], 2)


def percentile(values: list[float], percent: int) -> float:
    """Return a percentile."""
    return statistics.quantiles(values, n=100)[percent - 1]


TARGETS = {
    "start warm ms": 20,
    "start cold ms": 450,
    "first prompt to request ms": 15,
    "own ms per step": 1.5,
    "CPU ms per step": 2.5,
    "own ms, steps 951-1000": 3,
    "CPU s for 1,000 steps": 3,
    "CPU us per delta": 25,
    "flood wall s": 0.12,
    "flood wire MB": 0.6,
    "paced latency ms": 0.30,
    "paced latency ms, p95": 0.7,
    "paced CPU ms per delta": 0.25,
    "engine MiB idle": 60,
    "MiB per further editor": 3,
    "relay MiB": 5.5,
    "engine MiB after 1,000": 90,
    "resume warm ms": 50,
    "resume cold ms": 200,
    "first request KB": 12,
}


def table(figures: dict[str, list[float]]) -> str:
    """Return the figures beside their targets."""
    lines = [f"{'figure':<26} {'median':>10} {'best':>10} {'target':>8}  n"]
    for name, values in figures.items():
        target = TARGETS.get(name)
        middle = statistics.median(values)
        sign = "" if target is None else ("  reached" if middle <= target else "  missed")
        wanted = "" if target is None else f"{target:g}"
        lines.append(
            f"{name:<26} {middle:>10,.2f} {min(values):>10,.2f} {wanted:>8} {len(values):>2}{sign}"
        )
    return "\n".join(lines)


@contextmanager
def prepared(rounds: int) -> Iterator[Bench]:
    """Set up model, home and workspace; take all of it away afterwards."""
    scratch = Path(os.path.realpath(tempfile.mkdtemp(prefix="kova-bench-")))
    workspace = scratch / "workspace"
    workspace.mkdir()
    for number in range(1000):
        (workspace / file_name(number)).write_text(file_text(number))
    for name in ("home", "data", "run"):
        (scratch / name).mkdir(mode=0o700)
    model = ModelServer()
    (scratch / "home" / "config.toml").write_text(
        'max_steps = 2000\n[models.bench]\napi = "openai-chat"\nmodel = "bench"\n'
        f'base_url = "http://127.0.0.1:{model.port}/v1"\ncontext_window = 1000000\n'
    )
    env = {
        "HOME": str(scratch),
        "PATH": os.environ.get("PATH", ""),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "KOVA_HOME": str(scratch / "home"),
        "KOVA_DATA_DIR": str(scratch / "data"),
        "KOVA_RUNTIME_DIR": str(scratch / "run"),
    }
    bench = Bench(model, env, workspace, rounds)
    try:
        yield bench
    finally:
        last = bench.editor()
        last.stop_engine()
        last.close()
        model.close()
        shutil.rmtree(scratch, ignore_errors=True)


def run_peers() -> None:
    """Run the floor of the peers' harness beside, where it is there."""
    if not (PEERS / "bench.py").exists():
        sys.stderr.write("The peers' harness is not beside this repository; left out.\n")
        return
    scratch = tempfile.mkdtemp(prefix="kova-peers-")
    env = {**os.environ, "BENCH_WORK": scratch}
    for phase in ("start", "turn", "grow"):
        subprocess.run(
            [sys.executable, "bench.py", phase, "ref", "-n1"], cwd=PEERS, env=env, check=False
        )
    subprocess.run([sys.executable, "report.py"], cwd=PEERS, env=env, check=False)


def main() -> int:
    """Run the phases and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("phases", nargs="*", metavar="PHASE", help=", ".join(PHASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", action="store_true", help="run the peers' floor beside")
    options = parser.parse_args()
    if unknown := set(options.phases) - set(PHASES):
        parser.error(f"no such phase: {', '.join(sorted(unknown))}")
    phases: dict[str, Callable[[Bench], Any]] = {
        "start": start,
        "steps": steps,
        "growth": growth,
        "stream": stream,
        "memory": memory,
    }
    with prepared(options.rounds) as bench:
        for name in options.phases or PHASES:
            sys.stderr.write(f"{name}\n")
            phases[name](bench)
        print(table(bench.figures))
    if options.peers:
        run_peers()
    return 0


if __name__ == "__main__":
    sys.exit(main())
