/** A field of a protocol-buffer message. `bytes` is a view: of the contents of a length-delimited field, else empty. */
interface WireField {
  readonly field: number;
  /** The value of a varint, at most 2^53; 0 for other fields. */
  readonly value: number;
  readonly bytes: Uint8Array;
}

/**
 * The fields of a message in protocol-buffer wire format, in their order. Nothing is copied. Throws RangeError if the
 * bytes are no such message.
 */
function* wireFields(message: Uint8Array): Generator<WireField> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++];
      if (byte === undefined || scale > 2 ** 63) throw new RangeError('no protocol-buffer message');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  const skip = (length: number): Uint8Array => {
    if (length > message.length - at) throw new RangeError('a protocol-buffer message that ends early');
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (wireType === 0) yield { field, value: varint(), bytes: skip(0) };
    else if (wireType === 1) yield { field, value: 0, bytes: skip(8).subarray(8) };
    else if (wireType === 2) yield { field, value: 0, bytes: skip(varint()) };
    else if (wireType === 5) yield { field, value: 0, bytes: skip(4).subarray(4) };
    else throw new RangeError('no protocol-buffer message');
  }
}

/** The fields of a message by number. */
export function fieldsByNumber(message: Uint8Array): ReadonlyMap<number, readonly WireField[]> {
  const fields = new Map<number, WireField[]>();
  for (const each of wireFields(message)) {
    const before = fields.get(each.field);
    if (before === undefined) fields.set(each.field, [each]);
    else before.push(each);
  }
  return fields;
}

/** A text of which a message has one; empty if it has none. */
export const textOf = (fields: readonly WireField[] | undefined): string =>
  new TextDecoder().decode(fields?.[0]?.bytes);
