export { print, printableText, type Row } from './command-line';
export { type SecretContext } from './connect';
export { newCustomer } from './customers';
export { newKey } from './keys';
export { runAdmin } from './run-admin';
