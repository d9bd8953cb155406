/** Why an output cannot be signed, in words for an operator. Never contains a key. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
}
