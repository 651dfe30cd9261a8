import pytest

from kova_ls.cli import stop


@pytest.fixture
def engine(fake_engine):
    def make(*, running=()):
        def end(params):
            stopping = params["force"] or not running
            result = {"stopping": stopping, "running": list(running)}
            return (result, made.end) if stopping else result

        status = {"pid": 2**22 + 1, "version": "0", "startedAt": 0.0, "uptimeS": 0.0}
        made = fake_engine(engine_stop=end, engine_status=lambda _: status)
        return made

    return make


def play(made, seen, *argv):
    return stop.main(argv, seen.console, lambda _env: made and made.far)


def forces(made):
    return [params["force"] for method, params in made.heard if method == "kova/engine/stop"]


def test_an_idle_engine_ends(engine, screen):
    made, seen = engine(), screen()
    assert play(made, seen) == 0
    assert (forces(made), seen.out) == ([False], "The engine has ended.\n")


def test_without_an_engine_there_is_nothing_to_do(screen):
    seen = screen()
    assert play(None, seen) == 0
    assert seen.out == "No engine is running.\n"


def test_running_turns_are_not_stopped_unasked(engine, screen):
    made, seen = engine(running=["Fix it\x07"]), screen()
    assert play(made, seen) == 1
    assert forces(made) == [False]
    assert seen.err == (
        "Turns are running: Fix it<U+0007>.\n"
        "Not stopped. `kova-ls stop --force` interrupts them first.\n"
    )


def test_force_interrupts_them(engine, screen):
    made = engine(running=["Fix it"])
    assert play(made, screen(), "--force") == 0
    assert forces(made) == [True]


def test_end_engine_waits_for_the_end(engine):
    from kova_ls.cli.client import Client

    made = engine(running=["Fix it"])
    stop.end_engine(Client(made.far))
    assert forces(made) == [True]
