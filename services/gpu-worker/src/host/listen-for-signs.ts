/** Pings within the time that a child may be silent. */
const PINGS = 8;

/**
 * Pings a child regularly. Calls `onSilence` once if no message of any kind arrives within about `withinMs`. The limit
 * counts unanswered pings, not time: if this process is paused, messages that arrived meanwhile are read only afterwards,
 * and the pause must count as a single ping.
 */
export function listenForSigns(options: { withinMs: number; ask: () => void; onSilence: () => void }): {
  heard: () => void;
  stop: () => void;
} {
  const { withinMs, ask, onSilence } = options;
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered === PINGS) {
      clearInterval(timer);
      onSilence();
      return;
    }
    unanswered += 1;
    ask();
  }, withinMs / PINGS);
  return {
    heard: () => {
      unanswered = 0;
    },
    stop: () => clearInterval(timer),
  };
}
