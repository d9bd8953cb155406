/** As many as it takes to fill the slots of a dispatcher, of which 8 go to one origin. */
export const RECEIVER_HOSTS: readonly string[] = Array.from(
  { length: 32 },
  (_, index) => `hooks-${index}.example.test`,
);
