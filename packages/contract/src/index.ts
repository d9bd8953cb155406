export * from './description';
export * from './error-catalogue';
export { openapiDocument } from './generated/document';
export * from './operations';
export * from './resources';
export * from './validate';
