import pytest

from kova_ls.permission.escape_words_tools import TOOL_CHECKS


@pytest.mark.parametrize(
    "command",
    [
        "make test X!=x",
        "make X:=./y",
        "go build -ldflags=-extld=./x",
        "git fetch ext::x",
        "git config a.b c",
        "yarn workspaces foreach exec x",
        "pnpm recursive exec x",
        "sbt test;eval 1",
        "sbt ~console",
        "dotnet build /p:PreBuildEvent=x",
        "dotnet build -p:A=1;CscToolPath=.",
        "cmake -DCMAKE_C_COMPILER=./x",
        "cmake --build b -- -f x",
        "mvn -Dexec.executable=x test",
        "go run /x.go",
        "go run a.go ../b.go",
        "go run -tags a ~/x",
        "swift x.swift",
        "dotnet x.dll",
        "dart --x y.dart",
    ],
)
def test_words_that_run_something_else_are_caught(command: str) -> None:
    program, *values = command.split()
    assert TOOL_CHECKS[program](values) is not None


@pytest.mark.parametrize(
    "command",
    [
        "make test V=1",
        "go build -ldflags=-s",
        "git fetch origin",
        "git config user.name",
        "yarn workspace a test",
        "sbt clean test",
        "dotnet build -p:Version=1.2 -c Release",
        "dotnet build -t:a/b",
        "cmake -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++-17",
        "cmake --build build -- -j4",
        "mvn test -Dtest=FooTest",
        "go run ./a /x",
        "go run a.go /x",
        "go run -tags /x .",
        "swift build",
        "dart run build_runner build",
    ],
)
def test_everyday_words_are_fine(command: str) -> None:
    program, *values = command.split()
    assert TOOL_CHECKS[program](values) is None


@pytest.mark.parametrize("words", ["A=b", "SHELL=x", "V=$x", "MAKEFLAGS=--eval=x", "CC=gcc"])
def test_make_variables_that_may_name_programs_are_escapes(words: str) -> None:
    assert TOOL_CHECKS["make"]([words]) is not None
