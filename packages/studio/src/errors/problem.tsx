import { type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../shared/icons';

/** What is wrong with a field, beside it. It is scrolled to when it appears, and read aloud. */
export function Problem({
  id,
  text,
}: {
  readonly id: string;
  readonly text: string | null;
}): JSX.Element | null {
  const line = useRef<HTMLParagraphElement>(null);
  useEffect(() => line.current?.scrollIntoView({ block: 'nearest' }), [text]);
  if (text === null) return null;
  return (
    <p ref={line} id={id} class="problem" role="alert">
      <Icon name="warning" size={16} />
      {text}
    </p>
  );
}
