/** Containers that are built byte by byte, because no tool writes what is wrong with them. */

const PACKET_BYTES = 188;
const PACKET_SYNC = 0x47;
const FIRST_PART = 0x40;
const PAYLOAD_ONLY = 0x10;
const H264 = 0x1b;

/** MPEG-TS that announces this many programs of this many videos each, and has a packet of none. ISO/IEC 13818-1. */
export function makeProgramTables(programs: number, videos: number): Buffer {
  const tablePid = (program: number): number => 0x1000 + program;
  const numbers = Array.from({ length: programs }, (_, i) => i + 1);
  const association = numbers.map((program) => [...word(program), ...word(0xe000 | tablePid(program))]);
  const tables = numbers.map((program) => {
    const streams = Array.from({ length: videos }, (_, i) => 0x20 + ((program * videos + i) % 0xf00));
    const map = streams.flatMap((pid) => [H264, ...word(0xe000 | pid), ...word(0xf000)]);
    return packets(tablePid(program), section(2, program, [...word(0xffff), ...word(0xf000), ...map]));
  });
  return Buffer.concat([packets(0, section(0, 1, association.flat())), ...tables]);
}

/** A table of MPEG-TS with its checksum. */
function section(table: number, number: number, content: readonly number[]): Buffer {
  const head = [table, ...word(0xb000 | (content.length + 9)), ...word(number), 0xc1, 0, 0];
  const bytes = Buffer.from([...head, ...content, 0, 0, 0, 0]);
  bytes.writeUInt32BE(checksum(bytes.subarray(0, -4)), bytes.length - 4);
  return bytes;
}

/** The CRC of 32 bits that MPEG-TS uses. */
function checksum(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? 0x04c1_1db7 : 0);
  }
  return crc >>> 0;
}

/** Cuts a table into packets. */
function packets(pid: number, table: Buffer): Buffer {
  const payload = Buffer.concat([Buffer.of(0), table]);
  const room = PACKET_BYTES - 4;
  const count = Math.ceil(payload.length / room);
  return Buffer.concat(
    Array.from({ length: count }, (_, i) => {
      const first = i === 0 ? FIRST_PART : 0;
      const head = Buffer.of(PACKET_SYNC, first | (pid >> 8), pid & 0xff, PAYLOAD_ONLY | (i % 16));
      const part = payload.subarray(i * room, (i + 1) * room);
      return Buffer.concat([head, part, Buffer.alloc(room - part.length, 0xff)]);
    }),
  );
}

function word(value: number): [number, number] {
  return [value >> 8, value & 0xff];
}

/** A GUID and a length. */
const OBJECT_HEADER_BYTES = 24;
/** The header object of ASF also counts the objects in it. */
const ASF_HEADER_BYTES = 30;
const STREAM_PROPERTIES = Buffer.from('9107dcb7b7a9cf118ee600c00c205365', 'hex');

/** Puts this many more descriptions of its stream into the header of a WMA. ASF specification, 3.3. */
export function withManyStreams(wma: Buffer, count: number): Buffer {
  const at = wma.indexOf(STREAM_PROPERTIES);
  const stream = wma.subarray(at, at + Number(wma.readBigUInt64LE(at + 16)));
  const numberAt = OBJECT_HEADER_BYTES + 48;
  const more = Array.from({ length: count }, (_, i) => {
    const copy = Buffer.from(stream);
    copy.writeUInt8(1 + (i % 127), numberAt);
    return copy;
  });
  const head = Buffer.from(wma.subarray(0, ASF_HEADER_BYTES));
  head.writeBigUInt64LE(head.readBigUInt64LE(16) + BigInt(stream.length * count), 16);
  head.writeUInt32LE(head.readUInt32LE(OBJECT_HEADER_BYTES) + count, OBJECT_HEADER_BYTES);
  return Buffer.concat([head, ...more, wma.subarray(ASF_HEADER_BYTES)]);
}

/** Overwrites how many samples an AIFF says that it has. */
export function withSampleCount(aiff: Buffer, samples: number): Buffer {
  const copy = Buffer.from(aiff);
  copy.writeUInt32BE(samples, copy.indexOf('COMM') + 10);
  return copy;
}
