/* global expect */
// Jest compares the elements of two pictures one by one, which takes seconds. Their bytes decide, except that numbers
// with a fraction may be NaN in more than one way.
expect.addEqualityTesters([
  (a, b) => {
    if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b) || tagOf(a) !== tagOf(b)) return undefined;
    return bytesOf(a).equals(bytesOf(b)) || (tagOf(a).includes('Float') ? undefined : false);
  },
]);

const tagOf = (value) => Object.prototype.toString.call(value);
const bytesOf = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength);
