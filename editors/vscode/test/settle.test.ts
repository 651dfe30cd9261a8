import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "../src/settle";

/** A clock that a test turns, and a thing that changes when it says so. */
function pretend() {
  let now = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  const listeners = new Set<() => void>();
  return {
    change: () => listeners.forEach((listener) => listener()),
    pass: (ms: number) => {
      now += ms;
      for (const timer of [...timers].filter((one) => one.at <= now)) {
        timers.delete(timer);
        timer.callback();
      }
    },
    by: {
      onChange: (listener: () => void) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      setTimer: (callback: () => void, ms: number) => {
        const timer = { at: now + ms, callback };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
    },
    isIdle: () => timers.size === 0 && listeners.size === 0,
  };
}

test("quiet means settled", async () => {
  const world = pretend();
  const result = settled(100, world.by);
  world.pass(99);
  world.change();
  world.pass(99);
  world.change();
  world.pass(100);
  assert.equal(await result, true);
  assert.ok(world.isIdle());
});

test("changes without end are not waited for", async () => {
  const world = pretend();
  const result = settled(100, world.by);
  for (let step = 0; step < 6; step += 1) {
    world.pass(90);
    world.change();
  }
  assert.equal(await result, false);
  assert.ok(world.isIdle());
});
