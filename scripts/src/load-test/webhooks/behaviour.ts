/**
 * How a receiver treats its events.
 * - `fast`: answers at once
 * - `slow`: takes its time, and answers
 * - `hanging`: never answers the first attempt, the next ones at once
 * - `failing`: answers the first attempt with 500, the next ones as it should
 */
export const RECEIVER_BEHAVIOURS = ['fast', 'slow', 'hanging', 'failing'] as const;
export type ReceiverBehaviour = (typeof RECEIVER_BEHAVIOURS)[number];

export function isReceiverBehaviour(text: string): text is ReceiverBehaviour {
  return RECEIVER_BEHAVIOURS.some((behaviour) => behaviour === text);
}

/** What it does with an attempt at an event, counted from 1. */
export type Reaction = 'answer' | 'answer-late' | 'refuse' | 'hang';

export function reactionTo(behaviour: ReceiverBehaviour, attempt: number): Reaction {
  switch (behaviour) {
    case 'fast':
      return 'answer';
    case 'slow':
      return 'answer-late';
    case 'hanging':
      return attempt === 1 ? 'hang' : 'answer';
    case 'failing':
      return attempt === 1 ? 'refuse' : 'answer';
  }
}
