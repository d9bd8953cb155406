/** A button on every block of code, and one for the whole page, as Markdown. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    copies(button, async () => block.querySelector('code')?.textContent ?? '');
    block.append(button);
  }
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    button.hidden = false;
    copies(button, async () => (await fetch(button.dataset['copy'] ?? '')).text());
  }
}

/** The button says for two seconds whether it has worked. Browsers let pages copy only where there is TLS. */
function copies(button: HTMLButtonElement, text: () => Promise<string>): void {
  const name = button.textContent;
  const say = (outcome: string): void => {
    button.textContent = outcome;
    setTimeout(() => {
      button.textContent = name;
    }, 2000);
  };
  button.addEventListener('click', () => {
    text()
      .then((text) => navigator.clipboard.writeText(text))
      .then(
        () => say('Copied'),
        () => say('Not copied'),
      );
  });
}
