/**
 * What outlives the window: written at once, since VS Code's own stores wait for some seconds and
 * a reload in between would lose what was typed.
 *
 * Invariant: one write at a time, and the last value wins.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import * as path from "node:path";

export class Keep {
  private values: Record<string, unknown> = {};
  private readonly file: string | undefined;
  private writing: Promise<void> | undefined;
  private isStale = false;

  /** Without a folder everything is forgotten with the window. */
  constructor(folder: string | undefined) {
    if (folder !== undefined) {
      this.file = path.join(folder, "kept.json");
      try {
        mkdirSync(folder, { recursive: true });
        this.values = JSON.parse(readFileSync(this.file, "utf8")) as Record<string, unknown>;
      } catch {
        // The first window of this workspace, or a file that is damaged: begin anew.
        this.values = {};
      }
    }
  }

  get(key: string): unknown {
    return this.values[key];
  }

  /** Resolves when this value, or a later one, is on the disk. */
  async set(key: string, value: unknown): Promise<void> {
    this.values[key] = value;
    this.isStale = true;
    this.writing ??= this.write();
    await this.writing;
  }

  /** Resolves when everything that was set is on the disk. */
  async settled(): Promise<void> {
    await this.writing;
  }

  private async write(): Promise<void> {
    try {
      while (this.isStale && this.file) {
        this.isStale = false;
        const fresh = `${this.file}.new`;
        await writeFile(fresh, JSON.stringify(this.values), { mode: 0o600 });
        await rename(fresh, this.file);
      }
    } finally {
      // In the same breath as the last look at `isStale`: a value set later finds no writer.
      this.writing = undefined;
    }
  }
}
