/** How often a child is asked within the time that it may be silent. */
const ASKED = 8;

/**
 * Asks a child again and again for a sign that its event loop turns. `onSilence` is called, once, when it gave none within
 * about `withinMs`, whatever the sign was for. Counted in questions, not in time: a pause of this process, which finds what
 * it was told meanwhile only afterwards, is one question and not the child's silence.
 */
export function listenForSigns(options: { withinMs: number; ask: () => void; onSilence: () => void }): {
  heard: () => void;
  stop: () => void;
} {
  const { withinMs, ask, onSilence } = options;
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered === ASKED) {
      clearInterval(timer);
      onSilence();
      return;
    }
    unanswered += 1;
    ask();
  }, withinMs / ASKED);
  return {
    heard: () => {
      unanswered = 0;
    },
    stop: () => clearInterval(timer),
  };
}
