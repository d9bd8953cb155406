export { CredentialsError } from './signing-identity';
export { type Provenance } from './manifest';
export { markOutput } from './mark-output';
export { type ContentSigner, openSigner } from './signer';
