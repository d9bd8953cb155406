import { ENGINES } from '@lipsync/contract';
import { z } from 'zod';

/** What a minute of output costs. */
export interface PriceList {
  /** ISO 4217, such as `USD`. */
  readonly currency: string;
  /** By engine; one that is missing has no price. */
  readonly perMinute: Readonly<Record<string, number>>;
}

const schema = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must have a currency of three capital letters, such as USD'),
  per_minute: z.partialRecord(z.enum(ENGINES), z.number().nonnegative()),
});

/** A price list as a setting: `{"currency":"USD","per_minute":{"musetalk":0.12}}`. */
export const priceList = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'must be JSON' });
      return z.NEVER;
    }
  })
  .pipe(schema)
  .transform((list): PriceList => ({ currency: list.currency, perMinute: list.per_minute }));

/** What the list asks for this much output; null if the engine has no price. Unrounded. */
export function priceOf(list: PriceList, engine: string, outputSeconds: number): number | null {
  const price = list.perMinute[engine];
  return price === undefined ? null : (outputSeconds / 60) * price;
}
