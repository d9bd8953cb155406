import { createHmac } from 'node:crypto';
import { ERROR_CATALOGUE } from '@lipsync/contract';
import { signatureHeader } from '@lipsync/domain';
import { verifyWebhook } from '../../public/samples/verify-webhook';
import { renderDocsPage } from './docs';

describe('the documentation page', () => {
  const page = renderDocsPage('https://api.example.com');

  it('fills in every placeholder', () => {
    expect(page).not.toMatch(/\{\{/);
    expect(page).toContain('BASE_URL=https://api.example.com');
  });

  it('shows the tested samples as text', () => {
    expect(page).toContain('export function verifyWebhook');
    expect(page).toContain('hmac.compare_digest');
    expect(page).toContain('hmac.Equal');
    expect(page).not.toContain('import "crypto/hmac"');
  });

  it('lists every error of the catalogue with its status, its meaning and whether it is retryable', () => {
    const rows = [...page.matchAll(/<tr><td>.*<\/tr>/g)].map(([row]) => row.replaceAll(/<[^>]+>/g, '|'));
    const errors = Object.entries(ERROR_CATALOGUE);
    expect(rows).toHaveLength(errors.length);
    for (const [i, [code, { httpStatus, retryable, message }]] of errors.entries()) {
      expect(rows[i]).toContain(`|${code}|`);
      expect(rows[i]).toContain(`|${httpStatus ?? ''}||${retryable ? 'yes' : 'no'}|`);
      expect(rows[i]).toContain(`|${message}|`);
    }
  });

  it('loads nothing from other hosts and runs nothing inline', () => {
    expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=/);
  });
});

describe('the TypeScript sample', () => {
  const signingSecret = 'ab'.repeat(32);
  const rawBody = Buffer.from('{"id":"evt_1"}');
  const deliveryId = 'dlv_1';
  const signed = (t: number, body: Buffer) => signatureHeader(signingSecret, t, deliveryId, body);
  const verify = (change: Partial<Parameters<typeof verifyWebhook>[0]>) =>
    verifyWebhook({
      signature: signed(1000, rawBody),
      deliveryId,
      rawBody,
      signingSecret,
      nowSeconds: 1000,
      ...change,
    });

  it('accepts what the service signs, up to five minutes off', () => {
    expect(verify({})).toEqual({ id: 'evt_1' });
    expect(verify({ nowSeconds: 1300 })).toEqual({ id: 'evt_1' });
    expect(verify({ nowSeconds: 700 })).toEqual({ id: 'evt_1' });
  });

  it.each(['', 'ab'.repeat(31), `whsec_${'ab'.repeat(32)}`])(
    'refuses the damaged secret %j: decoding would leave a key that anybody can guess',
    (damaged) => {
      const v1 = createHmac('sha256', Buffer.from(damaged, 'hex'))
        .update(`1000.${deliveryId}.`)
        .update(rawBody);
      const forged = { signature: `t=1000,v1=${v1.digest('hex')}`, signingSecret: damaged };
      expect(() => verify(forged)).toThrow('malformed signing secret');
    },
  );

  it('refuses a different body, delivery, secret, time or format', () => {
    expect(() => verify({ rawBody: Buffer.from('{"id":"evt_2"}') })).toThrow('wrong signature');
    expect(() => verify({ deliveryId: 'dlv_2' })).toThrow('wrong signature');
    expect(() => verify({ signingSecret: 'cd'.repeat(32) })).toThrow('wrong signature');
    expect(() => verify({ nowSeconds: 1301 })).toThrow('too old');
    expect(() => verify({ nowSeconds: 699 })).toThrow('too new');
    const v1 = createHmac('sha256', 'x').digest('hex');
    expect(() => verify({ signature: `t=1000,v1=${v1},v1=${v1}` })).toThrow('malformed');
  });
});
