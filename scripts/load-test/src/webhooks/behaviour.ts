/**
 * How a receiver treats its events.
 * - `fast`: answers at once
 * - `slow`: answers after a delay
 * - `hanging`: never answers the first attempt, and the next ones at once
 * - `failing`: answers the first attempt with 500, and the next ones correctly
 */
export const RECEIVER_BEHAVIOURS = ['fast', 'slow', 'hanging', 'failing'] as const;
export type ReceiverBehaviour = (typeof RECEIVER_BEHAVIOURS)[number];

export function isReceiverBehaviour(text: string): text is ReceiverBehaviour {
  return RECEIVER_BEHAVIOURS.some((behaviour) => behaviour === text);
}

/** Its reaction to an attempt at an event, counted from 1. */
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
