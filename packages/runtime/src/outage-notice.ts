/** What is told of an outage: its first failure, and the first success after it. What repeats between them is not news. */
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
