/**
 * Protocol-buffer wire format, as far as ONNX needs it: varints, fixed 32-bit floats and length-delimited fields.
 * Chunks are collected and joined once, so that a large weight tensor is copied only once.
 */
export class WireWriter {
  private readonly chunks: Uint8Array[] = [];
  private length = 0;

  /** For int32, int64, enum and bool fields. Negative values take ten bytes, as the format requires. */
  varintField(field: number, value: number | bigint): this {
    return this.tag(field, 0).varint(BigInt.asUintN(64, BigInt(value)));
  }

  floatField(field: number, value: number): this {
    const bytes = new DataView(new ArrayBuffer(4));
    bytes.setFloat32(0, value, true);
    return this.tag(field, 5).push(new Uint8Array(bytes.buffer));
  }

  bytesField(field: number, bytes: Uint8Array): this {
    return this.tag(field, 2).varint(BigInt(bytes.length)).push(bytes);
  }

  stringField(field: number, value: string): this {
    return this.bytesField(field, new TextEncoder().encode(value));
  }

  messageField(field: number, message: WireWriter): this {
    this.tag(field, 2).varint(BigInt(message.length));
    for (const chunk of message.chunks) this.push(chunk);
    return this;
  }

  finish(): Uint8Array {
    const out = new Uint8Array(this.length);
    let offset = 0;
    for (const chunk of this.chunks) {
      out.set(chunk, offset);
      offset += chunk.length;
    }
    return out;
  }

  private tag(field: number, wireType: number): this {
    return this.varint(BigInt((field << 3) | wireType));
  }

  private varint(value: bigint): this {
    const bytes: number[] = [];
    let rest = value;
    while (rest > 127n) {
      bytes.push(Number(rest & 127n) | 128);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    return this.push(Uint8Array.from(bytes));
  }

  private push(bytes: Uint8Array): this {
    this.chunks.push(bytes);
    this.length += bytes.length;
    return this;
  }
}
