export * from './ids';
export * from './limits';
export * from './rows';
export * from './service-error';
