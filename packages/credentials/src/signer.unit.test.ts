import { rename, writeFile } from 'node:fs/promises';
import { createSigningCertificate, testFolder } from '@lipsync/testkit';
import { openSigner } from './signer';
import { CredentialsError } from './signing-identity';

const HOUR = 3600_000;
const TEST_USE = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  any: '2.5.29.37.0',
};

/** What openSigner says of a pair, or null if it takes it. */
const refusalOf = (certificate: string, key: string): Promise<string | null> =>
  openSigner({ certificate, key, onProblem: () => undefined }).then(
    () => null,
    (error: unknown) => {
      if (error instanceof CredentialsError) return error.message;
      throw error;
    },
  );

describe('a certificate that C2PA does not let sign is refused with the reason', () => {
  test('expired, or not valid yet', async () => {
    const expired = await createSigningCertificate({ validity: { from: -2 * HOUR, to: -HOUR } });
    expect(await refusalOf(expired.chain, expired.key)).toContain('expired at');
    const later = await createSigningCertificate({ validity: { from: HOUR, to: 2 * HOUR } });
    expect(await refusalOf(later.chain, later.key)).toContain('is valid only from');
  });

  test('without its chain, or with that of another', async () => {
    const { chain, key, authority } = await createSigningCertificate();
    const alone = chain.replace(authority, '');
    expect(await refusalOf(alone, key)).toContain('has no chain');
    const other = await createSigningCertificate();
    expect(await refusalOf(alone + other.authority, key)).toBe(
      'certificate 2 of the chain did not issue the one before it',
    );
  });

  test('with the wrong use', async () => {
    const { serverAuth, emailProtection, any } = TEST_USE;
    const server = await createSigningCertificate({ extendedKeyUsage: [serverAuth] });
    expect(await refusalOf(server.chain, server.key)).toContain(`extended key usage is ${serverAuth}`);
    const anything = await createSigningCertificate({ extendedKeyUsage: [emailProtection, any] });
    expect(await refusalOf(anything.chain, anything.key)).toContain(`contains ${any}`);
    const { authority, key } = await createSigningCertificate();
    expect(await refusalOf(authority + authority, key)).toContain('not the key of the certificate');
  });

  test('with the key of another, or with none', async () => {
    const [one, other] = [await createSigningCertificate(), await createSigningCertificate()];
    expect(await refusalOf(one.chain, other.key)).toBe('the key is not the key of the certificate');
    expect(await refusalOf(one.chain, one.chain)).toContain('the key cannot be read');
    expect(await refusalOf(one.key, one.key)).toBe('there is no PEM certificate');
    expect(await refusalOf('/nowhere/chain.pem', one.key)).toBe('/nowhere/chain.pem cannot be read');
  });
});

test('PEM may come in one line, as environment files write it', async () => {
  const { chain, key } = await createSigningCertificate();
  const inOneLine = (pem: string): string => pem.replaceAll('\n', '\\n');
  expect(await refusalOf(inOneLine(chain), inOneLine(key))).toBeNull();
});

describe('with files', () => {
  const at = testFolder({ each: true });

  /** Replaces a file at once, as a mounted secret does. */
  const replace = async (name: string, content: string): Promise<string> => {
    const [path, next] = [at(name), at(`${name}.new`)];
    await writeFile(next, content);
    await rename(next, path);
    return path;
  };

  test('a replaced pair signs from then on; a broken one does not, and is reported once', async () => {
    const [first, second] = [await createSigningCertificate(), await createSigningCertificate()];
    const certificate = await replace('chain.pem', first.chain);
    const key = await replace('key.pem', first.key);
    const problems: string[] = [];
    const signer = await openSigner({ certificate, key, onProblem: ({ message }) => problems.push(message) });
    const before = (await signer.identity()).certificate.serialNumber;

    await replace('chain.pem', second.chain);
    expect((await signer.identity()).certificate.serialNumber).toBe(before);
    expect((await signer.identity()).certificate.serialNumber).toBe(before);
    expect(problems).toEqual(['the key is not the key of the certificate']);
    await replace('key.pem', second.key);
    // A scrape of the metrics may ask while a signature begins.
    const atOnce = await Promise.all([signer.identity(), signer.identity()]);
    for (const { certificate } of atOnce) expect(certificate.serialNumber).not.toBe(before);
    expect(problems).toHaveLength(1);
  });

  test('a pair that expires while it is in use signs nothing more, until it is replaced', async () => {
    const [first, second] = [await createSigningCertificate(), await createSigningCertificate()];
    let now = new Date();
    const certificate = await replace('chain.pem', first.chain);
    const key = await replace('key.pem', first.key);
    const signer = await openSigner({ certificate, key, onProblem: () => undefined, now: () => now });
    now = new Date((await signer.identity()).expiresAt.getTime() + 1000);
    await expect(signer.identity()).rejects.toThrow('the certificate expired at');
    now = new Date();
    await replace('chain.pem', second.chain);
    await replace('key.pem', second.key);
    await expect(signer.identity()).resolves.toBeDefined();
  });
});
