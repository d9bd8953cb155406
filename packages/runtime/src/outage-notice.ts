/** Reports an outage at its first failure and at the first success after it, and nothing in between. */
export function createOutageNotice(tell: { begins: (error: unknown) => void; ends: () => void }): {
  failed: (error: unknown) => void;
  worked: () => void;
} {
  let isOut = false;
  return {
    failed: (error) => {
      if (!isOut) tell.begins(error);
      isOut = true;
    },
    worked: () => {
      if (isOut) tell.ends();
      isOut = false;
    },
  };
}
