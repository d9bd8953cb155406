/** The name that both of HighSync's networks use for the bank of the `index`-th transformer. */
export function bankName(index: number): string {
  return `bank_${index}`;
}
