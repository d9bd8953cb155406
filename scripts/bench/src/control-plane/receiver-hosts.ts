/** Enough hosts to fill the slots of a dispatcher, which sends at most 8 deliveries to one origin. */
export const RECEIVER_HOSTS: readonly string[] = Array.from(
  { length: 32 },
  (_, index) => `hooks-${index}.example.test`,
);
