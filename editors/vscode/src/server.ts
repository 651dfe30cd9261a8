/**
 * Where the server program is, and how to install it.
 *
 * Invariant: pure; the caller says what exists.
 */
import * as path from "node:path";
import type { Installer } from "./messages";

export interface Surroundings {
  readonly configured: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Folder of the server's own source, which the extension brings along. */
  readonly carried: string;
  readonly isProgram: (file: string) => boolean;
}

export interface FoundServer {
  readonly command: string;
  readonly source: "setting" | "path" | "home";
}

/** The program to start, or nothing when there is none. */
export function findServer(at: Surroundings): FoundServer | undefined {
  const configured = at.configured.trim();
  if (configured !== "") {
    const command = configured.replace(/^~(?=[\\/]|$)/, at.home);
    return at.isProgram(command) ? { command, source: "setting" } : undefined;
  }
  const onPath = onThePath("kova-ls", at);
  if (onPath) {
    return { command: onPath, source: "path" };
  }
  const local = join(at, at.home, ".local", "bin", exeName("kova-ls", at));
  return at.isProgram(local) ? { command: local, source: "home" } : undefined;
}

/** What could install here the server that came with the extension, the preferred way first. */
export function findInstallers(at: Surroundings): Installer[] {
  const source = quoted(at.carried, at.platform);
  const byHand =
    `python3 -m venv ~/.local/lib/kova-ls && ~/.local/lib/kova-ls/bin/pip install ${source}` +
    " && mkdir -p ~/.local/bin && ln -sf ~/.local/lib/kova-ls/bin/kova-ls ~/.local/bin/";
  const all: Installer[] = [
    { program: "uv", command: `uv tool install --force ${source}` },
    { program: "pipx", command: `pipx install --force ${source}` },
    ...(at.platform === "win32" ? [] : [{ program: "python3", command: byHand } as const]),
  ];
  return all.filter((one) => onThePath(one.program, at) !== undefined);
}

/** A path as the usual shells of the platform read it. */
export function quoted(word: string, platform: NodeJS.Platform): string {
  if (/^[\w./\\:~-]+$/.test(word)) {
    return word;
  }
  return platform === "win32" ? `"${word}"` : `'${word.replace(/'/g, `'\\''`)}'`;
}

function onThePath(name: string, at: Surroundings): string | undefined {
  const separator = at.platform === "win32" ? ";" : ":";
  const folders = (at.env["PATH"] ?? at.env["Path"] ?? "").split(separator);
  for (const folder of folders) {
    // An empty or relative entry would be looked up in whatever folder happens to be current.
    if (folder === "" || !isAbsolute(folder, at)) {
      continue;
    }
    const candidate = join(at, folder, exeName(name, at));
    if (at.isProgram(candidate)) {
      return candidate;
    }
  }
  return undefined;
}

function exeName(name: string, at: Surroundings): string {
  return at.platform === "win32" ? `${name}.exe` : name;
}

function isAbsolute(folder: string, at: Surroundings): boolean {
  return (at.platform === "win32" ? path.win32 : path.posix).isAbsolute(folder);
}

function join(at: Surroundings, ...parts: string[]): string {
  return (at.platform === "win32" ? path.win32 : path.posix).join(...parts);
}
