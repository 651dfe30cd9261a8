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

test("uv is offered before pipx, and only what is there", () => {
  assert.deepEqual(findInstallers(at(["/usr/bin/pipx", "/opt/bin/uv"])).map((one) => one.program), ["uv", "pipx"]);
  assert.deepEqual(findInstallers(at([])), []);
});
