export { DATA_TYPES, type DataType } from './data-type';
export { float, floats, type Attribute, type Graph, type Node, type ValueInfo } from './graph';
export { GraphBuilder, type Operand, type Value } from './graph-builder';
export { encodeModel, IR_VERSION, OPSET_VERSION } from './model';
export { type ExternalData, type Tensor } from './tensor';
