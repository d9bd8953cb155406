/** What both of HighSync's networks call what the `index`-th transformer looks at. */
export function bankName(index: number): string {
  return `bank_${index}`;
}
