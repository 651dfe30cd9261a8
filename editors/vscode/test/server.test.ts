import assert from "node:assert/strict";
import { test } from "node:test";
import { findInstallers, findServer } from "../src/server";
import type { Surroundings } from "../src/server";

function at(programs: readonly string[], more: Partial<Surroundings> = {}): Surroundings {
  return {
    configured: "",
    env: { PATH: "/usr/bin:/opt/bin" },
    home: "/home/me",
    platform: "linux",
    carried: "/ext/dist/server",
    isProgram: (file) => programs.includes(file),
    ...more,
  };
}

test("the setting wins, then the PATH, then ~/.local/bin", () => {
  const everywhere = ["/own/kova-ls", "/opt/bin/kova-ls", "/home/me/.local/bin/kova-ls"];
  assert.deepEqual(findServer(at(everywhere, { configured: "/own/kova-ls" })), { command: "/own/kova-ls", source: "setting" });
  assert.deepEqual(findServer(at(everywhere)), { command: "/opt/bin/kova-ls", source: "path" });
  assert.deepEqual(findServer(at(everywhere.slice(2))), { command: "/home/me/.local/bin/kova-ls", source: "home" });
  assert.equal(findServer(at([])), undefined);
});

test("a setting that names nothing is not silently replaced", () => {
  assert.equal(findServer(at(["/opt/bin/kova-ls"], { configured: "/wrong" })), undefined);
});

test("the home folder may be written as ~", () => {
  const found = findServer(at(["/home/me/bin/kova-ls"], { configured: "~/bin/kova-ls" }));
  assert.equal(found?.command, "/home/me/bin/kova-ls");
});

test("relative and empty entries of the PATH are not searched", () => {
  const programs = ["kova-ls", "./kova-ls", "bin/kova-ls"];
  assert.equal(findServer(at(programs, { env: { PATH: ":.:bin" } })), undefined);
});

test("Windows has its own separator and suffix", () => {
  const windows = at(["C:\\tools\\kova-ls.exe"], { env: { Path: "C:\\a;C:\\tools" }, platform: "win32", home: "C:\\me" });
  assert.equal(findServer(windows)?.command, "C:\\tools\\kova-ls.exe");
});

test("uv is offered before pipx and python3, and only what is there", () => {
  const all = ["/usr/bin/python3", "/usr/bin/pipx", "/opt/bin/uv"];
  assert.deepEqual(findInstallers(at(all)).map((one) => one.program), ["uv", "pipx", "python3"]);
  assert.deepEqual(findInstallers(at([])), []);
});

test("what is installed is the server that came with the extension", () => {
  const commands = (more: Partial<Surroundings>) =>
    findInstallers(at(["/opt/bin/uv", "/usr/bin/python3", "C:\\a\\uv.exe"], more)).map((one) => one.command);
  assert.deepEqual(commands({ carried: "/ext/it's" }), [
    "uv tool install --force '/ext/it'\\''s'",
    "python3 -m venv ~/.local/lib/kova-ls && ~/.local/lib/kova-ls/bin/pip install '/ext/it'\\''s'" +
      " && mkdir -p ~/.local/bin && ln -sf ~/.local/lib/kova-ls/bin/kova-ls ~/.local/bin/",
  ]);
  const windows = { env: { Path: "C:\\a" }, platform: "win32", home: "C:\\me", carried: "C:\\my ext\\server" } as const;
  assert.deepEqual(commands(windows), ['uv tool install --force "C:\\my ext\\server"']);
});
