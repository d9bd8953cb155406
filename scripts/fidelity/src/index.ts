export { shortened } from './cases';
export { faultsOf } from './faults';
export { measureCase } from './measure-case';
