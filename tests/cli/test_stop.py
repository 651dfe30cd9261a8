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


def play(made, seen, *argv, others=()):
    return stop.main(
        argv,
        seen.console,
        lambda _env: made and made.far,
        lambda _env: iter([other.far for other in others]),
    )


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


def test_engines_of_other_versions_are_named_and_left_alone(engine, screen):
    other, seen = engine(), screen()
    assert play(None, seen, others=[other]) == 0
    assert forces(other) == []
    assert seen.out == "No engine is running.\n"
    assert "0, pid 4194305" in seen.err
    assert "kova-ls stop --all" in seen.err


def test_all_ends_engines_of_other_versions_too(engine, fake_engine, screen):
    made, other, broken, seen = engine(), engine(), fake_engine(), screen()
    assert play(made, seen, "--all", others=[broken, other]) == 1
    assert (forces(made), forces(other)) == ([False], [False])
    assert seen.out == "The engine has ended.\n" * 2
    assert "cannot be ended" in seen.err


def test_all_interrupts_no_turn_unasked(engine, screen):
    other, seen = engine(running=["Fix it"]), screen()
    assert play(None, seen, "--all", others=[other]) == 1
    assert forces(other) == [False]
    assert play(None, seen, "--all", "--force", others=[engine(running=["Fix it"])]) == 0


def test_end_engine_waits_for_the_end(engine):
    from kova_ls.cli.client import Client

    made = engine(running=["Fix it"])
    stop.end_engine(Client(made.far))
    assert forces(made) == [True]
