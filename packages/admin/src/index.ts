export { type AdminContext, newCustomer, newKey } from './credentials';
export { print, type Row } from './print';
export { runAdmin } from './run-admin';
