/** A button on every block of code, and one for the whole page, as Markdown. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    copies(button, async () => navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? ''));
    block.append(button);
  }
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    button.hidden = false;
    // Safari wants to be asked within the click, and takes a text that is still on its way.
    copies(button, async () =>
      navigator.clipboard.write([new ClipboardItem({ 'text/plain': textAt(button.dataset['copy'] ?? '') })]),
    );
  }
}

async function textAt(address: string): Promise<Blob> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return new Blob([await response.text()], { type: 'text/plain' });
}

/** The button says for two seconds whether it has worked. Browsers let pages copy only where there is TLS. */
function copies(button: HTMLButtonElement, copy: () => Promise<void>): void {
  const name = button.textContent;
  const say = (outcome: string): void => {
    button.textContent = outcome;
    setTimeout(() => {
      button.textContent = name;
    }, 2000);
  };
  button.addEventListener('click', () => {
    copy().then(
      () => say('Copied'),
      () => say('Not copied'),
    );
  });
}
