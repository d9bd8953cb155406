import { WORKING_FPS } from '@lipsync/domain/timeline';

/** “0:03.48”: minutes, seconds, hundredths. A frame lasts four of them, so each has a text of its own. */
export function timeText(frame: number): string {
  const hundredths = Math.round((frame * 100) / WORKING_FPS);
  const seconds = Math.floor(hundredths / 100);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}.${two(hundredths % 100)}`;
}
