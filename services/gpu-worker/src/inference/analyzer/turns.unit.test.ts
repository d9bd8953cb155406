import { type HeardSteps, STEPS_PER_SECOND } from './lip-evidence';
import { decideTurns, type FaceCourse, TURN_REACH } from './turns';

const SECONDS = 24;
const STEPS = SECONDS * STEPS_PER_SECOND;
const steps = (of: (seconds: number) => number): Float32Array =>
  Float32Array.from({ length: STEPS }, (_, step) => of(step / STEPS_PER_SECOND));

/** Syllables of changing length and weight, in [0, 1]; another voice says something else. */
const syllables =
  (voice: number) =>
  (seconds: number): number => {
    const at = seconds * 3.7 + Math.sin(seconds * 1.3 + voice) + voice * 0.37;
    const weight = 0.6 + 0.4 * Math.sin(Math.floor(at) * (2.3 + voice));
    return weight * Math.sin(Math.PI * (at - Math.floor(at))) ** 2;
  };

const WORDS = syllables(0);
/** A pause of half a second every four seconds, where the turn may change. */
const isPause = (seconds: number): boolean => seconds % 4 < 0.5;
const spokenAt = (seconds: number): number => (isPause(seconds) ? 0 : WORDS(seconds));

const SOUND: HeardSteps = {
  opening: steps(spokenAt),
  speech: Array.from({ length: STEPS }, () => true),
  pause: steps((seconds) => (isPause(seconds) ? 1 : 0)),
};

/** Lips are ahead of their sound by two steps. */
const LEAD = 0.08;
const noise = (seconds: number): number => 0.002 * Math.sin(seconds * 91) + 0.002 * Math.sin(seconds * 53);
const speaking = (seconds: number): number => 0.12 * spokenAt(seconds + LEAD) + noise(seconds);
const still = (seconds: number): number => 0.03 + noise(seconds);
const chewing = (seconds: number): number => 0.05 + 0.05 * Math.sin(seconds * 8.2) + noise(seconds);
const talkingOfSomethingElse = (seconds: number): number => 0.12 * syllables(3)(seconds) + noise(seconds);

const face = (lips: (seconds: number) => number, size = 100): FaceCourse => {
  const opening = steps(lips);
  return { opening, present: Array.from(opening, () => true), size };
};
/** Speaks in every second stretch of four seconds, beginning with the first or the second. */
const inTurn = (turn: number, otherwise: (seconds: number) => number) => (seconds: number) =>
  Math.floor(seconds / 4) % 2 === turn ? speaking(seconds) : otherwise(seconds);

/** The share of the steps outside of pauses in which the right face has the turn. */
function rightShare(turns: readonly number[], right: (seconds: number) => number): number {
  const spoken = turns.map((turn, step) => ({ turn, seconds: step / STEPS_PER_SECOND }));
  const judged = spoken.filter(({ seconds }) => !isPause(seconds));
  return judged.filter(({ turn, seconds }) => turn === right(seconds)).length / judged.length;
}
const alternating = (seconds: number): number => Math.floor(seconds / 4) % 2;
const changes = (turns: readonly number[]): number[] =>
  [...turns.keys()].filter((step) => step > 0 && turns[step] !== turns[step - 1]);

describe('of two faces', () => {
  test.each([
    ['keeps still', still],
    ['chews', chewing],
    ['says something else without a sound', talkingOfSomethingElse],
  ])('each has the turn while it speaks, and the turn changes at pauses, if the other one %s', (_, idle) => {
    const turns = decideTurns([face(inTurn(0, idle), 60), face(inTurn(1, idle), 160)], SOUND);
    expect(rightShare(turns, alternating)).toBeGreaterThan(0.95);
    expect(changes(turns)).toHaveLength(5);
  });

  test('the one that turns away while it speaks keeps its turn', () => {
    const away = face((seconds) => (seconds > 9 && seconds < 11.5 ? NaN : speaking(seconds)));
    expect(new Set(decideTurns([face(still), away], SOUND))).toEqual(new Set([1]));
  });

  test('nobody but the one who is there has the turn', () => {
    const gone = { ...face((seconds) => (seconds < 8 ? speaking(seconds) : NaN)), present: [] as boolean[] };
    gone.present.push(...Array.from(gone.opening, (_, step) => step < 11 * STEPS_PER_SECOND));
    const turns = decideTurns([gone, face(still)], SOUND);
    expect([turns[0], turns.at(-1)]).toEqual([0, 1]);
    expect(changes(turns)).toHaveLength(1);
    expect(changes(turns)[0]).toBeLessThanOrEqual(11 * STEPS_PER_SECOND);
  });

  test('the one whose lips move has the turn without a sound', () => {
    const turns = decideTurns([face(inTurn(0, still), 60), face(inTurn(1, still), 160)], null);
    expect(rightShare(turns, alternating)).toBeGreaterThan(0.9);
  });

  test('the larger one has the turn throughout if nobody’s lips move, whoever comes first', () => {
    for (const sound of [SOUND, null]) {
      expect(new Set(decideTurns([face(still, 60), face(still, 100)], sound))).toEqual(new Set([1]));
      expect(new Set(decideTurns([face(still, 100), face(still, 60)], sound))).toEqual(new Set([0]));
    }
  });
});

test('of three faces the one that speaks has the turn', () => {
  const turns = decideTurns([face(chewing, 160), face(inTurn(0, still)), face(inTurn(1, still))], SOUND);
  expect(rightShare(turns, (seconds) => 1 + alternating(seconds))).toBeGreaterThan(0.95);
});

test('a decision is the same however the clip goes on', () => {
  const faces = [face(inTurn(0, chewing)), face(inTurn(1, still))];
  const whole = decideTurns(faces, SOUND);
  for (const end of [9.5, 12.3, 16.1]) {
    const count = Math.round(end * STEPS_PER_SECOND);
    const cut = (course: FaceCourse) => ({ ...course, opening: course.opening.slice(0, count) });
    const settled = Math.floor((end - TURN_REACH) * STEPS_PER_SECOND);
    expect(decideTurns(faces.map(cut), SOUND).slice(0, settled)).toEqual(whole.slice(0, settled));
  }
});
