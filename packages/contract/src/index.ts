export { openapiDocument } from './generated/document';
export * from './error-catalogue';
export * from './operations';
export * from './resources';
export * from './success-body';
export * from './validate';
export * from './vocabulary';
export * from './webhook-record-field';
