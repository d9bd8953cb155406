/**
 * A sample of a voice: a pitch of about 120 Hz, and formants that glide as from syllable to syllable, two in a second.
 * Silero's detector is nearly sure of it.
 */
export function glidingVoice(seconds: number): number {
  const wave = (hertz: number): number => Math.sin(2 * Math.PI * hertz * seconds);
  const pitch = 2 * Math.PI * (120 * seconds + 3 * wave(1.5));
  const formants = [
    [500 + 250 * wave(2), 80, 1],
    [1500 + 500 * wave(3), 100, 0.5],
    [2500, 150, 0.2],
  ] as const;
  let value = 0;
  for (let k = 1; k < 40; k++) {
    for (const [center, width, height] of formants)
      value += (height / (1 + ((120 * k - center) / width) ** 2)) * Math.sin(k * pitch);
  }
  return 0.15 * (0.2 + wave(2) ** 2) * value;
}
