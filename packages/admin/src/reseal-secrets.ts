import { listSecrets, replaceCiphertext } from '@lipsync/db';
import { SecretBoxError } from '@lipsync/runtime';
import type { AdminContext } from './credentials';

export interface ResealReport {
  /** Now under the present key. */
  resealed: number;
  /** Were under it before. */
  current: number;
  /** Ids of secrets that neither key opens. */
  unreadable: string[];
}

const PAGE = 500;

/**
 * Encrypts every stored secret under the present master key. May be interrupted and repeated, and run while customers
 * are made and secrets rotated: what is written meanwhile is under the present key already.
 */
export async function resealSecrets({ db, secretBox }: AdminContext): Promise<ResealReport> {
  const report: ResealReport = { resealed: 0, current: 0, unreadable: [] };
  let afterId = '';
  for (;;) {
    const page = await listSecrets(db, { afterId, limit: PAGE });
    for (const secret of page) {
      afterId = secret.id;
      try {
        const replacement = secretBox.reseal(secret.ciphertext, secret.customerId);
        if (replacement === null) report.current += 1;
        else if (await replaceCiphertext(db, secret, replacement)) report.resealed += 1;
      } catch (error) {
        if (!(error instanceof SecretBoxError)) throw error;
        report.unreadable.push(secret.id);
      }
    }
    if (page.length < PAGE) return report;
  }
}
