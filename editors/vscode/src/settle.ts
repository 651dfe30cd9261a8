/** Wait until something that keeps changing has settled. */

export interface Settling {
  /** Call the listener at every change; the answer ends that. */
  readonly onChange: (listener: () => void) => () => void;
  readonly setTimer: (callback: () => void, ms: number) => () => void;
}

/** Quiet periods that are waited for at most. */
const MOST_PERIODS = 5;

/**
 * True once nothing changed for `quietMs`; false when changes went on for five times as long.
 */
export function settled(quietMs: number, by: Settling): Promise<boolean> {
  return new Promise((resolve) => {
    let cancelQuiet = () => {};
    const stopListening = by.onChange(() => {
      cancelQuiet();
      cancelQuiet = by.setTimer(() => end(true), quietMs);
    });
    const cancelLimit = by.setTimer(() => end(false), quietMs * MOST_PERIODS + 1);
    cancelQuiet = by.setTimer(() => end(true), quietMs);

    function end(isSettled: boolean): void {
      stopListening();
      cancelQuiet();
      cancelLimit();
      resolve(isSettled);
    }
  });
}
