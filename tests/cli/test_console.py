import os
import select
import signal

from kova_ls.cli.console import interrupts, keys_of


def test_without_a_terminal_nobody_can_be_asked(screen):
    with keys_of(screen().console) as keys:
        assert keys is None


def test_keys_come_one_by_one_and_lines_as_lines(screen):
    seen = screen(terminal=True)
    with keys_of(seen.console) as keys:
        with keys.by_key():
            seen.type("o")
            assert keys.key() == "o"
            seen.type("\x1b[A")
            assert keys.key() == "\x1b["
        seen.type("hello\n")
        assert keys.line() == "hello"


def test_a_key_typed_before_is_forgotten(screen):
    seen = screen(terminal=True)
    with keys_of(seen.console) as keys:
        seen.type("ddd\n")
        select.select([keys.fd], [], [])
        with keys.by_key():
            seen.type("o")
            assert keys.key() == "o"


def test_colours_follow_the_environment(screen):
    def has_colour(terminal, **env):
        console = screen(terminal=terminal, env=env).console
        return console.style(console.stdout).colour

    assert has_colour(True, NO_COLOR="", TERM="xterm")
    assert not has_colour(True, NO_COLOR="1", TERM="xterm")
    assert not has_colour(True, NO_COLOR="", TERM="dumb")
    assert not has_colour(False, NO_COLOR="", TERM="xterm")


def test_talk_goes_to_stderr_when_stdout_is_piped(screen):
    piped, seen = screen(), screen(terminal=True)
    piped.console.say("x")
    seen.console.say("x")
    assert (piped.out, piped.err, seen.out, seen.err) == ("", "x\n", "x\n", "")


def test_ctrl_c_is_counted_and_wakes_a_wait():
    before = signal.getsignal(signal.SIGINT)
    with interrupts() as counted:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert counted.count == 2
        assert os.read(counted.fd, 8) == b"!!"
        signal.raise_signal(signal.SIGINT)
        counted.drain()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_closed_terminal_is_the_end_of_input(screen):
    seen = screen(terminal=True)
    with keys_of(seen.console) as keys, keys.by_key():
        seen.hang_up()
        assert (keys.key(), keys.line()) == ("", None)
