const HEADER_BYTES = 44;

/** A mono 16-bit PCM file; samples in −1..1 are clipped to that range. */
export function encodeWav(samples: Float32Array, sampleRate: number): Buffer {
  const file = Buffer.alloc(HEADER_BYTES + samples.length * 2);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20); // PCM
  file.writeUInt16LE(1, 22); // channels
  file.writeUInt32LE(sampleRate, 24);
  file.writeUInt32LE(sampleRate * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(samples.length * 2, 40);
  samples.forEach((sample, i) => {
    file.writeInt16LE(Math.round(Math.min(1, Math.max(-1, sample)) * 32767), HEADER_BYTES + i * 2);
  });
  return file;
}
