/** “0:03.48”: minutes, seconds, hundredths. A frame lasts longer than one, so each has a text of its own. */
export function timeText(time: number): string {
  const hundredths = Math.round(time * 100);
  const seconds = Math.floor(hundredths / 100);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}.${two(hundredths % 100)}`;
}
